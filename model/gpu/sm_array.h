// The SMs of a launch: they run alone within a window, and between windows they are told what others did.
//
// Time:    an SM is simulated in a window only where it has an event or a reply in it.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "model/gpu/dispatcher.h"
#include "model/gpu/gpu.h"
#include "model/gpu/reply_router.h"
#include "model/sm/sm.h"
#include "model/support/team.h"

namespace foretrace::gpu {

class SmArray {
 public:
  /// References must outlive the object.
  SmArray(const spec::GpuSpec& spec, const sm::StaticProgram& program, const LaunchSetup& setup,
          memory::GpcCaches& code);
  SmArray(const SmArray&) = delete;
  SmArray& operator=(const SmArray&) = delete;

  void place(Dispatcher::Placement& placement, std::shared_ptr<const work::BlockRecord> record);
  /// The next time at which an SM has something to do. Where that is later than `now`, replies are given out first.
  Cycle next_event(Cycle now);
  /// Whether an SM has something to do before `time`.
  bool busy_before(Cycle time) const;
  /// Nothing happens any more: warps that wait for what will never come go on. False: none does.
  bool let_go(Cycle now);
  /// Runs all SMs up to `until`, and `beside` on one of the threads.
  void advance(support::Team& team, Cycle until, const std::function<void()>& beside);
  /// What SMs told each other and asked of the GPCs' caches in the window.
  void exchange();
  /// Where the memory system's replies go, on any thread; hand_out() then passes them on.
  memory::Replies& incoming() { return replies_.incoming(); }
  void hand_out();
  /// Warps that ended in the window, in order of (time, SM).
  const std::vector<sm::WarpEnd>& ends();

  /// Where requests to the memory system stand: by SM, then those of the GPCs' caches.
  const std::vector<std::vector<memory::Request>*>& outboxes() const { return outboxes_; }
  const sm::Sm& at(std::size_t i) const { return *sms_[i]; }
  /// Time of the last reply of the memory system.
  Cycle last_reply() const { return replies_.last(); }
  /// Adds what is counted of all SMs.
  void count(Snapshot& into) const;
  /// Adds what had been counted at `into.now`, to which all SMs have been simulated; waits that last are counted up to it.
  void count(stats::Instant& into) const;
  /// Closes the accounts at `now` and adds all counters. `stopped`: something may be under way.
  void finish(Cycle now, bool stopped, stats::LaunchCounters& into);

 private:
  void deliver(std::size_t i);
  void send(std::vector<sm::ClusterMessage>& list);

  const spec::GpuSpec& spec_;
  const sm::StaticProgram& program_;
  const LaunchSetup& setup_;
  memory::GpcCaches& code_;
  const bool clusters_;
  std::vector<std::unique_ptr<sm::Sm>> sms_;  // none before the SM's first block
  std::vector<memory::Request> no_requests_;
  std::vector<std::vector<memory::Request>*> outboxes_;
  std::vector<Cycle> next_;  // by SM: its next event, replies that wait for it apart
  ReplyRouter replies_;
  std::vector<memory::CodeRequest> code_requests_;
  std::vector<memory::Reply> code_replies_;
  std::vector<sm::ClusterMessage> messages_;
  std::vector<sm::WarpEnd> ends_;
};

}  // namespace foretrace::gpu
