// Where Foretrace itself has to end the user's program: one line on standard error, exit code 125.
#pragma once

#include <string>

namespace foretrace::runtime {

inline constexpr int kStopCode = 125;  ///< as of `foretrace run` when it stops by itself

/// Flushes the program's output, prints "foretrace: MESSAGE", writes the reports of what ran until now, and ends the process.
[[noreturn]] void stop(const std::string& message);

/// stop() with "NAME is not provided ...".
[[noreturn]] void stop_not_provided(const char* name);

}  // namespace foretrace::runtime
