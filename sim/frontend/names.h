// Kernel names: from the ELF symbol to what stands in the source, and back from what a user typed.
//
// Models:  the spellings of one kernel: mangled (_Z14transpose_tileILi33EEvPfPKf), demangled with or without its
//          parameter list, template arguments with or without casts and blanks, and the name alone where it is unique.
// Source:  the Itanium C++ ABI's names as the C++ runtime's demangler prints them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace foretrace::frontend {

/// "_Z14transpose_tileILi33EEvPfPKf" -> "transpose_tile<33>"; a name that is not mangled comes back as it is.
std::string source_name(const std::string& mangled);

/// The form in which two spellings are compared: no blanks but between words, no casts before numbers, no "u" after
/// them: "transpose_tile< (int)33 >" -> "transpose_tile<33>".
std::string normalised_name(std::string_view name);

/// The kernels (indices into `mangled`) that a user means. Exactly one when `regex` is false; all that match (search,
/// ECMAScript, against the source name) when it is true, at least one. Throws InputError listing what there is.
std::vector<std::size_t> match_kernels(const std::vector<std::string>& mangled, const std::string& wanted,
                                       bool regex, const std::string& where);

}  // namespace foretrace::frontend
