// Which file a result is written to, and where it stands until it is whole.
#pragma once

#include <string>

namespace foretrace::trace {

/// Where the symbolic links at `path` lead, whether a file is there yet or not: results take the place of that file, and links stay, as
/// with cp or a shell's `>`. What is no link and what leads to a device or a pipe stays as it is. Throws InputError for links in a circle.
std::string behind_links(const std::string& path);

/// Where this process writes the file that is to take that place.
std::string partial_of(const std::string& path);

/// Removes what processes that were killed have left of it.
void remove_left_over(const std::string& path);

}  // namespace foretrace::trace
