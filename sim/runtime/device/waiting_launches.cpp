#include "sim/runtime/device/waiting_launches.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <thread>
#include <utility>

#include "sim/emulate/emulator.h"
#include "sim/runtime/device/capture.h"
#include "sim/runtime/device/clock.h"
#include "sim/runtime/device/launcher.h"
#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

namespace {

using Time = std::chrono::steady_clock;
constexpr std::chrono::seconds kForEver{10};
constexpr std::chrono::microseconds kShortestPause{20}, kLongestPause{1000};

thread_local emulate::Outside* outside_of_thread = nullptr;

}  // namespace

class WaitingLaunches::Launch final : public emulate::Outside {
 public:
  Launch(WaitingLaunches& all, cudaStream_t its_handle, const Stream& its_stream, const KernelCall& its_call)
      : handle(its_handle), stream(its_stream.id), device(its_stream.device),
        blocking((its_stream.flags & cudaStreamNonBlocking) == 0),
        legacy(all.state_.streams.is_legacy(&its_stream)), call(its_call), all_(all) {}

  void begin() {
    thread = std::thread([this] { work(); });
    const int depth = all_.state_.mutex.hand_over(thread.get_id());
    std::unique_lock lock(all_.mutex_);
    owner_ = thread.get_id();
    all_.changed_.notify_all();
    all_.changed_.wait(lock, [&] { return ended || waits; });
    lock.unlock();
    all_.state_.mutex.take(std::this_thread::get_id(), depth);
  }

  bool wait(bool again) override {
    {
      const std::lock_guard lock(all_.mutex_);
      waits = true;
      const auto now = Time::now();
      if (!again) pause_ = kShortestPause;
      if (!again || waited_for == 0) since_ = now;
      if (now - since_ > kForEver) return false;
      all_.changed_.notify_all();
    }
    all_.state_.mutex.release();
    std::this_thread::sleep_for(pause_);
    pause_ = std::min(2 * pause_, kLongestPause);
    all_.state_.mutex.take(owner_, 1);
    return true;
  }

  const cudaStream_t handle;
  const std::uint64_t stream;
  const int device;
  const bool blocking, legacy;
  const KernelCall call;
  std::thread thread;
  cudaError_t result = cudaSuccess;
  Executed executed;
  std::exception_ptr failure;
  std::vector<std::function<void()>> behind;
  // With the launches' mutex:
  bool ended = false, waits = false;
  int waited_for = 0;  ///< by so many threads

 private:
  void work() {
    {
      std::unique_lock lock(all_.mutex_);
      all_.changed_.wait(lock, [&] { return owner_ != LibraryLock::Owner{}; });
    }
    outside_of_thread = this;
    try {
      result = all_.state_.launcher->launch(call, executed);
    } catch (...) { failure = std::current_exception(); }
    all_.state_.mutex.release();
    const std::lock_guard lock(all_.mutex_);
    ended = true;
    all_.changed_.notify_all();
  }

  WaitingLaunches& all_;
  LibraryLock::Owner owner_;
  Time::time_point since_;
  std::chrono::microseconds pause_ = kShortestPause;
};

WaitingLaunches::~WaitingLaunches() = default;

emulate::Outside* WaitingLaunches::of_this_thread() { return outside_of_thread; }

bool WaitingLaunches::may_wait(const KernelCall& call) {
  const auto program = call.kernel->on(call.device).program();
  const auto [found, made] = may_wait_.try_emplace(program->mangled + program->code_sha256);
  if (made) found->second = emulate::blocks_may_wait(*program);
  return found->second;
}

bool WaitingLaunches::launch(cudaStream_t handle, const Stream& stream, const KernelCall& call,
                             cudaError_t& result, Executed& executed) {
  const auto launch = std::make_shared<Launch>(*this, handle, stream, call);
  launch->begin();
  const std::unique_lock lock(mutex_);
  if (!launch->ended) {
    launches_.push_back(launch);
    return false;
  }
  launch->thread.join();
  if (launch->failure) std::rethrow_exception(launch->failure);
  result = launch->result;
  executed = launch->executed;
  return true;
}

std::shared_ptr<WaitingLaunches::Launch> WaitingLaunches::last_before(const Stream& stream) const {
  const bool blocking = (stream.flags & cudaStreamNonBlocking) == 0;
  const bool legacy = state_.streams.is_legacy(&stream);
  const auto found = std::find_if(launches_.rbegin(), launches_.rend(), [&](const auto& launch) {
    return launch->stream == stream.id || (launch->device == stream.device &&
                                           ((legacy && launch->blocking) || (launch->legacy && blocking)));
  });
  return found == launches_.rend() ? nullptr : *found;
}

void WaitingLaunches::put_behind(const Stream& stream, std::function<void()> work) {
  last_before(stream)->behind.push_back(std::move(work));
}

void WaitingLaunches::put_behind(Stream& stream, Event& event) {
  events_[&event] = last_before(stream);
  put_behind(stream, [this, &stream, &event] {
    if (events_.erase(&event) != 0) (void)record_event(state_, event, stream);
  });
}

void WaitingLaunches::collect() {
  for (;;) {
    std::shared_ptr<Launch> ended;
    {
      const std::lock_guard lock(mutex_);
      const auto found =
          std::find_if(launches_.begin(), launches_.end(), [](const auto& launch) { return launch->ended; });
      if (found == launches_.end()) return;
      ended = *found;
      launches_.erase(found);
    }
    ended->thread.join();
    if (ended->failure) std::rethrow_exception(ended->failure);
    const Stream* stream = state_.streams.find(ended->handle);
    if (ended->result == cudaSuccess && stream != nullptr)
      state_.clock->give(state_, *stream, ended->call, ended->executed);
    for (const std::function<void()>& work : ended->behind) work();
  }
}

void WaitingLaunches::finish(const std::function<std::shared_ptr<Launch>()>& next) {
  for (collect();; collect()) {
    const std::shared_ptr<Launch> launch = next();
    if (launch == nullptr) return;
    const int depth = state_.mutex.give_up();
    {
      std::unique_lock lock(mutex_);
      ++launch->waited_for;
      changed_.wait(lock, [&] { return launch->ended; });
      --launch->waited_for;
    }
    state_.mutex.take(std::this_thread::get_id(), depth);
  }
}

void WaitingLaunches::finish(const Stream& stream) {
  finish([&] { return last_before(stream); });
}
void WaitingLaunches::finish() {
  finish([&] { return launches_.empty() ? nullptr : launches_.back(); });
}
void WaitingLaunches::finish(const Event& event) {
  finish([&] {
    const auto found = events_.find(&event);
    return found == events_.end() ? nullptr : found->second;
  });
}

}  // namespace foretrace::runtime
