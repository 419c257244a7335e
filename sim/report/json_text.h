// How JSON is laid out as text in every document that Foretrace writes: one member per line; arrays and small
// objects of plain values, and the rows of long tables, stand on one line each. For sim/report and
// sim/compare alone.
#pragma once

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json.hpp>

#include "model/units/units.h"

namespace foretrace::report {

using Json = nlohmann::ordered_json;

/// A number as JSON: whole ones without a point (exact to 2^53), none as null.
inline Json json_number(std::optional<double> value) {
  if (!value || !std::isfinite(*value)) return nullptr;
  constexpr double kExact = 9007199254740992.0;
  if (*value == std::floor(*value) && std::fabs(*value) < kExact) return static_cast<std::int64_t>(*value);
  return *value;
}
inline Json json_text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }
inline Json dimensions(const Dim3& dim) { return Json::array({dim.x, dim.y, dim.z}); }

using JsonRows = std::initializer_list<std::string_view>;
constexpr std::size_t kMembersOnOneLine = 8;

/// The text of a document, indented by one blank per level, ending with a newline. `rows`: names of arrays
/// whose elements stand on one line each.
std::string lay_out(const Json& document, JsonRows rows);
/// The same of a value within it, `depth` levels down: the member `key` of an object.
void lay_out(std::string& out, const Json& value, std::string_view key, std::size_t depth, JsonRows rows);
/// On one line, without blanks. Bytes that are no UTF-8 are replaced.
std::string compact(const Json& value);

// The same text of single values, without a Json of them.
void append_text(std::string& out, std::string_view text);
void append_whole(std::string& out, std::uint64_t value);
/// As json_number has it.
void append_number(std::string& out, std::optional<double> value);

/// Arrays of a result document whose elements stand on a line each.
inline const JsonRows kDocumentRows = {"instructions", "represented", "call_chains"};

struct LaunchResult;
struct ProgramResult;
struct RepresentedLaunch;
/// The keys "represented", without its rows, and "program" of a result document.
void put_program(const ProgramResult& program, Json& document);
/// A row of "represented".
std::string row_text(const RepresentedLaunch& launch);
/// What --gains found, as the last keys of a prediction.
void put_gains(const LaunchResult& result, Json& prediction);

}  // namespace foretrace::report
