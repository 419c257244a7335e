#include "sim/calibrate/least_squares.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

#include "model/units/error.h"

namespace foretrace::calibrate {

Line line_through(const std::vector<Point>& points) {
  const auto count = static_cast<Eigen::Index>(points.size());
  FORETRACE_ASSERT(count >= 2, "A line needs two points.");
  Eigen::MatrixXd terms(count, 2);
  Eigen::VectorXd values(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    terms(i, 0) = 1;
    terms(i, 1) = points[static_cast<std::size_t>(i)].x;
    values(i) = points[static_cast<std::size_t>(i)].value;
  }
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> solver(terms);
  FORETRACE_ASSERT(solver.rank() == 2, "A line needs two different x.");
  const Eigen::Vector2d fit = solver.solve(values);
  Line line{fit(0), fit(1), 0, 0};
  if (count > 2) {
    const double variance = (terms * fit - values).squaredNorm() / static_cast<double>(count - 2);
    const Eigen::Matrix2d covariance = variance * (terms.transpose() * terms).inverse();
    line.start_error = std::sqrt(covariance(0, 0));
    line.slope_error = std::sqrt(covariance(1, 1));
  }
  return line;
}

double median(std::vector<double> values) {
  FORETRACE_ASSERT(!values.empty(), "A median needs a value.");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

}  // namespace foretrace::calibrate
