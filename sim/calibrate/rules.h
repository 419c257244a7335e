// From microbenchmark answers to a chip's numbers: one rule per configuration key.
//
// Models:  latencies and intervals that an answer states as they are; slopes and starts of curves by least squares;
//          capacities by the knee of a curve; bandwidths by the highest answer; and, where a number is known only as
//          part of a sum (a DRAM access is network, L2 and device together), the base chip's number moved by what
//          the two chips' answers differ.
// Ignores: what no microbenchmark answers: such keys keep the base chip's numbers, and the report names them.
// Source:  docs/calibration.md, validate/microbenchmarks/README.md.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "model/config/load.h"
#include "sim/calibrate/answers.h"

namespace foretrace::calibrate {

/// What a rule found.
struct Found {
  double value = 0;  ///< in the key's unit
  double low = 0,
         high = 0;  ///< the bounds within which the answers put it; equal: no more is known than the value
};
inline Found exactly(double value) { return {value, value, value}; }

/// What a rule may look at.
struct Evidence {
  const Answers& answers;  ///< of the chip to be configured
  const Answers*
      base_answers;  ///< of the base chip; nullptr: there are none, and rules by difference do not answer
  const config::Loaded& base;
  double base_channels = 0;  ///< DRAM channels of the measured base chip where `base` has others; 0: the same
  /// A value of the base chip by its key. Throws InputError where it has no such key.
  double base_value(const std::string& key) const;
  /// L2 cycles in an SM cycle, at the clocks that the answers were made at (the base's observed ones).
  double l2_per_sm_cycle() const;
};

struct Rule {
  std::string key;        ///< "shared.latency"
  std::string benchmark;  ///< that answers it
  std::string how;        ///< in words
  bool fitted = false;    ///< by least squares or by difference: of kind fitted, with a range
  std::function<std::optional<Found>(const Evidence&)> find;
};

/// All rules, by the order of the SM's way of an instruction: core, memory instructions, units of tensor programs, caches, network,
/// DRAM, launch.
const std::vector<Rule>& rules();

/// What several answers of a chip come to; nothing where some of them are missing.
using Reading = std::function<std::optional<double>(const Answers&)>;

/// What a reading differs from the base chip's own; nothing where one of the two has none.
std::optional<double> difference(const Evidence& evidence, const Reading& reading);
/// The base's number moved by so much, in the key's unit; nothing where that leaves none.
std::optional<Found> moved(const Evidence& evidence, const std::string& key, double by, double uncertainty);
/// SM cycles of a dependent load that L2 has.
std::optional<double> l2_hit(const Answers& answers);

std::vector<Rule> core_rules();
std::vector<Rule> memory_rules();
std::vector<Rule> tensor_rules();

/// One key of the new configuration.
struct Calibrated {
  const Rule* rule = nullptr;
  Found found;
  double base_value = 0;
  std::string unit;
  std::string document;  ///< file name of the answers that gave it; empty: not known
};

struct Calibration {
  std::vector<Calibrated> values;
  std::vector<std::string> unanswered;  ///< keys that have a rule, but whose benchmark gave no answer
};

/// Applies every rule whose key the base chip has.
Calibration calibrate(const Evidence& evidence);

/// A whole configuration file: every key of the base chip with its own source, and the calibrated ones with the
/// benchmark that gave them. `answers_name` is the document's file name, for the sources.
std::string to_toml(const Calibration& calibration, const config::Loaded& base, const std::string& title,
                    const std::string& answers_name);

/// For eyes: key, the base's number, the new one, the difference, and why. Ends with a newline.
std::string to_text(const Calibration& calibration, const std::string& base_name);

}  // namespace foretrace::calibrate
