// From files to one set of entries: inheritance, the opcode table, overrides. Used by load.cpp alone.
//
// Models:  root first: each file adds to what it inherits and may change only what is marked `default = true`.
// Ignores: values (load.cpp evaluates them).
// Source:  ours: docs/configs.md.
#pragma once

#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "model/config/load.h"
#include "model/config/raw.h"

namespace foretrace::config {

struct Merged {
  std::string name;
  std::string title;
  std::string die;  ///< "GH100"; empty: nobody said, and nothing was measured on it
  int sm_number = 0;
  std::map<std::string, std::string> known;
  std::string file;  ///< of the chip itself, as printed
  std::map<std::string, Entry, std::less<>> entries;
  std::vector<OpcodeGroup> groups;
  std::set<std::string, std::less<>> overridden;

  /// What the opcode table uses: decides which pipe.* and latency.* keys must exist.
  bool uses_pipe(std::string_view pipe) const;
  bool uses_latency(std::string_view latency) const;
  bool has_opcode(std::string_view opcode) const;
};

/// Reads the chip's file, what it inherits, and the opcode table of its machine code. Throws InputError.
Merged merge_files(std::string_view name, const std::filesystem::path& directory);

/// Puts the overrides' numbers in place of the files'. Throws InputError naming the override.
void apply(const std::vector<Override>& overrides, Merged& merged);

/// "configs/h100-sxm.toml:12: sm.count", or the override's text.
std::string where(const Entry& entry, std::string_view key);

}  // namespace foretrace::config
