// Which launch a result is of.
#pragma once

#include <string>

#include "model/units/launch_shape.h"

namespace foretrace::report {

struct LaunchIdentity : LaunchShape {
  std::string launch;  ///< its name in a launch file; empty: given on the command line (null in JSON)
  bool warm = false;   ///< caches started as the launch before left them

  const LaunchIdentity& identity() const { return *this; }
  LaunchIdentity& identity() { return *this; }
};

}  // namespace foretrace::report
