#include "sim/runtime/device/perfetto.h"

#include <algorithm>
#include <map>
#include <set>

#include <nlohmann/json.hpp>

namespace foretrace::runtime {

namespace {

using Json = nlohmann::ordered_json;

// Processes of the trace.
constexpr int kStreams = 0, kEngines = 1, kHost = 2;

class Text {
 public:
  void add(const Json& event) {
    text_ += (text_.empty() ? "" : ",\n") + event.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  void name(const char* what, int process, std::uint64_t row, const std::string& name) {
    add({{"ph", "M"}, {"name", what}, {"pid", process}, {"tid", row}, {"args", {{"name", name}}}});
  }
  std::string whole() const { return "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n" + text_ + "\n]}\n"; }

 private:
  std::string text_;
};

std::string of_device(unsigned device) { return device == 0 ? "" : ", device " + std::to_string(device); }

/// Rows of the copy engines: four per device.
enum Row : unsigned { kIn, kOut, kSends, kReceives, kRows };
std::uint64_t row_of(unsigned device, Row row) { return std::uint64_t{kRows} * device + row; }

Json slice(int process, std::uint64_t row, const std::string& name, const char* kind, double begin,
           double end) {
  return {{"ph", "X"},
          {"name", name},
          {"cat", kind},
          {"pid", process},
          {"tid", row},
          {"ts", begin * 1e-3},
          {"dur", (end - begin) * 1e-3}};
}

void put_work(Text& text, const host::Work& work, const Span* span) {
  const std::string name = span != nullptr ? span->kernel : host::name_of(work.kind);
  const char* const kind = span != nullptr ? "kernel" : "work";
  Json event = slice(kStreams, work.stream, name, kind, work.begin, work.end);
  if (span != nullptr) {
    event["args"] = {{"launch", span->number}, {"shape", span->shape}, {"time", span->how}};
  } else if (work.bytes != 0) {
    event["args"] = {{"bytes", work.bytes}};
  }
  text.add(event);
  event["pid"] = kEngines;
  const auto on_row = [&](unsigned device, Row row) {
    event["tid"] = row_of(device, row);
    text.add(event);
  };
  if (work.kind == host::WorkKind::copy_in) on_row(work.device, kIn);
  if (work.kind == host::WorkKind::copy_out) on_row(work.device, kOut);
  if (work.kind == host::WorkKind::peer_copy) on_row(work.sender, kSends), on_row(work.receiver, kReceives);
}

void put_flow(Text& text, host::WorkId id, const host::HostCall& call, const host::Work& work) {
  text.add({{"ph", "s"},
            {"name", "asked for"},
            {"cat", "call"},
            {"id", id},
            {"pid", kHost},
            {"tid", call.thread},
            {"ts", call.begin * 1e-3}});
  text.add({{"ph", "f"},
            {"bp", "e"},
            {"name", "asked for"},
            {"cat", "call"},
            {"id", id},
            {"pid", kStreams},
            {"tid", work.stream},
            {"ts", work.begin * 1e-3}});
}

/// A thread's lie around its calls; the process's may cross each other, and have rows of their own.
void put_ranges(Text& text, const std::vector<host::Range>& ranges) {
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const host::Range& range = ranges[i];
    if (!range.process) {
      text.add(slice(kHost, range.thread, range.name, "range", range.begin, range.end));
      continue;
    }
    for (const bool begin : {true, false})
      text.add({{"ph", begin ? "b" : "e"},
                {"name", range.name},
                {"cat", "range"},
                {"id", i},
                {"pid", kHost},
                {"tid", range.thread},
                {"ts", (begin ? range.begin : range.end) * 1e-3}});
  }
}

/// The share of the chip's room for blocks that running kernels have, in percent.
void put_load(Text& text, const host::Schedule& schedule, unsigned device) {
  std::map<double, double> changes;
  for (host::WorkId id = 0; id < schedule.size(); ++id) {
    const host::Work& work = schedule[id];
    if (work.kind != host::WorkKind::kernel || work.device != device) continue;
    changes[work.begin] += work.share;
    changes[work.end] -= work.share;
  }
  double now = 0;
  for (const auto& [at, change] : changes) {
    now = std::max(0.0, now + change);
    text.add({{"ph", "C"},
              {"name", "room taken" + of_device(device)},
              {"pid", kStreams},
              {"ts", at * 1e-3},
              {"args", {{"percent", std::min(100.0, 100 * now)}}}});
  }
}

}  // namespace

std::string perfetto_trace(const std::vector<Span>& spans, const host::TimeLine& line,
                           const std::vector<host::Range>& ranges, const std::string& chip) {
  const host::Schedule& schedule = line.schedule();
  Text text;
  text.name("process_name", kStreams, 0, chip + ", predicted");
  text.name("process_name", kEngines, 0, "copy engines");
  text.name("process_name", kHost, 0, "host " + line.spec().name);
  std::map<std::uint64_t, unsigned> streams;  // the device of each
  unsigned devices = 1;
  bool peers = false;
  std::set<unsigned> threads;
  for (host::WorkId id = 0; id < schedule.size(); ++id) {
    streams[schedule[id].stream] = schedule[id].device;
    const host::Work& work = schedule[id];
    devices = std::max({devices, work.device + 1, work.sender + 1, work.receiver + 1});
    peers = peers || work.kind == host::WorkKind::peer_copy;
  }
  const auto name_row = [&](unsigned device, Row row, const char* name) {
    text.name("thread_name", kEngines, row_of(device, row), name + of_device(device));
  };
  for (unsigned device = 0; device < devices; ++device) {
    name_row(device, kIn, "to the device");
    name_row(device, kOut, "to the host");
    if (peers)
      name_row(device, kSends, "to other devices"), name_row(device, kReceives, "from other devices");
  }
  for (const host::HostCall& call : line.calls()) threads.insert(call.thread);
  for (const auto& [stream, device] : streams)
    text.name("thread_name", kStreams, stream,
              (stream == 0 ? "default stream" : "stream " + std::to_string(stream)) + of_device(device));
  for (const unsigned thread : threads)
    text.name("thread_name", kHost, thread, "thread " + std::to_string(thread));
  const auto span_of = [&](std::uint64_t number) -> const Span* {
    const auto found = std::lower_bound(spans.begin(), spans.end(), number,
                                        [](const Span& span, std::uint64_t n) { return span.number < n; });
    return found == spans.end() || found->number != number ? nullptr : &*found;
  };
  const auto is_shown = [&](const host::Work& work, const Span* span) {
    if (work.kind == host::WorkKind::kernel) return span != nullptr;
    return work.kind != host::WorkKind::marker && work.kind != host::WorkKind::event;
  };
  for (host::WorkId id = 0; id < schedule.size(); ++id) {
    const host::Work& work = schedule[id];
    const Span* const span = span_of(work.launch);
    if (is_shown(work, span)) put_work(text, work, span);
  }
  put_ranges(text, ranges);
  for (const host::HostCall& call : line.calls()) {
    text.add(slice(kHost, call.thread, call.name, "call", call.begin, call.end));
    if (call.work == host::kNoWork) continue;
    const host::Work& work = schedule[call.work];
    if (is_shown(work, span_of(work.launch))) put_flow(text, call.work, call, work);
  }
  for (unsigned device = 0; device < devices; ++device) put_load(text, schedule, device);
  return text.whole();
}

}  // namespace foretrace::runtime
