// The page of a program's launches: the program runs in a process of its own, and the page is written when it has ended.
#pragma once

#include <functional>
#include <string>

namespace foretrace::app {

/// Calls `program`, which starts the program and does not return, in a process of its own. Then makes the page `html` of the result document
/// `json`, which the program's process wrote. Returns the program's exit code, and 128 plus the
/// signal's number where a signal ended it, as a shell does. Interrupts from a terminal reach the program; those sent to this process are passed on.
int run_then_write_page(const std::string& html, const std::string& json,
                        const std::function<void()>& program);

}  // namespace foretrace::app
