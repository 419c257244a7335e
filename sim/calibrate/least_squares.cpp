#include "sim/calibrate/least_squares.h"

#include <algorithm>
#include <cmath>

#include "model/units/error.h"

namespace foretrace::calibrate {

Line line_through(const std::vector<Point>& points) {
  const auto count = static_cast<double>(points.size());
  FORETRACE_ASSERT(points.size() >= 2, "A line needs two points.");
  Point mean;
  for (const Point& point : points) {
    mean.x += point.x / count;
    mean.value += point.value / count;
  }
  double squares = 0, products = 0;  // about the means, so that nothing large is taken from something large
  for (const Point& point : points) {
    squares += (point.x - mean.x) * (point.x - mean.x);
    products += (point.x - mean.x) * (point.value - mean.value);
  }
  FORETRACE_ASSERT(squares > 0, "A line needs two different x.");
  Line line;
  line.slope = products / squares;
  line.start = mean.value - line.slope * mean.x;
  if (points.size() == 2) return line;
  double residuals = 0;
  for (const Point& point : points) {
    const double residual = point.value - line.start - line.slope * point.x;
    residuals += residual * residual;
  }
  const double variance = residuals / (count - 2);
  line.start_error = std::sqrt(variance * (1 / count + mean.x * mean.x / squares));
  line.slope_error = std::sqrt(variance / squares);
  return line;
}

double median(std::vector<double> values) {
  FORETRACE_ASSERT(!values.empty(), "A median needs a value.");
  std::sort(values.begin(), values.end());
  const std::size_t middle = values.size() / 2;
  return values.size() % 2 == 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
}

double nearest_power(double value) { return std::exp2(std::round(std::log2(value))); }

}  // namespace foretrace::calibrate
