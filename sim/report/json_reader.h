// Reads JSON documents member by member: an error names the file, the place in it and what was expected there.
//
// Models:  what is missing, of another type or out of range is an InputError of one line.
// Ignores: keys that nobody asks for. For .cpp files alone, as the JSON library is large.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

#include "model/units/units.h"
#include "sim/report/metrics.h"
#include "sim/report/series.h"

namespace foretrace::report {

using Json = nlohmann::ordered_json;

/// What is read, in the words of errors.
struct JsonSource {
  std::string file;
  /// Who knows what it should be like: "docs/json_schema.json has it".
  std::string form;
};

/// Throws InputError, with line and column, where the text is not JSON. `expected`: "a result document of ...".
Json parse_json(std::string_view text, const std::string& file, std::string_view expected);

/// Reads members of one object, which outlives it, as the source does.
class JsonReader {
 public:
  JsonReader(const Json& object, const JsonSource& source, std::string place = "");

  JsonReader object(const std::string& key) const { return {member(key), source_, path(key)}; }
  /// Those of an array.
  std::vector<JsonReader> objects(const std::string& key) const;
  /// All members, with their names, in the document's order.
  const Json::object_t& members() const { return object_.get_ref<const Json::object_t&>(); }
  const Json& array(const std::string& key) const;

  std::string text(const std::string& key) const;
  std::string text_or_null(const std::string& key) const;
  std::vector<std::string> texts(const std::string& key) const;
  std::uint64_t whole(const std::string& key) const { return whole(member(key), path(key)); }
  std::uint64_t whole_or_null(const std::string& key) const { return member(key).is_null() ? 0 : whole(key); }
  double number(const std::string& key) const;
  std::optional<double> number_or_null(const std::string& key) const;
  /// An array of numbers, none where it holds null.
  std::vector<Value> numbers(const std::string& key) const;
  bool flag(const std::string& key) const;
  Dim3 dimensions(const std::string& key) const;
  MetricValues metrics(const std::string& key) const;

  // Keys that a document may lack.
  bool has(const std::string& key) const { return object_.contains(key); }
  std::optional<std::uint64_t> whole_if_there(const std::string& key) const;
  std::optional<double> number_if_there(const std::string& key) const;
  std::string text_if_there(const std::string& key, const std::string& otherwise) const;
  /// Rows of whole numbers, all of one length.
  std::vector<Series> series(const std::string& key) const;

  /// Refuses a document whose key "schema" is another number.
  void expect_schema(int schema) const;
  std::string path(const std::string& key) const { return place_.empty() ? key : place_ + "." + key; }
  [[noreturn]] void refuse(const std::string& where, const std::string& expected) const;

 private:
  const Json& member(const std::string& key) const;
  std::uint64_t whole(const Json& value, const std::string& where) const;

  const Json& object_;
  const JsonSource& source_;
  std::string place_;
};

}  // namespace foretrace::report
