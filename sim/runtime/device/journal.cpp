#include "sim/runtime/device/journal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "model/units/error.h"
#include "sim/report/json.h"
#include "sim/report/kernel_name.h"
#include "sim/runtime/device/time_line_result.h"

namespace foretrace::runtime {

namespace {

std::string dimensions(const Dim3& d) {
  if (d.z != 1) return fmt::format("({},{},{})", d.x, d.y, d.z);
  if (d.y != 1) return fmt::format("({},{})", d.x, d.y);
  return fmt::format("{}", d.x);
}

std::string time_text(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.2f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.3f} ms", seconds * 1e3);
  return fmt::format("{:.3f} s", seconds);
}

std::string shape_text(const LaunchLine& line) {
  return fmt::format("<<<{}, {}{}>>>{}", dimensions(line.grid), dimensions(line.block),
                     line.dynamic_shared == 0 ? "" : fmt::format(", {}", line.dynamic_shared),
                     line.sms == 0 ? "" : fmt::format(" on {} SMs", line.sms));
}

std::string short_name(const std::string& kernel) {
  return report::shortened_kernel(kernel, report::kKernelNameWidth);
}
/// A kernel's name with its operator's.
std::string title_of(const std::string& kernel, const std::string& operation) {
  return operation.empty() ? kernel : fmt::format("{} [{}]", kernel, operation);
}
std::string title_of(const LaunchLine& line) {
  return title_of(line.kernel, line.within ? line.within->name : "");
}
std::string shown_title_of(const LaunchLine& line) {
  return title_of(short_name(line.kernel), line.within ? line.within->name : "");
}
std::string launch_text(const LaunchLine& line) {
  return fmt::format("#{} {} {}", line.index, shown_title_of(line), shape_text(line));
}

/// Of a launch that was not simulated to its end: which share was.
std::string estimate_text(const sampling::Estimate& estimate) {
  return estimate.sampled ? fmt::format(" (estimated, {:.0f}% simulated)", 100 * estimate.simulated)
                          : std::string();
}

}  // namespace

Journal::Journal(const Settings& settings, TraceSettings trace, std::string chip, host::TimeLine& line,
                 host::Ranges& ranges)
    : settings_(settings), trace_(std::move(trace)), chip_(std::move(chip)), line_(line), ranges_(ranges) {
  terminal_ = isatty(STDERR_FILENO) != 0;
  begun_ = last_shown_ = std::chrono::steady_clock::now();
  process_ = getpid();
  begin_document();
}

void Journal::begin_document() {
  program_.budget = settings_.simulate_all ? 0 : settings_.budget;
  report::Document head;
  head.foretrace = settings_.version;
  head.commit = settings_.commit;
  head.command = settings_.command;
  document_ = std::make_unique<report::DocumentText>(head);
  file_ = std::make_unique<report::DocumentFile>(named(settings_.json));
}

Journal::~Journal() = default;

/// A process that was forked starts anew: the launches before belong to its parent, and so does the thread that saves, which may have
/// been anywhere.
bool Journal::own_process() {
  if (process_ == getpid()) return false;
  process_ = getpid();
  (void)saving_.release();
  (void)document_.release();
  (void)file_.release();
  saving_ = std::make_unique<Saving>();
  program_ = {};
  repeated_ = 0;
  spans_.clear();
  begin_document();
  kernels_.clear();
  order_.clear();
  notes_.clear();
  return true;
}

/// A file of this process.
std::string Journal::named(std::string name) const {
  const std::string process = std::to_string(process_);
  std::size_t place = name.find("%p");
  if (place == std::string::npos) return process_ == settings_.process ? name : name + "." + process;
  for (; place != std::string::npos; place = name.find("%p", place + process.size()))
    name.replace(place, 2, process);
  return name;
}

void Journal::save_now_and_then() {
  using Clock = std::chrono::steady_clock;
  std::unique_lock lock(saving_->mutex);
  while (!saving_->ending) {
    const auto begin = Clock::now();
    bool whole = false;
    if (saving_->unsaved) {
      const report::TextParts text = document_->parts(&program_);
      saving_->unsaved = false;
      lock.unlock();
      bool failed = false;
      try {
        whole = file_->replace(text).whole;
      } catch (const std::exception&) {
        failed = true;  // the next time may be better; finish() says it
      }
      lock.lock();
      if (failed) saving_->unsaved = true;
    }
    saving_->wake.wait_until(lock, report::next_writing(begin, Clock::now(), whole),
                             [&] { return saving_->ending; });
  }
}

/// There is something new. With saving_ held.
void Journal::to_save() {
  saving_->unsaved = true;
  if (saving_->thread || settings_.json.empty()) return;
  // A pipe or a terminal gets the whole once, at the end.
  std::error_code none;
  if (std::filesystem::exists(named(settings_.json), none) &&
      !std::filesystem::is_regular_file(named(settings_.json), none))
    return;
  saving_->thread = std::make_unique<std::thread>([this] { save_now_and_then(); });
}

void Journal::count(const LaunchLine& line, bool predicted) {
  ++program_.launches;
  program_.pinned_memory += predicted && line.pinned ? 1 : 0;
  program_.managed_memory += predicted && line.managed ? 1 : 0;
  program_.peer_memory += predicted && line.peer ? 1 : 0;
  if (line.repeated) ++repeated_;
  const auto [kernel, fresh] = kernels_.try_emplace(title_of(line));
  if (fresh) {
    order_.push_back(kernel->first);
    kernel->second.shown = shown_title_of(line);
    kernel->second.first = line.index;
  }
  ++kernel->second.launches;
  if (line.within && !line.within->note.empty()) notes_[line.within->note].insert(line.within->name);
}

void Journal::say(const std::string& text) {
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Journal::clear_progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

bool Journal::begin() {
  const bool forked = own_process();
  begun_ = std::chrono::steady_clock::now();
  return forked;
}

void Journal::progress(const std::string& kernel, std::uint64_t done, std::uint64_t of) {
  if (settings_.quiet) return;
  const auto now = std::chrono::steady_clock::now();
  const auto patience = terminal_ ? std::chrono::milliseconds(1000) : std::chrono::milliseconds(20'000);
  if (now - begun_ < patience || now - last_shown_ < patience / 5) return;
  last_shown_ = now;
  const std::string number = fmt::format("foretrace: #{} ", program_.launches);
  if (!terminal_) {
    begun_ = now;
    std::fputs(fmt::format("{}{}: {} of {} blocks\n", number, short_name(kernel), done, of).c_str(), stderr);
    return;
  }
  shown_ = true;
  const std::string text =
      report::progress_line(number, kernel, done, of, report::terminal_columns(STDERR_FILENO));
  std::fputs(("\r\033[K" + text).c_str(), stderr);
}

double Journal::predicted(const LaunchLine& line, const report::Prediction& prediction) {
  report::LaunchResult result = report::make_result(prediction);
  const double ns = result.metrics.get("gpu__time_duration.sum", 0);
  result.place.number = line.index;
  result.place.stream = line.stream;
  if (line.within) {
    result.place.operation = line.within->name;
    result.place.operation_note = line.within->note;
  }
  const auto instructions = prediction.counters.inst_executed;
  const std::string limiter = result.limiter.name, estimated = estimate_text(result.estimate);
  place_launches();
  std::optional<report::PredictionText> text;
  if (!settings_.json.empty()) text.emplace(result);
  {
    const std::lock_guard lock(saving_->mutex);
    count(line, true);
    ++program_.simulated;
    program_.duration_ns += ns;
    const double cycles = std::max<double>(1, static_cast<double>(prediction.counters.elapsed));
    const bool sampled = result.estimate.sampled;
    program_.duration_low_ns += sampled ? ns * result.estimate.cycles_low / cycles : ns;
    program_.duration_high_ns += sampled ? ns * result.estimate.cycles_high / cycles : ns;
    program_.warp_instructions += instructions;
    program_.simulated_warp_instructions +=
        static_cast<std::uint64_t>(static_cast<double>(instructions) * result.estimate.simulated);
    if (text) document_->hold(std::move(*text), result.place);
    to_save();
  }
  PerKernel& per = kernels_[title_of(line)];
  ++per.predicted;
  ++per.simulated;
  per.seconds += ns * 1e-9;
  per.longest = std::max(per.longest, ns * 1e-9);
  per.limiters[limiter] += ns * 1e-9;
  if (!settings_.quiet)
    say(fmt::format("foretrace: {} {}, {}\n", launch_text(line), time_text(ns * 1e-9) + estimated, limiter));
  trace(line, "simulated: " + limiter);
  return ns * 1e-9;
}

void Journal::represented(const LaunchLine& line, const sampling::LaunchWork& work,
                          const sampling::TimeEstimate& time) {
  {
    const std::lock_guard lock(saving_->mutex);
    count(line, true);
    report::RepresentedLaunch launch;
    launch.number = line.index;
    launch.by = time.by;
    launch.kernel = line.kernel;
    launch.shape() = line;
    launch.stream = line.stream;
    if (line.within) {
      launch.operation = line.within->name;
      launch.operation_note = line.within->note;
    }
    launch.duration_ns = time.seconds * 1e9;
    launch.duration_low_ns = time.low * 1e9;
    launch.duration_high_ns = time.high * 1e9;
    if (!settings_.json.empty()) document_->represent(launch);
    program_.represented.push_back(std::move(launch));
    program_.duration_ns += time.seconds * 1e9;
    program_.duration_low_ns += time.low * 1e9;
    program_.duration_high_ns += time.high * 1e9;
    program_.warp_instructions += static_cast<std::uint64_t>(work.warp_instructions);
    to_save();
  }
  ++kernels_[title_of(line)].predicted;
  trace(line, fmt::format("as #{}", time.by));
  if (!settings_.quiet)
    say(fmt::format("foretrace: {} {}, as #{}\n", launch_text(line), time_text(time.seconds), time.by));
}

/// For the time line.
void Journal::trace(const LaunchLine& line, std::string how) {
  if (trace_.perfetto.empty()) return;
  spans_.push_back({line.index, line.kernel, shape_text(line), std::move(how)});
}

void Journal::place_launches() { place_held(false); }

void Journal::place_held(bool all) {
  const std::lock_guard lock(saving_->mutex);
  while (report::LaunchPlace* first = document_->first_held()) {
    const host::WorkId id = line_.work_of_launch(*first->number);
    const bool settled = id != host::kNoWork && line_.schedule().final(id);
    if (!settled && !all) return;
    if (settled) {
      first->start_ns = line_.schedule()[id].begin;
      first->end_ns = line_.schedule()[id].end;
      first->beside = launch_beside(line_.schedule(), id);
    }
    document_->settle();
    saving_->unsaved = true;
  }
}

/// With saving_ held.
void Journal::place_represented() {
  for (report::RepresentedLaunch& launch : program_.represented) {
    const host::WorkId id = line_.work_of_launch(launch.number);
    if (id == host::kNoWork) continue;
    launch.start_ns = line_.schedule()[id].begin;
    launch.end_ns = line_.schedule()[id].end;
  }
}

void Journal::emulated(const LaunchLine& line) {
  count(line, false);
  if (!settings_.quiet && !settings_.functional)
    say(fmt::format("foretrace: {} not predicted\n", launch_text(line)));
}

void Journal::fault(const LaunchLine& line, const std::string& what, const char* code) {
  ++program_.launches;
  ++program_.faults;
  say(fmt::format("foretrace: #{} {}: {}\n", line.index, code, what));
}

/// The represented launches' times, from all that was simulated, and their sum.
void Journal::settle() {
  const std::lock_guard lock(saving_->mutex);
  place_represented();
  if (!settings_.functional) program_.time_line = time_line_result(line_, ranges_.all(), settings_);
  if (representatives_ == nullptr || program_.represented.empty()) return;
  const std::vector<sampling::RepresentedLaunch> times = representatives_->represented();
  auto launch = program_.represented.begin();
  for (const sampling::RepresentedLaunch& time : times) {
    FORETRACE_ASSERT(launch != program_.represented.end() && launch->number == time.launch,
                     "each represented launch has its time");
    launch->by = time.time.by;
    launch->duration_ns = time.time.seconds * 1e9;
    launch->duration_low_ns = time.time.low * 1e9;
    launch->duration_high_ns = time.time.high * 1e9;
    PerKernel& per = kernels_[title_of(launch->kernel, launch->operation)];
    per.seconds += time.time.seconds;
    per.longest = std::max(per.longest, time.time.seconds);
    ++launch;
  }
  const sampling::TimeEstimate total = representatives_->total();
  program_.duration_ns = total.seconds * 1e9;
  program_.duration_low_ns = total.low * 1e9;
  program_.duration_high_ns = total.high * 1e9;
}

namespace {

/// What the launches' times leave out of memory that is not the GPU's own.
std::string memory_text(const report::ProgramResult& program) {
  const auto had = [](std::uint64_t launches, const char* memory, const char* missing) {
    return launches == 0
               ? std::string()
               : fmt::format("foretrace: {} of them had arguments in {}: their times leave out {}\n",
                             launches, memory, missing);
  };
  return had(program.pinned_memory, "pinned host memory",
             "the way to the host, as if it were the GPU's own") +
         had(program.managed_memory, "managed memory",
             "the moving of its pages, as if the GPU had them all") +
         had(program.peer_memory, "another GPU's memory", "what that GPU does meanwhile");
}

}  // namespace

std::string Journal::summary() {
  const std::uint64_t predicted = program_.simulated + program_.represented.size();
  std::string text =
      fmt::format("foretrace: {} launch{}", program_.launches, program_.launches == 1 ? "" : "es");
  if (predicted != 0) {
    text += fmt::format(", {} predicted for {}: {} of GPU time", predicted, chip_,
                        time_text(program_.duration_ns * 1e-9));
  }
  if (program_.faults != 0) text += fmt::format(", {} ended by a fault", program_.faults);
  text += "\n";
  if (!program_.represented.empty()) {
    text += fmt::format(
        "foretrace: {} of them simulated ({:.2g}% of {:.3g} million warp instructions), {} represented by "
        "these; nine times in ten all of "
        "them simulated would take {} to {} (--simulate all)\n",
        program_.simulated,
        100.0 * static_cast<double>(program_.simulated_warp_instructions) /
            std::max(1.0, static_cast<double>(program_.warp_instructions)),
        1e-6 * static_cast<double>(program_.warp_instructions), program_.represented.size(),
        time_text(program_.duration_low_ns * 1e-9), time_text(program_.duration_high_ns * 1e-9));
  }
  if (repeated_ != 0) {
    text += fmt::format(
        "foretrace: {} of them not executed again: the same launch had found the same memory and left it as "
        "it was\n",
        repeated_);
  }
  if (predicted != 0) text += table() + memory_text(program_);
  // Of a program that launched nothing, what it copied is still worth a look.
  const bool timed = program_.time_line && program_.time_line->duration_ns > 0;
  if (timed && (predicted != 0 || program_.launches == 0)) text += time_line_text(*program_.time_line);
  return text;
}

std::string Journal::table() {
  std::vector<std::string> names = order_;
  std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
    return kernels_[a].seconds > kernels_[b].seconds;
  });
  std::map<std::string, std::size_t> alike;  // kernels that differ in what their names leave out
  for (const auto& [name, per] : kernels_) ++alike[per.shown];
  std::size_t width = std::string_view("limited by").size();
  for (const auto& [name, per] : kernels_)
    for (const auto& [limiter, seconds] : per.limiters) width = std::max(width, limiter.size());
  std::string text =
      fmt::format("foretrace: {:>6} {:>9} {:>9} {:>12} {:>12} {:>12}  {:<{}}  {}\n", "share", "launches",
                  "simulated", "time", "mean", "longest", "limited by", width, "kernel");
  for (const std::string& name : names) {
    const PerKernel& per = kernels_[name];
    const auto most = std::max_element(per.limiters.begin(), per.limiters.end(),
                                       [](const auto& a, const auto& b) { return a.second < b.second; });
    text +=
        fmt::format("foretrace: {:>5.1f}% {:>9} {:>9} {:>12} {:>12} {:>12}  {:<{}}  {}{}\n",
                    program_.duration_ns > 0 ? 100 * per.seconds * 1e9 / program_.duration_ns : 0.0,
                    per.launches, per.simulated, time_text(per.seconds),
                    per.predicted == 0 ? "-" : time_text(per.seconds / static_cast<double>(per.predicted)),
                    time_text(per.longest), most == per.limiters.end() ? "-" : most->first, width, per.shown,
                    alike[per.shown] == 1 ? "" : fmt::format(" (first: #{})", per.first));
  }
  for (const auto& [note, operators] : notes_)
    text += fmt::format("foretrace: [{}]: {}\n", fmt::join(operators, ", "), note);
  return text;
}

void Journal::end_saving() {
  if (!saving_->thread) return;
  {
    const std::lock_guard lock(saving_->mutex);
    saving_->ending = true;
  }
  saving_->wake.notify_all();
  saving_->thread->join();
}

void Journal::finish() {
  if (finished_) return;
  finished_ = true;
  clear_progress();
  own_process();
  if (process_ != settings_.process && program_.launches == 0) return;
  line_.settle();
  ranges_.close();
  if (process_ == settings_.process || program_.launches != 0) place_held(true);
  end_saving();
  settle();
  if (!settings_.json.empty()) {
    document_->forget_represented();
    for (const report::RepresentedLaunch& launch : program_.represented) document_->represent(launch);
    file_->finish(document_->parts(&program_));
  }
  if (!trace_.perfetto.empty())
    report::write_file(named(trace_.perfetto), perfetto_trace(spans_, line_, ranges_.all(), chip_));
  if (settings_.quiet) return;
  const std::string text = summary();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace foretrace::runtime
