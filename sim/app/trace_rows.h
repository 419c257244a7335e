// The rows of a program's time line as a page draws them, from what `foretrace run --perfetto` wrote.
#pragma once

#include <string>

namespace foretrace::app {

/// JSON text: {"names": [NAME...], "rows": [{"group": GROUP, "name": NAME, "spans": [[BEGIN, LENGTH, NAME, LAUNCH]...]}...]}; times in ns, a
/// span's name by its place in "names", LAUNCH -1 where it is none. GROUP: "gpu" (kernels, copies and fills of a stream), "engine" (copies),
/// "calls", "ranges" (outermost, of a host thread). Rows with nothing on them are left out. Throws InputError naming `file`: not such a trace.
std::string trace_rows(const std::string& text, const std::string& file);

}  // namespace foretrace::app
