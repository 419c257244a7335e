// Two kinds of failure, kept apart.
//
// InputError: the user's fault (a config, a kernel, a trace, an argument). One line: what, where, and what was
// expected. The application prints it and ends with exit code 2.
// FORETRACE_ASSERT: our fault. It names the broken rule in a sentence and aborts.
#pragma once

#include <stdexcept>
#include <string>

namespace foretrace {

class InputError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// An InputError with text that follows its one line: a compiler's own output, for instance.
class ToolError : public InputError {
 public:
  ToolError(const std::string& line, std::string output) : InputError(line), output_(std::move(output)) {}
  const std::string& output() const { return output_; }

 private:
  std::string output_;
};

[[noreturn]] void assertion_failed(const char* condition, const char* sentence, const char* file, int line);

}  // namespace foretrace

#define FORETRACE_ASSERT(condition, sentence)          \
  (static_cast<bool>(condition) ? static_cast<void>(0) \
                                : ::foretrace::assertion_failed(#condition, sentence, __FILE__, __LINE__))
