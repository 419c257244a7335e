#include "sim/runtime/device/perfetto.h"

#include <set>

#include <nlohmann/json.hpp>

namespace foretrace::runtime {

namespace {

using Json = nlohmann::ordered_json;

Json name_of(const char* what, std::uint64_t row, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", 0}, {"tid", row}, {"args", {{"name", name}}}};
}

}  // namespace

std::string perfetto_trace(const std::vector<Span>& spans, const std::string& chip) {
  std::set<std::uint64_t> streams;
  for (const Span& span : spans) streams.insert(span.stream);
  std::string text = "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  text += name_of("process_name", 0, chip + ", predicted").dump();
  for (const std::uint64_t stream : streams) {
    const std::string name = stream == 0 ? "default stream" : "stream " + std::to_string(stream);
    text += ",\n" + name_of("thread_name", stream, name).dump();
  }
  for (const Span& span : spans) {
    const Json event{{"ph", "X"},
                     {"name", span.kernel},
                     {"cat", "kernel"},
                     {"pid", 0},
                     {"tid", span.stream},
                     {"ts", span.begin * 1e6},
                     {"dur", span.seconds * 1e6},
                     {"args", {{"launch", span.number}, {"shape", span.shape}, {"time", span.how}}}};
    text += ",\n" + event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  return text + "\n]}\n";
}

}  // namespace foretrace::runtime
