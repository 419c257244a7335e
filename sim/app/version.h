// Which foretrace this is.
#pragma once

namespace foretrace::app {

extern const char* const kVersion;  ///< "0.2.0"
extern const char* const
    kCommit;  ///< 12 digits of the commit that it was built from; empty: the source is no checkout

}  // namespace foretrace::app
