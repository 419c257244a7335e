// Which foretrace this is. Both are set where the build is configured.
#pragma once

namespace foretrace::app {

inline constexpr const char* kVersion = FORETRACE_VERSION;
inline constexpr const char* kCommit = FORETRACE_COMMIT;

}  // namespace foretrace::app
