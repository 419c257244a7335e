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

/// The text of a document, indented by one blank per level, ending with a newline. `rows`: names of arrays
/// whose elements stand on one line each.
std::string lay_out(const Json& document, std::initializer_list<std::string_view> rows);

struct ProgramResult;
/// The keys "represented" and "program" of a result document.
void put_program(const ProgramResult& program, Json& document);

}  // namespace foretrace::report
