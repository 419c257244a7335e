// A picture of a validation: predicted against measured elapsed cycles, both axes logarithmic, as SVG.
//
// Models:  one mark per launch, a colour and shape per class of kernel, the line of equality and lines at 20% to
//          either side. Held-out launches are drawn in grey as one class and are not named.
// Ignores: launches without elapsed cycles on both sides.
// Source:  SVG 1.1 (W3C, 2011).
#pragma once

#include <string>

#include "sim/validate/validation.h"

namespace foretrace::validate {

/// The whole file, ending with a newline. Hovering over a mark shows the launch's name and numbers.
std::string to_svg(const Validation& validation);

}  // namespace foretrace::validate
