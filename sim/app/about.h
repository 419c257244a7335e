// Which foretrace this is and which tools it would call, for programs that keep predictions.
#pragma once

namespace foretrace::app {

/// Prints the document of `foretrace --version --json`. Returns the exit code.
int about();

}  // namespace foretrace::app
