// What the help of each command shows of its use.
#pragma once

#include <string_view>

namespace foretrace::app {

/// Lines of examples for a command ("predict"), each beginning with two spaces and ending with a newline; empty: no such command.
std::string_view examples_of(std::string_view command);

}  // namespace foretrace::app
