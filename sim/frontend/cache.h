// The directory where what the tools made is kept, by content: ${XDG_CACHE_HOME:-~/.cache}/foretrace.
//
// Files appear whole, by renaming, so several processes may use it at once; what was not used for longest goes when all together
// are larger than the bound. A cache that cannot be read or written is passed over.
#pragma once

#include <cstddef>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace foretrace::frontend {

/// Empty: there is no place for a cache.
std::filesystem::path cache_directory();

/// What stands there under the name; marks it as used.
std::optional<std::vector<std::byte>> cached(const std::string& name);

/// Puts it there and keeps all together within cache_bound().
void cache(const std::string& name, std::span<const std::byte> bytes);

/// Bytes: FORETRACE_CACHE_BYTES, else 4 GiB. Throws InputError where that is no number.
std::uint64_t cache_bound();

}  // namespace foretrace::frontend
