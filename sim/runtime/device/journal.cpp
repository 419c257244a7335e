#include "sim/runtime/device/journal.h"

#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include <fmt/format.h>

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

std::string launch_text(const LaunchLine& line) {
  return fmt::format("#{} {} <<<{}, {}{}>>>", line.index, line.kernel, dimensions(line.grid),
                     dimensions(line.block),
                     line.dynamic_shared == 0 ? "" : fmt::format(", {}", line.dynamic_shared));
}

/// Of a launch that was not simulated to its end: which share was.
std::string estimate_text(const sampling::Estimate& estimate) {
  return estimate.sampled ? fmt::format(" (estimated, {:.0f}% simulated)", 100 * estimate.simulated)
                          : std::string();
}

}  // namespace

Journal::Journal(const Settings& settings, std::string chip) : settings_(settings), chip_(std::move(chip)) {
  terminal_ = isatty(STDERR_FILENO) != 0;
  begun_ = last_shown_ = std::chrono::steady_clock::now();
  begin_document();
  process_ = getpid();
}

void Journal::begin_document() {
  report::Document head;
  head.foretrace = settings_.version;
  head.commit = settings_.commit;
  head.command = settings_.command;
  document_ = std::make_unique<report::DocumentText>(head);
}

Journal::~Journal() = default;

/// A process that was forked starts anew: the launches before belong to its parent, and so does the thread that saves.
void Journal::own_process() {
  if (process_ == getpid()) return;
  process_ = getpid();
  (void)saver_.release();
  begin_document();
  kernels_.clear();
  order_.clear();
  launches_ = predicted_ = faults_ = 0;
  seconds_ = 0;
  unsaved_ = false;
}

std::string Journal::file() const {
  std::string name = settings_.json;
  const std::string process = std::to_string(process_);
  const auto place = name.find("%p");
  if (place != std::string::npos) return name.replace(place, 2, process);
  return process_ == settings_.process ? name : name + "." + process;
}

/// With saving_ held.
void Journal::save() {
  report::write_file(file(), document_->text());  // by renaming
  unsaved_ = false;
}

void Journal::save_now_and_then() {
  std::unique_lock lock(saving_);
  while (!ending_) {
    const auto begin = std::chrono::steady_clock::now();
    try {
      if (unsaved_) save();
    } catch (const std::exception&) { return; }  // finish() says it
    // A document that takes long to write is not written all the time.
    const auto taken = std::chrono::steady_clock::now() - begin;
    wake_.wait_for(lock, std::max<std::chrono::steady_clock::duration>(std::chrono::seconds(1), 4 * taken),
                   [&] { return ending_; });
  }
}

void Journal::keep(report::LaunchResult result) {
  const std::lock_guard lock(saving_);
  document_->add(std::move(result));
  unsaved_ = true;
  // A pipe or a terminal gets the whole once, at the end.
  std::error_code none;
  if (std::filesystem::exists(file(), none) && !std::filesystem::is_regular_file(file(), none)) return;
  if (!saver_) saver_ = std::make_unique<std::thread>([this] { save_now_and_then(); });
}

void Journal::count(const LaunchLine& line) {
  ++launches_;
  const auto [kernel, fresh] = kernels_.try_emplace(line.kernel);
  if (fresh) order_.push_back(line.kernel);
  ++kernel->second.launches;
}

void Journal::say(const std::string& text) {
  clear_progress();
  std::fwrite(text.data(), 1, text.size(), stderr);
}

void Journal::clear_progress() {
  if (shown_) std::fputs("\r\033[K", stderr);
  shown_ = false;
}

void Journal::begin() {
  own_process();
  begun_ = std::chrono::steady_clock::now();
}

void Journal::progress(const std::string& kernel, std::uint64_t done, std::uint64_t of) {
  if (settings_.quiet) return;
  const auto now = std::chrono::steady_clock::now();
  const auto patience = terminal_ ? std::chrono::milliseconds(1000) : std::chrono::milliseconds(20'000);
  if (now - begun_ < patience || now - last_shown_ < patience / 5) return;
  last_shown_ = now;
  const std::string text = fmt::format("foretrace: #{} {}: {} of {} blocks", launches_, kernel, done, of);
  if (!terminal_) {
    begun_ = now;
    std::fputs((text + "\n").c_str(), stderr);
    return;
  }
  shown_ = true;
  std::fputs(("\r\033[K" + text).c_str(), stderr);
}

double Journal::predicted(const LaunchLine& line, const report::Prediction& prediction) {
  report::LaunchResult result = report::make_result(prediction);
  const double seconds = result.metrics.get("gpu__time_duration.sum", 0) * 1e-9;
  count(line);
  ++predicted_;
  seconds_ += seconds;
  PerKernel& per = kernels_[line.kernel];
  ++per.predicted;
  per.seconds += seconds;
  per.longest = std::max(per.longest, seconds);
  ++per.limiters[result.limiter.name];
  if (!settings_.quiet)
    say(fmt::format("foretrace: {} {}, {}\n", launch_text(line),
                    time_text(seconds) + estimate_text(result.estimate), result.limiter.name));
  if (!settings_.json.empty()) keep(std::move(result));
  return seconds;
}

void Journal::emulated(const LaunchLine& line) {
  count(line);
  if (!settings_.quiet && !settings_.functional)
    say(fmt::format("foretrace: {} not predicted\n", launch_text(line)));
}

void Journal::fault(const LaunchLine& line, const std::string& what, const char* code) {
  ++launches_;
  ++faults_;
  say(fmt::format("foretrace: #{} {}: {}\n", line.index, code, what));
}

void Journal::finish() {
  if (finished_) return;
  finished_ = true;
  clear_progress();
  own_process();
  if (process_ != settings_.process && launches_ == 0) return;
  if (saver_) {
    {
      const std::lock_guard lock(saving_);
      ending_ = true;
    }
    wake_.notify_all();
    saver_->join();
  }
  if (!settings_.json.empty()) {
    const std::lock_guard lock(saving_);
    save();
  }
  if (settings_.quiet) return;
  std::string text = fmt::format("foretrace: {} launches", launches_);
  if (predicted_ != 0)
    text += fmt::format(", {} predicted for {}: {} of GPU time", predicted_, chip_, time_text(seconds_));
  if (faults_ != 0) text += fmt::format(", {} ended by a fault", faults_);
  text += "\n";
  if (predicted_ != 0) {
    std::vector<std::string> names = order_;
    std::stable_sort(names.begin(), names.end(), [&](const std::string& a, const std::string& b) {
      return kernels_[a].seconds > kernels_[b].seconds;
    });
    text += fmt::format("foretrace: {:>6} {:>9} {:>12} {:>12} {:>12}  {:<24} {}\n", "share", "launches",
                        "time", "mean", "longest", "limited by", "kernel");
    for (const std::string& name : names) {
      const PerKernel& per = kernels_[name];
      const auto most = std::max_element(per.limiters.begin(), per.limiters.end(),
                                         [](const auto& a, const auto& b) { return a.second < b.second; });
      text +=
          fmt::format("foretrace: {:>5.1f}% {:>9} {:>12} {:>12} {:>12}  {:<24} {}\n",
                      seconds_ > 0 ? 100 * per.seconds / seconds_ : 0.0, per.launches, time_text(per.seconds),
                      per.predicted == 0 ? "-" : time_text(per.seconds / static_cast<double>(per.predicted)),
                      time_text(per.longest), most == per.limiters.end() ? "-" : most->first, name);
    }
    text +=
        "foretrace: launches are predicted one by one: what streams would run side by side is not "
        "overlapped\n";
  }
  std::fwrite(text.data(), 1, text.size(), stderr);
}

}  // namespace foretrace::runtime
