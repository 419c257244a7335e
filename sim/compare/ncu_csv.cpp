#include "sim/compare/ncu_csv.h"

#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/table.h"

namespace foretrace::compare {
namespace {

constexpr std::array<std::string_view, 11> kLaunchColumns = {
    "ID",     "Process ID", "Process Name", "Host Name", "Kernel Name", "Context",
    "Stream", "Block Size", "Grid Size",    "Device",    "CC"};

/// Rows of quoted cells; knows the line for errors.
class CsvReader {
 public:
  CsvReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  /// The cells of the next line that holds any; false at the end.
  bool next(std::vector<std::string>& cells) {
    while (at_ < text_.size()) {
      first_line_ = line_ + 1;
      if (read_row(cells)) return true;
    }
    return false;
  }
  /// Passes over what the profiled program and the profiler print before the table.
  bool skip_to_line_beginning(std::string_view beginning) {
    while (at_ < text_.size()) {
      if (text_.substr(at_).starts_with(beginning)) return true;
      const auto end = text_.find('\n', at_);
      at_ = end == std::string_view::npos ? text_.size() : end + 1;
      ++line_;
    }
    return false;
  }
  [[noreturn]] void refuse(const std::string& what) const {
    throw InputError(report::one_line(fmt::format("{}: line {}: {}", name_, first_line_, what)));
  }

 private:
  bool read_row(std::vector<std::string>& cells) {
    cells.clear();
    std::string cell;
    bool quoted = false, any = false;
    for (; at_ < text_.size(); ++at_) {
      const char c = text_[at_];
      if (c == '\n') ++line_;
      if (quoted) {
        if (c != '"') {
          cell += c;
        } else if (at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
          cell += '"';
          ++at_;
        } else {
          quoted = false;
        }
      } else if (c == '"') {
        quoted = any = true;
      } else if (c == ',') {
        cells.push_back(std::exchange(cell, {}));
        any = true;
      } else if (c == '\n') {
        ++at_;
        break;
      } else if (c != '\r') {
        cell += c;
        any = true;
      }
    }
    if (quoted) refuse("a quoted cell does not end");
    if (any) cells.push_back(std::move(cell));
    return any;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t at_ = 0, line_ = 0, first_line_ = 0;
};

/// "1,234.5" -> 1234.5; none where it is not a number as ncu writes it in the C locale.
std::optional<double> number_of(std::string_view cell) {
  std::string plain;
  std::size_t group = 0;
  bool separated = false, whole = true;
  for (const char c : cell) {
    if (c == ',') {
      if (!whole || group == 0 || group > 3 || (separated && group != 3)) return {};
      separated = true;
      group = 0;
      continue;
    }
    const bool digit = std::isdigit(static_cast<unsigned char>(c)) != 0;
    if (!digit && whole && !plain.empty() && std::isdigit(static_cast<unsigned char>(plain.back())) != 0) {
      if (separated && group != 3) return {};
      whole = false;
    }
    if (digit && whole) ++group;
    plain += c;
  }
  if (whole && separated && group != 3) return {};
  if (!plain.empty() && plain.front() == '+') plain.erase(0, 1);
  double value = 0;
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size() || plain.empty()) return {};
  return value == value && value - value == 0 ? std::optional<double>(value) : std::nullopt;
}

/// "(32, 32, 1)".
bool dimensions_of(std::string_view cell, Dim3& dim) {
  std::array<std::uint32_t, 3> d{};
  std::size_t count = 0;
  const char* at = cell.data();
  const char* end = at + cell.size();
  while (at < end && count < 3) {
    if (std::isdigit(static_cast<unsigned char>(*at)) == 0) {
      ++at;
      continue;
    }
    const auto [next, error] = std::from_chars(at, end, d[count]);
    if (error != std::errc()) return false;
    at = next;
    ++count;
  }
  dim = {d[0], d[1], d[2]};
  return count == 3;
}

struct Columns {
  std::vector<std::string> names;
  std::vector<std::string> units;
  std::array<std::size_t, kLaunchColumns.size()> launch{};

  std::size_t of(std::string_view name) const {
    for (std::size_t i = 0; i < kLaunchColumns.size(); ++i) {
      if (kLaunchColumns[i] == name) return launch[i];
    }
    FORETRACE_ASSERT(false, "Only columns of a launch are asked for by name.");
    return 0;
  }
  bool is_launch_column(std::size_t column) const {
    for (const std::size_t each : launch) {
      if (each == column) return true;
    }
    return false;
  }
};

constexpr const char* kExpected = "expected the output of ncu --csv --page raw";

Columns read_header(CsvReader& reader, const std::string& name) {
  Columns columns;
  if (!reader.skip_to_line_beginning("\"ID\",") || !reader.next(columns.names))
    throw InputError(fmt::format("{}: no line begins with \"ID\"; {}", name, kExpected));
  for (std::size_t i = 0; i < kLaunchColumns.size(); ++i) {
    std::size_t at = 0;
    while (at < columns.names.size() && columns.names[at] != kLaunchColumns[i]) ++at;
    if (at == columns.names.size())
      reader.refuse(fmt::format("column \"{}\" is missing; {}", kLaunchColumns[i], kExpected));
    columns.launch[i] = at;
  }
  for (const auto& each : columns.names) {
    if (each == "Metric Name")
      reader.refuse("this is one row per metric (ncu --page details); expected --page raw");
  }
  if (!reader.next(columns.units)) reader.refuse(fmt::format("the row of units is missing; {}", kExpected));
  if (columns.units.size() != columns.names.size()) {
    reader.refuse(fmt::format("{} units for {} columns", columns.units.size(), columns.names.size()));
  }
  if (!columns.units[columns.of("ID")].empty()) {
    reader.refuse(fmt::format("the row of units is missing; {}", kExpected));
  }
  return columns;
}

/// Units whose scale would turn one number into another: these must be what we understand.
bool is_scaled_unit(std::string_view unit) {
  return unit == "ns" || unit == "byte" || unit == "hz" || unit == "%" || unit == "byte/second" ||
         unit == "byte/block";
}

void read_metric(const CsvReader& reader, const std::string& name, const std::string& unit,
                 const std::string& cell, ProfiledLaunch& launch) {
  const report::Metric* ours = report::find_metric(name);
  if (cell.empty() || cell == "n/a" || cell == "nan" || cell == "inf" || cell == "no data") {
    launch.metrics.set(name, {});
    return;
  }
  const auto number = number_of(cell);
  if (!number) {
    // Raw pages hold texts too (device names, cache preferences); of our own metrics a text is an error.
    if (ours != nullptr)
      reader.refuse(fmt::format("column \"{}\": \"{}\" is no number (C locale)", name, cell));
    return;
  }
  std::string base;
  const double factor = unit_factor(unit, base);
  if (ours != nullptr && base != ours->unit && (is_scaled_unit(ours->unit) || is_scaled_unit(base))) {
    reader.refuse(
        fmt::format("column \"{}\": unit \"{}\"; expected a multiple of \"{}\"", name, unit, ours->unit));
  }
  launch.metrics.set(name, *number * factor);
}

ProfiledLaunch read_launch(const CsvReader& reader, const Columns& columns,
                           const std::vector<std::string>& cells) {
  ProfiledLaunch launch;
  launch.id = cells[columns.of("ID")];
  launch.kernel = cells[columns.of("Kernel Name")];
  if (!dimensions_of(cells[columns.of("Grid Size")], launch.grid))
    reader.refuse("column \"Grid Size\": expected (x, y, z)");
  if (!dimensions_of(cells[columns.of("Block Size")], launch.block))
    reader.refuse("column \"Block Size\": expected (x, y, z)");
  const auto capability = number_of(cells[columns.of("CC")]);
  if (!capability || *capability < 1 || *capability >= 100)
    reader.refuse("column \"CC\": expected a compute capability such as 9.0");
  launch.sm = static_cast<int>(*capability * 10 + 0.5);
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (!columns.is_launch_column(i))
      read_metric(reader, columns.names[i], columns.units[i], cells[i], launch);
  }
  return launch;
}

struct UnitPart {
  std::string_view name;
  std::string_view base;
  double factor;
};

// Times as numerators are ns, as denominators seconds, as ncu's base units have it.
constexpr std::array<UnitPart, 8> kTimes = {{{"ns", "ns", 1},
                                             {"nsecond", "ns", 1},
                                             {"us", "ns", 1e3},
                                             {"usecond", "ns", 1e3},
                                             {"ms", "ns", 1e6},
                                             {"msecond", "ns", 1e6},
                                             {"s", "ns", 1e9},
                                             {"second", "ns", 1e9}}};

double part_factor(std::string_view part, std::string& base) {
  for (const auto& time : kTimes) {
    if (part == time.name) {
      base = time.base;
      return time.factor;
    }
  }
  static constexpr std::array<std::pair<char, double>, 4> kPrefixes = {
      {{'K', 1e3}, {'M', 1e6}, {'G', 1e9}, {'T', 1e12}}};
  for (const auto& [letter, factor] : kPrefixes) {
    const std::string_view rest = part.empty() ? part : part.substr(1);
    if (!part.empty() && part.front() == letter && (rest == "byte" || rest == "hz" || rest == "bit")) {
      base = rest;
      return factor;
    }
  }
  base = part;
  return 1;
}

}  // namespace

double unit_factor(std::string_view unit, std::string& base) {
  const auto slash = unit.find('/');
  if (slash == std::string_view::npos) return part_factor(unit, base);
  std::string above, below;
  double factor = part_factor(unit.substr(0, slash), above);
  const double per = part_factor(unit.substr(slash + 1), below);
  factor /= below == "ns" ? per / 1e9 : per;
  base = above + "/" + (below == "ns" ? "second" : below);
  if (base == "cycle/second") base = "hz";
  return factor;
}

std::string plain_kernel_name(std::string_view kernel) {
  if (kernel.starts_with("void ")) kernel.remove_prefix(5);
  // The parameter list is the last group in parentheses, if it ends the name.
  if (!kernel.empty() && kernel.back() == ')') {
    int depth = 0;
    for (std::size_t at = kernel.size(); at-- > 0;) {
      if (kernel[at] == ')') ++depth;
      if (kernel[at] == '(' && --depth == 0) {
        kernel = kernel.substr(0, at);
        break;
      }
    }
  }
  std::string plain;
  const auto angle = kernel.find('<');
  plain = kernel.substr(0, angle);
  while (!plain.empty() && plain.back() == ' ') plain.pop_back();
  if (angle == std::string_view::npos) return plain;
  std::string arguments;
  int depth = 0;
  for (const char c : kernel.substr(angle)) {  // casts such as (int) and blanks go
    if (c == '(') ++depth;
    if (depth == 0 && c != ' ') arguments += c;
    if (c == ')') --depth;
  }
  // true, false and suffixed numbers, each a whole argument.
  std::string argument;
  for (const char c : arguments) {
    if (c != '<' && c != '>' && c != ',') {
      argument += c;
      continue;
    }
    if (argument == "true") argument = "1";
    if (argument == "false") argument = "0";
    if (!argument.empty() && std::isdigit(static_cast<unsigned char>(argument.front())) != 0) {
      while (argument.find_last_of("uUlL") == argument.size() - 1) argument.pop_back();
    }
    plain += argument;
    argument.clear();
    plain += c;
  }
  return plain + argument;
}

std::string base_kernel_name(std::string_view kernel) {
  const std::string plain = plain_kernel_name(kernel);
  return plain.substr(0, plain.find('<'));
}

std::vector<ProfiledLaunch> read_ncu_csv(std::string_view text, const std::string& name) {
  CsvReader reader(text, name);
  const Columns columns = read_header(reader, name);
  std::vector<ProfiledLaunch> launches;
  std::vector<std::string> cells;
  while (reader.next(cells)) {
    if (cells.front().starts_with("==")) continue;  // the profiler's own messages
    if (cells.size() != columns.names.size()) {
      reader.refuse(
          fmt::format("{} cells for {} columns; {}", cells.size(), columns.names.size(), kExpected));
    }
    launches.push_back(read_launch(reader, columns, cells));
  }
  if (launches.empty()) throw InputError(fmt::format("{}: no launch below the header; {}", name, kExpected));
  return launches;
}

}  // namespace foretrace::compare
