// The only file that includes toml++.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#define TOML_ENABLE_FORMATTERS 0
#include "model/config/toml_text.h"
#define TOML_ASSERT(condition) FORETRACE_TOML_ASSERT(condition)
#include <toml++/toml.h>

#include "model/config/raw.h"
#include "model/units/error.h"

namespace foretrace::config {
namespace {

constexpr std::array kKindNames = {"documented", "measured", "fitted", "derived", "transferred", "assumed"};
constexpr std::string_view kKindList = "documented, measured, fitted, derived, transferred or assumed";

constexpr std::array<std::string_view, 8> kAttributes = {"value",  "formula", "unit",  "kind",
                                                         "source", "on",      "range", "default"};

/// What [known] may begin with: the strongest claim about a part of a chip, and the weakest.
constexpr std::array<std::string_view, 3> kClaims = {"measured: ", "checked: ", "transferred: "};

/// Units that a file may use in place of a key's own, and what they are multiplied by.
struct Multiple {
  std::string_view unit, base;
  double factor;
};
constexpr std::array kMultiples = {Multiple{"KiB", "B", 1024.0}, Multiple{"MiB", "B", 1024.0 * 1024},
                                   Multiple{"GiB", "B", 1024.0 * 1024 * 1024}};

class Reader {
 public:
  explicit Reader(std::string printed) : printed_(std::move(printed)) {}

  RawFile read(const toml::table& root) {
    for (const auto& [key, node] : root) {
      const std::string name(key.str());
      if (name == "inherits") {
        file_.inherits = text(node, name);
      } else if (name == "title") {
        file_.title = text(node, name);
      } else if (name == "sm_number") {
        const auto number = node.value_exact<std::int64_t>();
        if (!number || *number < 70 || *number > 199)
          fail(node, name, "expected the number of the machine code, such as 90");
        file_.sm_number = static_cast<int>(*number);
      } else if (name == "die") {
        file_.die = text(node, name);
      } else if (name == "known") {
        read_known(node);
      } else if (name == "opcodes") {
        read_groups(node);
      } else {
        walk(node, name);
      }
    }
    return std::move(file_);
  }

 private:
  static int line_of(const toml::node& node) { return static_cast<int>(node.source().begin.line); }

  [[noreturn]] void fail(const toml::node& node, const std::string& key, std::string_view what) const {
    throw InputError(fmt::format("{}:{}: {}: {}", printed_, line_of(node), key, what));
  }

  std::string text(const toml::node& node, const std::string& key) const {
    const auto value = node.value_exact<std::string>();
    if (!value || value->empty()) fail(node, key, "expected a text in quotes");
    return *value;
  }

  std::vector<std::string> texts(const toml::node& node, const std::string& key) const {
    const toml::array* array = node.as_array();
    if (array == nullptr) fail(node, key, "expected a list of texts");
    std::vector<std::string> result;
    for (const auto& item : *array) result.push_back(text(item, key));
    return result;
  }

  double number(const toml::node& node, const std::string& key) const {
    if (node.is_integer()) return static_cast<double>(*node.value<std::int64_t>());
    if (const auto value = node.value<double>(); node.is_floating_point() && std::isfinite(*value))
      return *value;
    fail(node, key, "expected a number");
  }

  /// An entry is a table with at least one attribute of an entry in it; any other is a section.
  void walk(const toml::node& node, const std::string& key) {
    const toml::table* table = node.as_table();
    if (table == nullptr) { fail(node, key, "expected { value, unit, kind, source }, not a bare value"); }
    bool entry = table->empty();
    for (const std::string_view attribute : kAttributes) entry = entry || table->contains(attribute);
    if (entry) {
      file_.entries.emplace(key, read_entry(*table, key));
      return;
    }
    for (const auto& [name, child] : *table) walk(child, fmt::format("{}.{}", key, name.str()));
  }

  Entry read_entry(const toml::table& table, const std::string& key) const {
    Entry entry;
    entry.file = printed_;
    entry.line = line_of(table);
    bool has_kind = false;
    for (const auto& [attribute, node] : table) {
      const std::string_view name = attribute.str();
      if (name == "value") {
        entry.list = node.is_array();
        if (const toml::array* array = node.as_array()) {
          for (const auto& item : *array) entry.numbers.push_back(number(item, key));
          if (array->empty()) fail(node, key, "expected at least one number in the list");
        } else {
          entry.numbers = {number(node, key)};
        }
      } else if (name == "formula") {
        entry.formula = text(node, key);
      } else if (name == "unit") {
        entry.unit = text(node, key);
      } else if (name == "kind") {
        entry.kind = kind(node, key);
        has_kind = true;
      } else if (name == "source") {
        entry.source = text(node, key);
      } else if (name == "on") {
        entry.on = dies(node, key);
      } else if (name == "range") {
        const toml::array* array = node.as_array();
        if (array == nullptr || array->size() != 2) fail(node, key, "expected range = [lowest, highest]");
        entry.has_range = true;
        entry.low = number((*array)[0], key);
        entry.high = number((*array)[1], key);
      } else if (name == "default") {
        const auto value = node.value_exact<bool>();
        if (!value) fail(node, key, "expected default = true or false");
        entry.overridable = *value;
      } else {
        fail(node, key,
             fmt::format(
                 "unknown attribute {}: expected value or formula, unit, kind, source, on, range, default",
                 name));
      }
    }
    if (entry.unit.empty()) fail(table, key, "unit is missing: expected unit = \"...\"");
    if (!has_kind) fail(table, key, fmt::format("kind is missing: expected {}", kKindList));
    if (entry.source.empty())
      fail(table, key, "source is missing: expected source = \"docs/sources.md:KEY ...\"");
    check_form(table, key, entry);
    convert(entry);
    return entry;
  }

  void read_known(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) fail(node, "known", "expected [known] with PART = \"checked: ...\"");
    for (const auto& [part, child] : *table) {
      const std::string key = fmt::format("known.{}", part.str());
      std::string claim = text(child, key);
      const bool good = std::any_of(kClaims.begin(), kClaims.end(),
                                    [&](std::string_view start) { return claim.starts_with(start); });
      if (!good) fail(child, key, "expected a text that begins with measured:, checked: or transferred:");
      file_.known.emplace(part.str(), std::move(claim));
    }
  }

  /// `on = "GH100"` or `on = ["GH100", "GA102"]`.
  std::vector<std::string> dies(const toml::node& node, const std::string& key) const {
    return node.is_array() ? texts(node, key) : std::vector<std::string>{text(node, key)};
  }

  Kind kind(const toml::node& node, const std::string& key) const {
    const std::string name = text(node, key);
    for (std::size_t i = 0; i < kKindNames.size(); ++i) {
      if (name == kKindNames[i]) return static_cast<Kind>(i);
    }
    fail(node, key, fmt::format("unknown kind \"{}\": expected {}", name, kKindList));
  }

  void check_form(const toml::node& node, const std::string& key, const Entry& entry) const {
    const bool derived = entry.kind == Kind::derived;
    if (derived && entry.formula.empty()) fail(node, key, "a derived value needs formula = \"...\"");
    if (!derived && !entry.formula.empty()) fail(node, key, "only a derived value has a formula");
    if (derived && !entry.numbers.empty())
      fail(node, key, "a derived value has a formula in place of a value");
    if (!derived && entry.numbers.empty()) fail(node, key, "value is missing: expected value = NUMBER");
    if (derived && entry.has_range) fail(node, key, "a derived value has no range of its own");
    if (entry.kind == Kind::transferred && entry.on.empty())
      fail(node, key, "a transferred value needs on = \"DIE\", the die that it comes from");
    if (!entry.on.empty() && (derived || entry.kind == Kind::assumed))
      fail(node, key, "on is for values documented, measured, fitted or transferred");
    const bool uncertain = entry.kind == Kind::fitted || entry.kind == Kind::assumed;
    if (uncertain && !entry.has_range) {
      fail(node, key, fmt::format("kind {} needs range = [lowest, highest]", name_of(entry.kind)));
    }
    if (!entry.has_range) return;
    if (entry.low >= entry.high)
      fail(node, key, "expected range = [lowest, highest] with lowest below highest");
    for (const double number : entry.numbers) {
      if (number < entry.low || number > entry.high) {
        fail(node, key, fmt::format("value {} is outside its range [{}, {}]", number, entry.low, entry.high));
      }
    }
  }

  static void convert(Entry& entry) {
    for (const Multiple& multiple : kMultiples) {
      if (entry.unit != multiple.unit) continue;
      for (double& number : entry.numbers) number *= multiple.factor;
      entry.low *= multiple.factor;
      entry.high *= multiple.factor;
      entry.unit = multiple.base;
      return;
    }
  }

  void read_groups(const toml::node& node) {
    const toml::table* table = node.as_table();
    if (table == nullptr) fail(node, "opcodes", "expected tables [opcodes.GROUP]");
    for (const auto& [name, child] : *table) {
      const std::string key = fmt::format("opcodes.{}", name.str());
      const toml::table* group = child.as_table();
      if (group == nullptr) fail(child, key, "expected a table with pipes, latency, source and opcodes");
      read_group(*group, std::string(name.str()), key);
    }
  }

  void read_group(const toml::table& table, const std::string& name, const std::string& key) {
    OpcodeGroup group;
    group.name = name;
    group.file = printed_;
    group.line = line_of(table);
    for (const auto& [attribute, node] : table) {
      const std::string_view what = attribute.str();
      if (what == "pipes") {
        group.pipes = texts(node, key);
      } else if (what == "latency") {
        group.latency = text(node, key);
      } else if (what == "opcodes") {
        group.opcodes = texts(node, key);
      } else if (what == "source") {
        group.source = text(node, key);
      } else if (what == "interval" || what == "hold") {
        const std::string name_of_it = fmt::format("{}.{}", key, what);
        const toml::table* entry = node.as_table();
        if (entry == nullptr)
          fail(node, name_of_it, "expected { value, unit, kind, source }, not a bare value");
        file_.entries.emplace(name_of_it, read_entry(*entry, name_of_it));
        (what == "hold" ? group.has_hold : group.has_interval) = true;
      } else {
        fail(node, key,
             fmt::format("unknown attribute {}: expected pipes, latency, interval, hold, source, opcodes",
                         what));
      }
    }
    if (group.pipes.empty() || group.pipes.size() > 2)
      fail(table, key, "expected pipes = [one or two pipes]");
    if (group.latency.empty())
      fail(table, key, "latency is missing: expected a latency class such as \"fixed\"");
    if (group.source.empty())
      fail(table, key, "source is missing: expected source = \"docs/sources.md:KEY ...\"");
    if (group.opcodes.empty()) fail(table, key, "opcodes is missing: expected a list of opcodes");
    file_.groups.push_back(std::move(group));
  }

  std::string printed_;
  RawFile file_;
};

}  // namespace

const char* name_of(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

RawFile read_file(const std::filesystem::path& path, const std::string& printed) {
  const std::string text = read_toml_text(path, printed);
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const InputError& error) {
    throw InputError(fmt::format("{}: {}", printed, error.what()));
  } catch (const toml::parse_error& error) {
    // A key given twice ends up here too: TOML itself forbids it.
    throw InputError(fmt::format("{}:{}: {}", printed, error.source().begin.line, error.description()));
  }
  return Reader(printed).read(root);
}

}  // namespace foretrace::config
