#include "sim/app/trace_rows.h"

#include <algorithm>
#include <array>
#include <map>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "model/units/error.h"

namespace foretrace::app {

namespace {

using Json = nlohmann::json;

struct Span {
  double begin = 0, length = 0;  // ns
  std::size_t name = 0;
  int launch = -1;
};

/// In the order in which rows stand.
constexpr std::array kGroups = {"calls", "ranges", "gpu", "engine"};
constexpr int kEngines = 1, kHost = 2;  // "pid" of a trace: sim/runtime/device/perfetto.cpp

std::size_t group_of(int process, const std::string& category) {
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
  void add(const Json& event) {
    const std::string phase = event.value("ph", "");
    if (phase != "M" && phase != "X") return;
    const int process = event.at("pid"), thread = event.at("tid");
    if (phase == "M") {
      if (event.at("name") == "thread_name") titles_[{process, thread}] = event.at("args").at("name");
      return;
    }
    const Json& arguments = event.value("args", Json::object());
    const std::size_t group = group_of(process, event.at("cat"));
    rows_[{group, process, thread}].push_back({event.at("ts").get<double>() * 1e3,
                                               event.at("dur").get<double>() * 1e3,
                                               number_of(event.at("name")), arguments.value("launch", -1)});
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
    int process = 0, thread = 0;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  std::map<std::pair<int, int>, std::string> titles_;
  std::map<Key, std::vector<Span>> rows_;
  std::map<std::string, std::size_t> numbers_;
  std::vector<std::string> names_;
};

}  // namespace

std::string trace_rows(const std::string& text, const std::string& file) {
  try {
    const Json trace = Json::parse(text);
    Rows rows;
    for (const Json& event : trace.at("traceEvents")) rows.add(event);
    return rows.json().dump();
  } catch (const Json::exception&) {
    throw InputError(fmt::format("{}: no time line; expected what foretrace run --perfetto wrote", file));
  }
}

}  // namespace foretrace::app
