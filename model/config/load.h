// Loading a chip: from a name, overrides and a choice of clocks to a checked GpuSpec that knows where each number came from.
//
// Models:  inheritance between files (what two chips share stands once), overrides with the same checks, formulas evaluated after
//          overrides, the clocks chosen last.
// Ignores: nothing in a file: an unknown, missing, duplicate, out-of-range or unneeded key is an InputError naming file, line, key and
//          the expected form.
// Source:  configs/*.toml; their form is described in docs/configs.md.
#pragma once

#include <filesystem>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/config/keys.h"
#include "model/config/raw.h"
#include "model/spec/gpu_spec.h"

namespace foretrace::config {

/// `--set key=value`; the value in the key's own unit (as `foretrace arch NAME` prints it), a list as [a,b,c].
struct Override {
  std::string key;
  std::string value;
};

/// "sm.count=108,132" is two overrides of one key, of which each gives a prediction; commas in [...] belong to a list.
/// Throws InputError when there is no key or no value.
std::vector<Override> parse_set(std::string_view text);

/// `--clock`: base, boost, observed, or custom with the given domains (0: as boost).
struct ClockRequest {
  spec::ClockChoice choice = spec::ClockChoice::boost;
  spec::ClockSet custom;  ///< Hz
};
const char* name_of(spec::ClockChoice choice);
/// "base", "boost", "observed", or "sm=MHZ[,l2=MHZ,dram=MHZ]" in any order with at least one domain.
ClockRequest parse_clock(std::string_view text);

/// What is known about one value of a loaded chip.
struct Value {
  std::string key;
  std::string text;  ///< the number(s), canonical, in `unit`
  std::vector<double> numbers;
  std::string unit;
  std::string_view form;  ///< form_of() its key
  Kind kind = Kind::assumed;
  std::string formula;  ///< empty unless derived
  std::string source;
  std::vector<std::string> on;  ///< dies that it was measured on; empty: the chip's own
  bool has_range = false;
  double low = 0, high = 0;
  std::string file;  ///< "--set" when overridden
  int line = 0;
  bool overridden = false;
};

struct Loaded {
  spec::GpuSpec spec;
  std::string title;                         ///< "NVIDIA H100 SXM5 80 GB"
  std::array<spec::ClockSet, 3> clocks{};    ///< base, boost, observed
  std::vector<Value> values;                 ///< sorted by key
  std::string die;                           ///< "GH100"; empty: not said
  std::map<std::string, std::string> known;  ///< how a part of the chip is known: "memory" -> "checked: ..."
  int assumed = 0;      ///< values that nobody documents or measured; an override counts as one
  int transferred = 0;  ///< values that were documented, measured or fitted on another die
  std::string
      final_config;    ///< every key=value, the opcode table and the chosen clocks, one per line, sorted
  std::string sha256;  ///< of final_config

  /// nullptr: the chip has no such key.
  const Value* find(std::string_view key) const;
};

/// Where the configs are: $FORETRACE_CONFIGS, else beside the binary (../../configs of a build tree,
/// ../share/foretrace/configs of an installation), else where the source was when this was built.
std::filesystem::path config_directory();

/// The chip's name for a name or an alias (a100, h100, h200, b200, gb203); throws InputError naming what there is.
std::string resolve_name(std::string_view name, const std::filesystem::path& directory = config_directory());
/// Names of all chips, sorted: one for each file of the directory.
std::vector<std::string> chip_names(const std::filesystem::path& directory = config_directory());
/// Aliases and what they stand for.
std::span<const std::pair<std::string_view, std::string_view>> aliases();

/// `name`: a chip, an alias, or the path of a file (with a slash or ending in .toml). Throws InputError.
Loaded load_gpu(std::string_view name, const std::vector<Override>& overrides = {},
                const ClockRequest& clock = {}, const std::filesystem::path& directory = config_directory());

/// The row for an opcode as printed with its modifiers ("IMAD.WIDE.U32"): the longest pattern that ends at a dot.
/// nullptr: the machine code has no such opcode, as far as configs/isa knows.
const spec::OpcodeSpec* find_opcode(const spec::GpuSpec& spec, std::string_view opcode);

}  // namespace foretrace::config
