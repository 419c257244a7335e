// What the files of hosts (configs/hosts) and links (configs/links) have in common: how one is found, and what its entries may be.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "model/config/raw.h"

namespace foretrace::host {

/// A kind of such files.
struct SpecFiles {
  const char* kind;                 ///< "host": the folder is "hosts", the option "--host"
  std::string_view without_file{};  ///< a name that has no file; empty: there is none
};

/// The file called `name`: a path, or one of the folder's. Throws InputError naming those that there are.
std::filesystem::path path_of(const SpecFiles& files, std::string_view name,
                              const std::filesystem::path& configs);

/// Throws InputError with the entry's file and line.
[[noreturn]] void refuse(const config::Entry& entry, std::string_view key, const std::string& what);

/// The entry of `key`, which `raw` then has no more. Throws InputError: there is none, or it has another unit or form.
config::Entry take_entry(const SpecFiles& files, config::RawFile& raw, const std::string& file,
                         const char* key, std::string_view unit, bool list);

/// Throws InputError: times, bytes and rates of more than 1e10 of their unit, of which thousands would not add up without loss.
void check_size(const config::Entry& entry, std::string_view key, double value);

/// Throws InputError where an entry is left: nobody asked for it. `keys`: those that are asked for.
void check_all_taken(const SpecFiles& files, const config::RawFile& raw,
                     const std::vector<std::string>& keys);

}  // namespace foretrace::host
