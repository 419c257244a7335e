#include "model/config/load.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "model/config/formula.h"
#include "model/config/merge.h"
#include "model/config/sha256.h"
#include "model/spec/check.h"
#include "model/units/error.h"

namespace foretrace::config {
namespace {

/// The interval that an opcode group gives itself has no row in keys(): one unit and one range serve all.
constexpr Key kOpcodeInterval{"opcodes.*.interval", "cycle", KeyType::integer, 1, 255,
                              KeyNeed::always,      nullptr};

const Key& definition(std::string_view key) {
  const Key* found = find_key(key);
  return found != nullptr ? *found : kOpcodeInterval;
}

/// "pipe.fp64.interval" -> "fp64", "latency.xu" -> "xu".
std::string_view middle(std::string_view key) {
  key.remove_prefix(key.find('.') + 1);
  return key.substr(0, key.find('.'));
}

std::string number_text(double number) {
  if (number == std::floor(number) && std::abs(number) < 1e15) return fmt::format("{:.0f}", number);
  return fmt::format("{}", number);
}

std::string list_text(const std::vector<double>& numbers, bool list) {
  if (!list) return number_text(numbers.front());
  std::string text;
  for (const double number : numbers) text += (text.empty() ? "" : ",") + number_text(number);
  return "[" + text + "]";
}

/// Turns entries into numbers: each once, formulas on demand, a circle by name.
class Evaluation {
 public:
  explicit Evaluation(const Merged& merged) : merged_(merged) {}

  const std::vector<double>& of(const std::string& key) {
    const auto known = done_.find(key);
    if (known != done_.end()) return known->second;
    const Entry& entry = merged_.entries.at(key);
    std::vector<double> numbers =
        entry.formula.empty() ? entry.numbers : std::vector<double>{derive(key, entry)};
    check(key, entry, numbers);
    return done_.emplace(key, std::move(numbers)).first->second;
  }

 private:
  double derive(const std::string& key, const Entry& entry) {
    if (std::find(under_way_.begin(), under_way_.end(), key) != under_way_.end()) {
      throw InputError(fmt::format("{}: circular formulas: {} -> {}", where(entry, key),
                                   fmt::join(under_way_, " -> "), key));
    }
    under_way_.push_back(key);
    double number = 0;
    try {
      number = evaluate(entry.formula, [&](std::string_view name) -> std::vector<double> {
        const std::string other(name);
        if (!merged_.entries.contains(other))
          throw InputError(fmt::format("formula \"{}\": unknown key {}", entry.formula, other));
        return of(other);
      });
    } catch (const InputError& error) {
      const std::string text = error.what();
      // A place in front already: the fault lies in another key's entry.
      if (!text.starts_with("formula ")) throw;
      throw InputError(fmt::format("{}: {}", where(entry, key), text));
    }
    under_way_.pop_back();
    return number;
  }

  static void check(const std::string& name, const Entry& entry, const std::vector<double>& numbers) {
    const Key& key = definition(name);
    if (entry.unit != key.unit) {
      throw InputError(
          fmt::format("{}: unit \"{}\": expected \"{}\"", where(entry, name), entry.unit, key.unit));
    }
    if (entry.formula.empty() && entry.list != (key.type == KeyType::list)) {
      throw InputError(fmt::format("{}: expected {}", where(entry, name),
                                   entry.list ? "one number" : "a list of numbers"));
    }
    for (const double number : numbers) {
      if (key.type != KeyType::real && number != std::floor(number)) {
        throw InputError(fmt::format("{}: {} is not whole: expected a whole number of \"{}\"{}",
                                     where(entry, name), number, key.unit,
                                     entry.formula.empty() ? "" : " (ceil or floor in the formula)"));
      }
      if (!(number >= key.low && number <= key.high)) {
        throw InputError(fmt::format("{}: {} is out of range: expected {} to {} \"{}\"", where(entry, name),
                                     number_text(number), number_text(key.low), number_text(key.high),
                                     key.unit));
      }
    }
  }

  const Merged& merged_;
  std::map<std::string, std::vector<double>> done_;
  std::vector<std::string> under_way_;
};

bool needed(const Key& key, const Merged& merged, Evaluation& evaluation) {
  switch (key.need) {
    case KeyNeed::always: return true;
    case KeyNeed::pipe: return merged.uses_pipe(middle(key.name));
    case KeyNeed::latency: return merged.uses_latency(middle(key.name));
    case KeyNeed::copies: return merged.uses_pipe("tma");
    case KeyNeed::warpgroups: return merged.has_opcode("HGMMA");
    case KeyNeed::partitions:
      return merged.entries.contains("l2.partitions") && evaluation.of("l2.partitions").front() == 2;
  }
  return true;
}

const char* reason(KeyNeed need) {
  switch (need) {
    case KeyNeed::pipe: return "no opcode of this machine code uses the pipe";
    case KeyNeed::latency: return "no opcode of this machine code has the latency class";
    case KeyNeed::copies: return "no opcode of this machine code uses the copy engine";
    case KeyNeed::warpgroups: return "this machine code has no warpgroup products";
    default: return "l2.partitions is 1";
  }
}

/// Refuses a key that nothing would read. A key that an override made idle (l2.partitions=1) may stay in the file.
void check_unneeded(const Merged& merged, const Merged& files) {
  Evaluation as_written(files);
  Evaluation as_set(merged);
  for (const Key& key : keys()) {
    if (key.need == KeyNeed::always) continue;
    const auto entry = merged.entries.find(key.name);
    if (entry == merged.entries.end()) continue;
    const bool set = merged.overridden.contains(key.name);
    if (set ? needed(key, merged, as_set) : needed(key, files, as_written)) continue;
    throw InputError(
        fmt::format("{}: the key does nothing here: {}", where(entry->second, key.name), reason(key.need)));
  }
}

void check_missing(const Merged& merged, Evaluation& evaluation) {
  for (const Key& key : keys()) {
    if (merged.entries.contains(key.name) || !needed(key, merged, evaluation)) continue;
    throw InputError(fmt::format(
        "{}: {} is missing: expected {} = {{ value = ..., unit = \"{}\", kind = \"...\", source = \"...\" }}",
        merged.file, key.name, key.name, key.unit));
  }
}

void choose_clock(const ClockRequest& request, const Chip& chip, spec::GpuSpec& spec) {
  spec.clock_choice = request.choice;
  const bool custom = request.choice == spec::ClockChoice::custom;
  const auto set = custom ? spec::ClockChoice::boost : request.choice;
  spec.clock = chip.clocks[static_cast<std::size_t>(set)];
  spec.product_clock = std::min(spec.product_clock, spec.clock.sm);
  if (!custom) return;
  if (request.custom.sm != 0) spec.clock.sm = spec.product_clock = request.custom.sm;
  if (request.custom.l2 != 0) spec.clock.l2 = request.custom.l2;
  if (request.custom.dram != 0) spec.clock.dram = request.custom.dram;
}

void build_opcodes(const Merged& merged, Evaluation& evaluation, spec::GpuSpec& spec) {
  for (const OpcodeGroup& group : merged.groups) {
    spec::OpcodeSpec row;
    for (std::size_t i = 0; i < group.pipes.size(); ++i) spec::pipe_from_name(group.pipes[i], row.pipes[i]);
    spec::latency_from_name(group.latency, row.latency);
    if (group.has_interval) {
      row.interval =
          static_cast<std::uint32_t>(evaluation.of(fmt::format("opcodes.{}.interval", group.name)).front());
    }
    if (group.has_hold) {
      row.hold =
          static_cast<std::uint32_t>(evaluation.of(fmt::format("opcodes.{}.hold", group.name)).front());
    }
    for (const std::string& opcode : group.opcodes) spec.opcodes.push_back({opcode, row});
  }
  std::sort(spec.opcodes.begin(), spec.opcodes.end(), [](const auto& a, const auto& b) {
    if (a.pattern.size() != b.pattern.size()) return a.pattern.size() > b.pattern.size();
    return a.pattern < b.pattern;
  });
}

/// Everything that a prediction can depend on, one line each, in an order that does not depend on the files' layout.
std::string dump(const Loaded& loaded) {
  const spec::GpuSpec& spec = loaded.spec;
  std::string text = fmt::format("name={}\nsm_number={}\n", spec.name, spec.sm_number);
  text += fmt::format("clock={} sm={} l2={} dram={} Hz\n", name_of(spec.clock_choice), spec.clock.sm,
                      spec.clock.l2, spec.clock.dram);
  for (const Value& value : loaded.values)
    text += fmt::format("{}={} {}\n", value.key, value.text, value.unit);
  for (const auto& row : spec.opcodes) {
    text +=
        fmt::format("opcode {}: {} {} {} {} {}\n", row.pattern, name_of(row.spec.pipes[0]),
                    name_of(row.spec.pipes[1]), name_of(row.spec.latency), row.spec.interval, row.spec.hold);
  }
  return text;
}

/// The entry's kind on this chip: what was found on other dies alone is transferred.
Kind kind_on(const std::string& die, const std::string& key, const Entry& entry) {
  const bool own = std::find(entry.on.begin(), entry.on.end(), die) != entry.on.end();
  if (own && entry.kind == Kind::transferred)
    throw InputError(fmt::format("{}: transferred from {}, which is the chip's own die: expected measured",
                                 where(entry, key), die));
  return entry.on.empty() || own ? entry.kind : Kind::transferred;
}

Value value_of(const std::string& key, const Entry& entry, const std::vector<double>& numbers,
               const Merged& merged) {
  Value value;
  value.key = key;
  value.text = list_text(numbers, entry.list);
  value.numbers = numbers;
  value.unit = entry.unit;
  value.form = form_of(definition(key));
  value.kind = kind_on(merged.die, key, entry);
  value.formula = entry.formula;
  value.source = entry.source;
  value.on = entry.on;
  value.has_range = entry.has_range;
  value.low = entry.low;
  value.high = entry.high;
  value.file = entry.file;
  value.line = entry.line;
  value.overridden = merged.overridden.contains(key);
  return value;
}

}  // namespace

const Value* Loaded::find(std::string_view key) const {
  const auto at =
      std::lower_bound(values.begin(), values.end(), key,
                       [](const Value& value, std::string_view name) { return value.key < name; });
  return at != values.end() && at->key == key ? &*at : nullptr;
}

Loaded load_gpu(std::string_view name, const std::vector<Override>& overrides, const ClockRequest& clock,
                const std::filesystem::path& directory) {
  const Merged files = merge_files(name, directory);
  Merged merged = files;
  apply(overrides, merged);
  check_unneeded(merged, files);
  Evaluation evaluation(merged);
  check_missing(merged, evaluation);

  Loaded loaded;
  Chip chip;
  for (const auto& [key, entry] : merged.entries) {
    const std::vector<double>& numbers = evaluation.of(key);
    const Key& kind = definition(key);
    const bool idle = kind.need == KeyNeed::partitions && !needed(kind, merged, evaluation);
    if (kind.set != nullptr && !idle) kind.set(chip, numbers);
    loaded.values.push_back(value_of(key, entry, numbers, merged));
    if (loaded.values.back().kind == Kind::assumed) ++loaded.assumed;
    if (loaded.values.back().kind == Kind::transferred) ++loaded.transferred;
  }
  loaded.spec = std::move(chip.spec);
  loaded.spec.name = merged.name;
  loaded.spec.sm_number = merged.sm_number;
  loaded.title = merged.title.empty() ? merged.name : merged.title;
  loaded.die = merged.die;
  loaded.known = merged.known;
  loaded.clocks = chip.clocks;
  choose_clock(clock, chip, loaded.spec);
  build_opcodes(merged, evaluation, loaded.spec);
  if (const auto problem = spec::check(loaded.spec)) {
    const Entry& entry = merged.entries.find(problem->key)->second;
    throw InputError(fmt::format("{}: {}", where(entry, problem->key), problem->sentence));
  }
  loaded.final_config = dump(loaded);
  loaded.sha256 = sha256(loaded.final_config);
  return loaded;
}

const spec::OpcodeSpec* find_opcode(const spec::GpuSpec& spec, std::string_view opcode) {
  for (const auto& row : spec.opcodes) {  // longest first
    if (!opcode.starts_with(row.pattern)) continue;
    if (opcode.size() == row.pattern.size() || opcode[row.pattern.size()] == '.') return &row.spec;
  }
  return nullptr;
}

}  // namespace foretrace::config
