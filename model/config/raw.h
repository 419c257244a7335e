// A configuration file as it is written, before inheritance, overrides and formulas.
//
// Models:  one entry per key with everything it must say about itself; opcode groups of configs/isa.
// Ignores: what the keys mean (model/config/load.cpp checks that).
// Source:  the form is ours: docs/configs.md.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace foretrace::config {

/// Where a number comes from, from best to worst.
enum class Kind {
  documented,   ///< the vendor says so
  measured,     ///< read off a device: literature, or validate/measurements
  fitted,       ///< chosen so that the model meets a microbenchmark
  derived,      ///< a formula over other keys
  transferred,  ///< documented, measured or fitted on another die (Entry::on), and taken to hold here
  assumed       ///< nobody says: a judgement, with a range
};
const char* name_of(Kind kind);

/// One key as a file has it. Numbers are in the key's own unit (KiB and the like are converted when it is read).
struct Entry {
  std::vector<double> numbers;  ///< empty: `formula` says it
  bool list = false;
  std::string formula;
  std::string unit;
  Kind kind = Kind::assumed;
  std::string source;
  std::vector<std::string> on;  ///< dies that it was documented, measured or fitted on; empty: the chip's own
  bool has_range = false;
  double low = 0, high = 0;
  bool overridable = false;  ///< `default = true`: a file that inherits this one may say otherwise
  std::string file;          ///< as printed in errors; "--set" for an override
  int line = 0;
};

/// Opcodes with the same needs: one table [opcodes.<group>] of configs/isa/sm_*.toml.
struct OpcodeGroup {
  std::string name;
  std::vector<std::string> pipes;
  std::string latency;
  std::vector<std::string> opcodes;
  std::string source;
  bool has_interval = false;  ///< then the entry "opcodes.<group>.interval" exists
  bool has_hold = false;      ///< the same of "opcodes.<group>.hold"
  std::string file;
  int line = 0;
};

struct RawFile {
  std::string inherits;  ///< empty: nothing
  std::string title;
  std::string die;                           ///< "GH100"; empty: not said here
  int sm_number = 0;                         ///< 0: not said here
  std::map<std::string, std::string> known;  ///< how a part of the chip is known: [known] of the file
  std::map<std::string, Entry> entries;
  std::vector<OpcodeGroup> groups;
};

/// Reads a file and checks its form: every entry has a value or formula, a unit, a kind and a source, fitted and assumed
/// a range, transferred the die it comes from, derived a formula, and nothing else. `printed` is the path for errors. Throws InputError naming file, line and key.
RawFile read_file(const std::filesystem::path& path, const std::string& printed);

}  // namespace foretrace::config
