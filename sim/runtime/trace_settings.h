// What `foretrace run` tells the library about the program's trace: a member of the same variable as Settings.
#pragma once

#include <string>

#include "sim/runtime/settings.h"

namespace foretrace::runtime {

struct TraceSettings {
  std::string perfetto;  ///< file of the program's time line for viewers, %p in it the process; empty: none
};

std::string to_json(const Settings& settings, const TraceSettings& trace);
/// Throws InputError when the text is not what to_json wrote.
TraceSettings trace_settings_from_json(const std::string& text);

}  // namespace foretrace::runtime
