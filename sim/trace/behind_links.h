// Which file a result is written to.
#pragma once

#include <string>

namespace foretrace::trace {

/// Where the symbolic links at `path` lead, whether a file is there yet or not: results take the place of that file, and links stay, as
/// with cp or a shell's `>`. What is no link and what leads to a device or a pipe stays as it is. Throws InputError for links in a circle.
std::string behind_links(const std::string& path);

}  // namespace foretrace::trace
