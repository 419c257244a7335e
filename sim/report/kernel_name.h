// Kernels' names in lines that somebody reads. Templates make names of thousands of characters; documents keep them whole.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace foretrace::report {

/// What a name may take in a text: two of these and their numbers still fit a wide terminal.
inline constexpr std::size_t kKernelNameWidth = 100;

/// The name in at most `width` characters: whole where it fits, else with its innermost template arguments as "...", as many levels as it
/// takes, and where even that is too long cut in its middle, for a name says most at its ends.
std::string shortened_kernel(const std::string& name, std::size_t width);

/// "BEFORE NAME: 3 of 40 blocks" in less than `columns` characters: the name gives way, and then the line's end.
std::string progress_line(const std::string& before, const std::string& name, std::uint64_t done,
                          std::uint64_t of, std::size_t columns);

/// How wide the terminal is, 80 where it does not say.
std::size_t terminal_columns(int descriptor);

}  // namespace foretrace::report
