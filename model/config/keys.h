// Every key that a configuration can have: its name, unit, range, and the field that it fills.
//
// Models:  one row per field of spec::GpuSpec, and three clock rows per set (base, boost, observed).
// Ignores: the opcode tables (model/config/opcodes.h), whose intervals are keys too: opcodes.<group>.interval.
// Source:  none of its own; the bounds here only refuse what the model cannot mean (0 channels, a 2^40 latency).
#pragma once

#include <array>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/spec/gpu_spec.h"

namespace foretrace::config {

/// Where the loader puts values before the clocks are chosen.
struct Chip {
  spec::GpuSpec spec;
  std::array<spec::ClockSet, 3> clocks{};  ///< base, boost, observed: index is spec::ClockChoice
};

enum class KeyType {
  integer,
  real,
  list,  ///< of integers
};

/// When a key must be there. A key that no mechanism of the chip would read is an error, not a decoration.
enum class KeyNeed {
  always,
  pipe,        ///< pipe.<name>.interval: exactly if an opcode of the chip uses the pipe
  latency,     ///< latency.<class>: exactly if an opcode of the chip has the class
  partitions,  ///< exactly if l2.partitions is 2
  copies,      ///< exactly if the chip has a copy engine: its opcodes have UTMALDG
  warpgroups,  ///< exactly if the chip multiplies by warpgroups: its opcodes have HGMMA
};

struct Key {
  std::string_view name;
  std::string_view unit;
  KeyType type = KeyType::integer;
  double low = 0, high = 0;  ///< in `unit`; a list's elements
  KeyNeed need = KeyNeed::always;
  void (*set)(Chip&, std::span<const double>) = nullptr;
};

/// "integer", "real", "list"; of an integer that is no quantity "switch" (0 or 1) or "mask" (bits).
std::string_view form_of(const Key& key);

/// All keys, in the order of gpu_spec.h.
std::span<const Key> keys();
/// nullptr: no such key.
const Key* find_key(std::string_view name);
/// The known key closest to `name` by edit distance, for an error's "did you mean".
std::string nearest(std::string_view name, const std::vector<std::string>& known);
/// "; the nearest is KEY" for an error's end; empty where no known key is like `name`.
std::string hint(std::string_view name, const std::vector<std::string>& known);

}  // namespace foretrace::config
