#include "sim/report/json_text.h"

#include <algorithm>

namespace foretrace::report {
namespace {

constexpr std::size_t kMembersOnOneLine = 8;

using Rows = std::initializer_list<std::string_view>;

std::string compact(const Json& value) {
  // Strings come from source files and command lines: a byte that is no UTF-8 is replaced, not refused.
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

bool has_only_plain_values(const Json& value) {
  return std::none_of(value.begin(), value.end(), [](const Json& each) { return each.is_structured(); });
}

void append(std::string& out, const Json& value, std::string_view key, std::size_t depth, Rows rows) {
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
      append(out, each, value.is_object() ? std::string_view(name) : std::string_view(), depth + 1, rows);
    }
  }
  out += "\n" + std::string(depth, ' ') + (value.is_array() ? "]" : "}");
}

}  // namespace

std::string lay_out(const Json& document, std::initializer_list<std::string_view> rows) {
  std::string out;
  append(out, document, {}, 0, rows);
  out += "\n";
  return out;
}

}  // namespace foretrace::report
