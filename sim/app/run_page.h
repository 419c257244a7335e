// What is made of a program's launches when it has ended: the program runs in a process of its own.
#pragma once

#include <functional>

namespace foretrace::app {

/// Calls `program`, which starts the program and does not return, in a process of its own. Then calls `afterwards`; an InputError of it is
/// printed and does not change the exit code. Returns the program's exit code, and 128 plus the signal's number where a signal ended it, as
/// a shell does. Interrupts from a terminal reach the program; those sent to this process are passed on.
int run_then(const std::function<void()>& program, const std::function<void()>& afterwards);

}  // namespace foretrace::app
