#include "sim/app/trace_rows.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sim/report/json_reader.h"

namespace foretrace::app {

namespace {

using report::Json;

struct Span {
  double begin = 0, length = 0;  // ns
  std::size_t name = 0;
  std::int64_t launch = -1;
};

/// In the order in which rows stand.
constexpr std::array kGroups = {"calls", "ranges", "gpu", "engine"};
constexpr std::uint64_t kEngines = 1, kHost = 2;  // "pid" of a trace: sim/runtime/device/perfetto.cpp

std::size_t group_of(std::uint64_t process, const std::string& category) {
  if (process == kHost) return category == "range" ? 1 : 0;
  return process == kEngines ? 3 : 2;
}

/// As they begin, the longest first.
void sort(std::vector<Span>& spans) {
  std::stable_sort(spans.begin(), spans.end(), [](const Span& a, const Span& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.length > b.length;
  });
}

/// Ranges within others are left out.
void keep_outermost(std::vector<Span>& spans) {
  double end = -1;
  std::erase_if(spans, [&end](const Span& span) {
    if (span.length <= 0 || span.begin + span.length <= end) return true;
    end = span.begin + span.length;
    return false;
  });
}

class Rows {
 public:
  void add(const report::JsonReader& event) {
    const std::string phase = event.text_if_there("ph", "");
    if (phase != "M" && phase != "X") return;
    const std::uint64_t process = event.whole("pid"), thread = event.whole("tid");
    if (phase == "M") {
      if (event.text("name") == "thread_name") titles_[{process, thread}] = event.object("args").text("name");
      return;
    }
    const std::size_t group = group_of(process, event.text("cat"));
    const std::optional<std::uint64_t> launch =
        event.has("args") ? event.object("args").whole_if_there("launch") : std::nullopt;
    rows_[{group, process, thread}].push_back({event.number("ts") * 1e3, event.number("dur") * 1e3,
                                               number_of(event.text("name")),
                                               launch ? static_cast<std::int64_t>(*launch) : -1});
  }
  Json json() {
    Json rows = Json::array();
    for (auto& [key, spans] : rows_) {
      const auto& [group, process, thread] = key;
      sort(spans);
      if (std::string_view(kGroups[group]) == "ranges") keep_outermost(spans);
      if (spans.empty()) continue;
      Json list = Json::array();
      for (const Span& span : spans)
        list.push_back(Json::array({span.begin, span.length, span.name, span.launch}));
      rows.push_back(
          Json{{"group", kGroups[group]}, {"name", titles_[{process, thread}]}, {"spans", std::move(list)}});
    }
    return Json{{"names", names_}, {"rows", rows}};
  }

 private:
  std::size_t number_of(const std::string& name) {
    const auto [found, fresh] = numbers_.try_emplace(name, names_.size());
    if (fresh) names_.push_back(name);
    return found->second;
  }

  struct Key {
    std::size_t group = 0;
    std::uint64_t process = 0, thread = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::string> titles_;
  std::map<Key, std::vector<Span>> rows_;
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace

std::string trace_rows(const std::string& text, const std::string& file) {
  const Json json = report::parse_json(text, file, "a time line of foretrace run --perfetto");
  const report::JsonSource source{file, "foretrace run --perfetto writes it"};
  const report::JsonReader trace(json, source);
  Rows rows;
  for (const report::JsonReader& event : trace.objects("traceEvents")) rows.add(event);
  return rows.json().dump();
}

}  // namespace foretrace::app
