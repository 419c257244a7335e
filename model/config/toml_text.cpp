#include "model/config/toml_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string_view>

#include "model/units/error.h"

namespace foretrace::config {
namespace {

/// Where the quoted text that begins at `at` ends: behind its closing quotes, or at the end of the text.
std::size_t end_of_quotes(std::string_view text, std::size_t at) {
  const char quote = text[at];
  const std::string three(3, quote);
  const bool several_lines = text.substr(at).starts_with(three);
  const std::size_t width = several_lines ? 3 : 1;
  for (at += width; at < text.size(); ++at) {
    if (quote == '"' && text[at] == '\\') {
      ++at;
    } else if (text.substr(at).starts_with(std::string_view(three).substr(0, width))) {
      return at + width;
    } else if (text[at] == '\n' && !several_lines) {
      return at;
    }
  }
  return text.size();
}

void refuse_stray_characters(std::string_view text, const std::string& printed) {
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);  // a byte order mark
  std::size_t line = 1;
  for (std::size_t at = 0; at < text.size();) {
    const char c = text[at];
    if (static_cast<unsigned char>(c) >= 0x80) {
      throw InputError(fmt::format(
          "{}:{}: a character that is not ASCII; it may stand in quotes and comments", printed, line));
    }
    std::size_t next = at + 1;
    if (c == '"' || c == '\'') next = end_of_quotes(text, at);
    if (c == '#') next = std::min(text.find('\n', at), text.size());
    for (; at < next; ++at) line += text[at] == '\n';
  }
}

}  // namespace

void toml_not_understood() {
  throw InputError("no TOML: a name or a value begins with a character that none begins with");
}

std::string read_toml_text(const std::filesystem::path& path, const std::string& printed) {
  std::error_code unknown;
  if (std::filesystem::is_directory(path, unknown))
    throw InputError(fmt::format("{}: is a directory; expected a file", printed));
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  if (in) text << in.rdbuf();
  if (!in) throw InputError(fmt::format("{}: cannot be read", printed));
  refuse_stray_characters(text.view(), printed);
  return std::move(text).str();
}

}  // namespace foretrace::config
