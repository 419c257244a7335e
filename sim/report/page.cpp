#include "sim/report/page.h"

#include <string_view>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/units/error.h"
#include "sim/report/page_parts.h"

namespace foretrace::report {
namespace {

/// JSON inside a script element: the element must not end within it, nor a comment begin.
std::string inside_script(const std::string& json) {
  std::string safe;
  safe.reserve(json.size());
  for (const char c : json) {
    if (c == '<') {
      safe += "\\u003c";  // a '<' stands in JSON's strings alone
    } else {
      safe += c;
    }
  }
  return safe;
}

void put(std::string& page, std::string_view mark, const std::string& text) {
  const std::size_t at = page.find(mark);
  FORETRACE_ASSERT(at != std::string::npos, "the page's template has a place for each part");
  page.replace(at, mark.size(), text);
}

template <typename Scripts>
std::string put_together(const Scripts& scripts, const std::string& data) {
  std::string text = html::kPage;
  put(text, "/*STYLE*/", html::kStyle);
  std::string all;
  for (const std::string_view script : scripts) all += script;
  put(text, "/*SCRIPTS*/", all);
  put(text, "/*DATA*/", inside_script(data));
  return text;
}

}  // namespace

std::string page(const PageParts& parts) {
  const auto list = [](const std::vector<std::string>& texts) {
    return fmt::format("[{}]", fmt::join(texts, ","));
  };
  std::string data = "{\"documents\":" + list(parts.documents) + ",\"programs\":" + list(parts.programs) +
                     ",\"traces\":" + list(parts.traces);
  data += ",\"facts\":" + parts.facts + ",\"sources\":" + parts.sources;
  data += ",\"timeline\":" + (parts.timeline.empty() ? "null" : parts.timeline);
  data += ",\"comparison\":" + (parts.comparison.empty() ? "null" : parts.comparison) + "}";
  return put_together(html::kResultScripts, data);
}

std::string validation_page(const std::string& validation) {
  return put_together(html::kValidationScripts, "{\"validation\":" + validation + "}");
}

}  // namespace foretrace::report
