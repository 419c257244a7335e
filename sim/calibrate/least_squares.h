// A straight line through measured points.
//
// Models:  least squares on value = start + slope * x, with the standard error of both.
// Ignores: weights: the points of one benchmark are equally good.
// Source:  textbook (two terms have a closed form, about the means).
#pragma once

#include <vector>

namespace foretrace::calibrate {

struct Point {
  double x = 0, value = 0;
};

struct Line {
  double start = 0, slope = 0;
  double start_error = 0, slope_error = 0;  ///< standard errors; 0 for two points
};

/// Needs two points with different x.
Line line_through(const std::vector<Point>& points);

/// The middle one of the sorted values; the mean of the two in the middle. Needs one.
double median(std::vector<double> values);

/// The power of two that is nearest by ratio: widths of data paths are powers of two.
double nearest_power(double value);

}  // namespace foretrace::calibrate
