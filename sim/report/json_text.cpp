#include "sim/report/json_text.h"

#include <algorithm>
#include <charconv>

namespace foretrace::report {
namespace {

bool has_only_plain_values(const Json& value) {
  return std::none_of(value.begin(), value.end(), [](const Json& each) { return each.is_structured(); });
}

}  // namespace

std::string compact(const Json& value) {
  // Strings come from source files and command lines: a byte that is no UTF-8 is replaced, not refused.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

void lay_out(std::string& out, const Json& value, std::string_view key, std::size_t depth, JsonRows rows) {
  const bool is_short =
      (value.is_array() || value.size() <= kMembersOnOneLine) && has_only_plain_values(value);
  if (!value.is_structured() || value.empty() || is_short) {
    out += compact(value);
    return;
  }
  const bool lines = value.is_array() && std::find(rows.begin(), rows.end(), key) != rows.end();
  const std::string indent(depth + 1, ' ');
  out += value.is_array() ? "[" : "{";
  const char* separator = "\n";
  for (const auto& [name, each] : value.items()) {
    out += separator;
    out += indent;
    separator = ",\n";
    if (value.is_object()) out += compact(Json(name)) + ": ";
    if (lines) {
      out += compact(each);
    } else {
      lay_out(out, each, value.is_object() ? std::string_view(name) : std::string_view(), depth + 1, rows);
    }
  }
  out += "\n" + std::string(depth, ' ') + (value.is_array() ? "]" : "}");
}

std::string lay_out(const Json& document, JsonRows rows) {
  std::string out;
  lay_out(out, document, {}, 0, rows);
  out += "\n";
  return out;
}

void append_text(std::string& out, std::string_view text) {
  const auto plain = [](char c) { return c >= ' ' && c <= '~' && c != '"' && c != '\\'; };
  if (!std::all_of(text.begin(), text.end(), plain)) {
    out += compact(Json(text));
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

void append_whole(std::string& out, std::uint64_t value) {
  char digits[20];
  out.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

void append_number(std::string& out, std::optional<double> value) {
  const Json number = json_number(value);
  if (number.is_null()) {
    out += "null";
  } else if (number.is_number_integer()) {
    char digits[20];
    out.append(digits, std::to_chars(digits, digits + sizeof digits, number.get<std::int64_t>()).ptr);
  } else {
    char digits[64];  // what Json::dump() calls
    out.append(digits, nlohmann::detail::to_chars(digits, digits + sizeof digits, *value));
  }
}

}  // namespace foretrace::report
