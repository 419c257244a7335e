// Reading a launch file. Every access to the TOML tree goes through Reader, so that no key is read without its
// type being checked and no key is left unread.

#define TOML_HEADER_ONLY 1
#include <fmt/format.h>
#include "model/config/toml_text.h"
#define TOML_ASSERT(condition) FORETRACE_TOML_ASSERT(condition)
#include <toml++/toml.h>

#include <algorithm>
#include <initializer_list>
#include <limits>
#include <system_error>

#include "model/units/error.h"
#include "sim/frontend/launch/launch.h"

namespace foretrace::frontend {
namespace {

/// Printable text of one line: the flat table is line-oriented.
bool is_one_line(std::string_view text) {
  return !text.empty() && text.front() != ' ' && text.back() != ' ' &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= ' ' && c != '\x7f'; });
}

/// One table of the file.
class Reader {
 public:
  Reader(const toml::table& table, std::string file) : table_(table), file_(std::move(file)) {}

  [[noreturn]] void fail(const toml::node& node, std::string_view message) const {
    throw InputError(fmt::format("{}:{}: {}", file_, node.source().begin.line, message));
  }
  [[noreturn]] void fail(std::string_view key, const toml::node& node, std::string_view message) const {
    fail(node, fmt::format("key '{}': {}", key, message));
  }

  std::string where() const { return fmt::format("{}:{}", file_, table_.source().begin.line); }
  const std::string& file() const { return file_; }

  void allow(std::initializer_list<std::string_view> keys) const {
    for (const auto& [key, node] : table_) {
      if (std::find(keys.begin(), keys.end(), key.str()) == keys.end()) {
        fail(node, fmt::format("unknown key '{}', expected one of: {}", key.str(), fmt::join(keys, " ")));
      }
    }
  }

  const toml::node* find(std::string_view key) const { return table_.get(key); }

  const toml::node& need(std::string_view key) const {
    const toml::node* node = find(key);
    if (node == nullptr) throw InputError(fmt::format("{}: key '{}' is missing", where(), key));
    return *node;
  }

  std::string string(std::string_view key, const toml::node& node) const {
    const auto* text = node.as_string();
    if (text == nullptr) fail(key, node, "expected a string");
    if (!is_one_line(text->get())) {
      fail(key, node, "expected one line of text that neither begins nor ends with a space");
    }
    return text->get();
  }

  std::string string_or_empty(std::string_view key) const {
    const toml::node* node = find(key);
    return node == nullptr ? std::string() : string(key, *node);
  }

  const toml::array& array(std::string_view key, const toml::node& node) const {
    const auto* array = node.as_array();
    if (array == nullptr) fail(key, node, "expected an array");
    return *array;
  }

  std::uint32_t integer(std::string_view key, const toml::node& node, std::uint32_t smallest,
                        std::uint32_t largest = std::numeric_limits<std::uint32_t>::max()) const {
    const auto* number = node.as_integer();
    if (number == nullptr || number->get() < smallest || number->get() > largest) {
      fail(key, node, fmt::format("expected a whole number from {} to {}", smallest, largest));
    }
    return static_cast<std::uint32_t>(number->get());
  }

  Dim3 extent(std::string_view key, const toml::node& node) const {
    const toml::array& numbers = array(key, node);
    if (numbers.empty() || numbers.size() > 3) fail(key, node, "expected one to three numbers, x first");
    std::uint32_t extent[3] = {1, 1, 1};
    for (std::size_t i = 0; i < numbers.size(); ++i) extent[i] = integer(key, numbers[i], 1);
    return {extent[0], extent[1], extent[2]};
  }

  /// A tolerance: a number that is finite and not negative.
  double tolerance(std::string_view key) const {
    const toml::node& node = need(key);
    double value = -1;
    if (const auto* number = node.as_floating_point()) value = number->get();
    if (const auto* number = node.as_integer()) value = static_cast<double>(number->get());
    if (!(value >= 0) || value > std::numeric_limits<double>::max()) {
      fail(key, node, "expected a tolerance: a finite number of at least 0");
    }
    return value;
  }

  /// Calls `read` for each string of the array, and puts file, line and key before what it throws.
  template <typename Read>
  void strings(std::string_view key, Read read) const {
    const toml::node* node = find(key);
    if (node == nullptr) return;
    for (const toml::node& element : array(key, *node)) {
      const std::string text = string(key, element);
      try {
        read(text);
      } catch (const InputError& error) { fail(key, element, error.what()); }
    }
  }

 private:
  const toml::table& table_;
  std::string file_;
};

std::string launch_name(const Reader& reader, std::string_view key, const toml::node& node) {
  std::string name = reader.string(key, node);
  if (!std::all_of(name.begin(), name.end(), [](char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
               c == '-' || c == '.';
      })) {
    reader.fail(key, node, "expected a name of letters, digits, '_', '-' and '.'");
  }
  return name;
}

ExpectedFault fault_from(const Reader& reader, const toml::node& node) {
  const std::string name = reader.string("fault", node);
  std::string names;
  for (int number = 1; number <= static_cast<int>(ExpectedFault::illegal_instruction); ++number) {
    const auto fault = static_cast<ExpectedFault>(number);
    if (name == fault_name(fault)) return fault;
    names += fmt::format(" {}", fault_name(fault));
  }
  reader.fail("fault", node, "expected one of:" + names);
}

std::vector<Check> checks_from(const Reader& reader, const toml::node& node) {
  const auto* table = node.as_table();
  if (table == nullptr) {
    reader.fail("check", node, "expected a table: { BUFFER = { relative = R, absolute = A } }");
  }
  std::vector<Check> checks;
  for (const auto& [buffer, value] : *table) {
    const auto* tolerances = value.as_table();
    if (tolerances == nullptr) {
      reader.fail(buffer.str(), value, "expected { relative = R, absolute = A }");
    }
    const Reader inner(*tolerances, reader.file());
    inner.allow({"relative", "absolute"});
    checks.push_back({std::string(buffer.str()), inner.tolerance("relative"), inner.tolerance("absolute")});
  }
  return checks;
}

LaunchDescription launch_from(const Reader& reader, const std::filesystem::path& directory) {
  reader.allow({"name", "kernel", "define", "nvcc", "grid", "block", "shared", "cluster", "args", "symbols",
                "dump", "reference", "check", "after", "fault"});
  LaunchDescription launch;
  launch.name = launch_name(reader, "name", reader.need("name"));
  launch.kernel = reader.string("kernel", reader.need("kernel"));
  launch.grid = reader.extent("grid", reader.need("grid"));
  launch.block = reader.extent("block", reader.need("block"));
  reader.array("args", reader.need("args"));
  reader.strings("args", [&](const std::string& text) {
    launch.arguments.push_back(parse_argument(text, launch.arguments.size(), directory));
  });
  reader.strings("define", [&](const std::string& text) {
    check_define(text);
    launch.defines.push_back(text);
  });
  reader.strings("symbols", [&](const std::string& text) {
    launch.symbols.push_back(parse_symbol(text, launch.symbols.size(), directory));
  });
  reader.strings("dump", [&](const std::string& text) { launch.dumps.push_back(parse_dump(text)); });
  launch.nvcc = reader.string_or_empty("nvcc");
  launch.reference = reader.string_or_empty("reference");
  if (const toml::node* node = reader.find("cluster")) launch.cluster = reader.extent("cluster", *node);
  if (const toml::node* node = reader.find("shared")) {
    launch.dynamic_shared = reader.integer("shared", *node, 0);
  }
  if (const toml::node* node = reader.find("after")) launch.after = launch_name(reader, "after", *node);
  if (const toml::node* node = reader.find("fault")) launch.fault = fault_from(reader, *node);
  if (const toml::node* node = reader.find("check")) launch.checks = checks_from(reader, *node);
  return launch;
}

/// The launch in the context of those before it in the file.
void check_in_file(const Reader& reader, const std::vector<LaunchDescription>& launches) {
  const LaunchDescription& launch = launches.back();
  const auto is_before = [&](const std::string& name) {
    return std::any_of(launches.begin(), launches.end() - 1,
                       [&](const LaunchDescription& other) { return other.name == name; });
  };
  if (is_before(launch.name)) {
    reader.fail("name", reader.need("name"), fmt::format("two launches are named '{}'", launch.name));
  }
  if (!launch.after.empty() && !is_before(launch.after)) {
    reader.fail("after", reader.need("after"),
                fmt::format("no launch before this one is named '{}'", launch.after));
  }
  check_launch(launch, launches_before(launches, launches.size() - 1),
               fmt::format("{}: launch '{}'", reader.where(), launch.name));
}

}  // namespace

void check_define(const std::string& define) {
  if (!is_identifier(std::string_view(define).substr(0, define.find('=')))) {
    throw InputError(fmt::format("'{}' is no define, expected NAME or NAME=VALUE", define));
  }
}

std::vector<LaunchDescription> load_launch_file(const std::filesystem::path& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) {
    throw InputError(fmt::format("{}: there is no such launch file", path.string()));
  }
  const std::string text = config::read_toml_text(path, path.string());
  toml::table root;
  try {
    root = toml::parse(text);
  } catch (const InputError& refusal) {
    throw InputError(fmt::format("{}: {}", path.string(), refusal.what()));
  } catch (const toml::parse_error& syntax) {
    throw InputError(
        fmt::format("{}:{}: {}", path.string(), syntax.source().begin.line, syntax.description()));
  }
  const Reader file(root, path.string());
  file.allow({"source", "launch"});
  const std::filesystem::path source = path.parent_path() / file.string("source", file.need("source"));
  if (!std::filesystem::is_regular_file(source, error)) {
    file.fail("source", file.need("source"), fmt::format("there is no file '{}'", source.string()));
  }
  const toml::node& list = file.need("launch");
  const toml::array& tables = file.array("launch", list);
  if (tables.empty()) file.fail("launch", list, "expected at least one [[launch]]");
  std::vector<LaunchDescription> launches;
  for (const toml::node& node : tables) {
    const auto* table = node.as_table();
    if (table == nullptr) file.fail("launch", node, "expected [[launch]]");
    const Reader reader(*table, file.file());
    launches.push_back(launch_from(reader, path.parent_path()));
    launches.back().source = source;
    check_in_file(reader, launches);
  }
  return launches;
}

}  // namespace foretrace::frontend
