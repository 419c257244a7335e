#include "sim/report/json_reader.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "model/units/error.h"
#include "sim/report/table.h"

namespace foretrace::report {

Json parse_json(std::string_view text, const std::string& file, std::string_view expected) {
  try {
    return Json::parse(text);
  } catch (const Json::parse_error& error) {
    const std::string_view before = text.substr(0, error.byte == 0 ? 0 : error.byte - 1);
    const auto line = std::count(before.begin(), before.end(), '\n') + 1;
    const std::size_t column = before.size() - (before.rfind('\n') + 1) + 1;
    throw InputError(
        fmt::format("{}: line {}, column {}: this is not JSON; expected {}", file, line, column, expected));
  } catch (const Json::exception&) {
    throw InputError(fmt::format("{}: a number is too large for a double; expected {}", file, expected));
  }
}

namespace {

/// A number, or none for null.
Value value_of(const JsonReader& from, const Json& each, const std::string& place, const char* expected) {
  constexpr double kMost = 1e30;  // sums and squares of them are numbers, too
  if (each.is_null()) return {};
  if (!each.is_number()) from.refuse(place, expected);
  const auto value = each.get<double>();
  if (!(std::abs(value) <= kMost)) from.refuse(place, fmt::format("numbers of at most {}", kMost));
  return value;
}

}  // namespace

JsonReader::JsonReader(const Json& object, const JsonSource& source, std::string place)
    : object_(object), source_(source), place_(std::move(place)) {
  if (!object.is_object()) refuse(place_, "an object");
}

std::vector<JsonReader> JsonReader::objects(const std::string& key) const {
  const Json& all = array(key);
  std::vector<JsonReader> readers;
  readers.reserve(all.size());
  for (const Json& each : all)
    readers.emplace_back(each, source_, fmt::format("{}[{}]", path(key), readers.size()));
  return readers;
}

const Json& JsonReader::array(const std::string& key) const {
  const Json& value = member(key);
  if (!value.is_array()) refuse(path(key), "an array");
  return value;
}

std::string JsonReader::text(const std::string& key) const {
  const Json& value = member(key);
  if (!value.is_string()) refuse(path(key), "a string");
  return value.get<std::string>();
}

std::string JsonReader::text_or_null(const std::string& key) const {
  return member(key).is_null() ? std::string() : text(key);
}

std::vector<std::string> JsonReader::texts(const std::string& key) const {
  std::vector<std::string> all;
  for (const Json& each : array(key)) {
    if (!each.is_string()) refuse(path(key), "an array of strings");
    all.push_back(each.get<std::string>());
  }
  return all;
}

double JsonReader::number(const std::string& key) const {
  const Value value = value_of(*this, member(key), path(key), "a number");
  if (!value) refuse(path(key), "a number");
  return *value;
}

std::optional<double> JsonReader::number_or_null(const std::string& key) const {
  return member(key).is_null() ? std::nullopt : std::optional(number(key));
}

std::vector<Value> JsonReader::numbers(const std::string& key) const {
  std::vector<Value> all;
  for (const Json& each : array(key)) {
    all.push_back(value_of(*this, each, path(key), "an array of numbers"));
  }
  return all;
}

bool JsonReader::flag(const std::string& key) const {
  const Json& value = member(key);
  if (!value.is_boolean()) refuse(path(key), "true or false");
  return value.get<bool>();
}

Dim3 JsonReader::dimensions(const std::string& key) const {
  const Json& value = array(key);
  if (value.size() != 3) refuse(path(key), "three numbers");
  std::array<std::uint32_t, 3> d{};
  for (std::size_t i = 0; i < 3; ++i) {
    const std::uint64_t size = whole(value[i], path(key));
    if (size > std::numeric_limits<std::uint32_t>::max()) refuse(path(key), "numbers below 2^32");
    d[i] = static_cast<std::uint32_t>(size);
  }
  return {d[0], d[1], d[2]};
}

MetricValues JsonReader::metrics(const std::string& key) const {
  const Json& value = member(key);
  if (!value.is_object()) refuse(path(key), "an object");
  MetricValues all;
  for (const auto& [name, each] : value.items()) {
    all.set(name, value_of(*this, each, path(key) + "." + name, "a number or null"));
  }
  return all;
}

std::optional<std::uint64_t> JsonReader::whole_if_there(const std::string& key) const {
  return has(key) ? std::optional(whole(key)) : std::nullopt;
}

std::optional<double> JsonReader::number_if_there(const std::string& key) const {
  return has(key) ? std::optional(number(key)) : std::nullopt;
}

std::string JsonReader::text_if_there(const std::string& key, const std::string& otherwise) const {
  return has(key) ? text(key) : otherwise;
}

std::vector<Series> JsonReader::series(const std::string& key) const {
  std::vector<Series> all;
  if (!has(key)) return all;
  if (!member(key).is_object()) refuse(path(key), "an object");
  for (const auto& [name, each] : member(key).items()) {
    const std::string where = path(key) + "." + name;
    if (!each.is_array() || (!all.empty() && each.size() != all.front().values.size()))
      refuse(where, "an array as long as the others");
    all.push_back({name, {}});
    for (const Json& value : each) all.back().values.push_back(whole(value, where));
  }
  return all;
}

void JsonReader::expect_schema(int schema) const {
  const Json& found = member("schema");
  if (found != schema) {
    throw InputError(one_line(fmt::format("{}: schema {}; expected {}", source_.file, found.dump(), schema)));
  }
}

void JsonReader::refuse(const std::string& where, const std::string& expected) const {
  throw InputError(one_line(fmt::format("{}: {}: expected {}, as {}", source_.file,
                                        where.empty() ? "document" : where, expected, source_.form)));
}

const Json& JsonReader::member(const std::string& key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) refuse(path(key), "this key");
  return *found;
}

std::uint64_t JsonReader::whole(const Json& value, const std::string& where) const {
  if (!value.is_number_unsigned()) refuse(where, "a whole number");
  return value.get<std::uint64_t>();
}

}  // namespace foretrace::report
