// A TOML file's text, checked for what the TOML library does not stand.
//
// Models:  what toml++ 3 asserts of its input (a table's name begins as a name does) is refused instead, where the files that include
//          it do so below FORETRACE_TOML_ASSERT. TOML 1.0 has no characters beyond ASCII outside quotes and comments. toml++ 3 does not refuse all of them: its table of
//          blanks has no answer for some, which is undefined behaviour.
#pragma once

#include <filesystem>
#include <string>

/// toml++ takes this for its own assertions: #define TOML_ASSERT(condition) FORETRACE_TOML_ASSERT(condition)
#define FORETRACE_TOML_ASSERT(condition) \
  ((condition) ? static_cast<void>(0) : ::foretrace::config::toml_not_understood())

namespace foretrace::config {

/// Throws InputError.
[[noreturn]] void toml_not_understood();

/// The file's bytes. `printed` names it in errors. Throws InputError: a file that cannot be read, such a character (with its line).
std::string read_toml_text(const std::filesystem::path& path, const std::string& printed);

}  // namespace foretrace::config
