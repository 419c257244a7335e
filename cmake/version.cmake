# Writes OUT, a source file with the version and the commit that results name, where they differ from what it holds.
# cmake -DSOURCE=... -DVERSION=... -DOUT=... -P version.cmake; runs at every build, so that a new commit compiles this file alone.
execute_process(COMMAND git rev-parse --short=12 HEAD WORKING_DIRECTORY ${SOURCE}
                OUTPUT_VARIABLE commit OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
set(text "#include \"sim/app/version.h\"

namespace foretrace::app {

const char* const kVersion = \"${VERSION}\";
const char* const kCommit = \"${commit}\";

}  // namespace foretrace::app
")
set(before "")
if(EXISTS ${OUT})
  file(READ ${OUT} before)
endif()
if(NOT before STREQUAL text)
  file(WRITE ${OUT} "${text}")
endif()
