// Blocks in index order, also where they wait for each other or run together.
#include <algorithm>
#include <map>
#include <utility>

#include "sim/emulate/schedule/block.h"
#include "sim/emulate/schedule/cluster.h"

namespace foretrace::emulate {

namespace {

/// Warp instructions without progress after which a block is taken to wait for another; fewer once that is known of the launch.
constexpr std::uint64_t kPatience = 1'000'000, kShortPatience = 10'000;
/// Many blocks may each compute for long without a store: each has to have done nothing else for this part of the limit.
constexpr std::uint64_t kLonelyShare = 4;
/// Turns that a block gets in a row where each gets it on: no more, because another may wait for what only looks like that.
constexpr int kTurnsInARow = 256;
/// Turns without effect after any change: warps that compete for a word by compare-and-swap find out in one what it is now, may yield in
/// the next, and change it in the third.
constexpr int kTurnsToSee = 3;
/// Blocks that share work, or that go around until others have done theirs, have turns of about so many warp instructions, in the order of
/// what they have issued: as if each took one time.
constexpr std::uint64_t kLead = 1'000;
/// Rounds of turns in vain, and warp instructions in vain of each, after which blocks that all ask memory are taken to wait for something
/// outside of the launch: one may ask of much before it comes to what it can do.
constexpr int kRoundsInVain = 64;
constexpr std::uint64_t kInVain = 10'000;

}  // namespace

struct BlockSequence::State {
  std::uint64_t started = 0;                      // clusters
  std::vector<std::unique_ptr<Cluster>> running;  // ascending; not all of their blocks have been returned
  std::map<const Cluster*, std::uint64_t> seen;   // `changes` at its last turn's end
  std::uint64_t changes = 0;                      // turns that got one of them on
  std::map<std::uint64_t, std::shared_ptr<work::BlockRecord>> ready;  // by block
  std::uint64_t next = 0;                                             // block
  bool starting = false;  // the last one was just started: the others go on waiting
  bool shares =
      false;  // turns in the order of what was issued: who comes next has the work, or goes around once more
  std::map<const Cluster*, std::uint64_t>
      late;               // what the others had issued when it was started, where that was later
  int in_vain = 0;        // rounds of turns without progress, all of whose blocks asked memory
  bool hopeless = false;  // nobody outside will answer them

  void start(const Emulator& emulator, bool recording, std::uint64_t resident) {
    const std::uint64_t since = shares && started >= resident ? least() : 0;
    running.push_back(std::make_unique<Cluster>(emulator, started++, recording));
    seen[running.back().get()] = changes;
    if (since != 0) late[running.back().get()] = since;
  }
  /// Starts as many as there is room for, each for its first instructions.
  void start_together(const Emulator& emulator, bool recording, std::uint64_t resident,
                      std::uint64_t clusters) {
    const std::uint32_t first = emulator.launch().translation->compiled.all_first;
    while (started < clusters && running.size() < resident) {
      start(emulator, recording, resident);
      running.back()->run(kPatience, first);
    }
  }
  /// What a cluster has issued, as a time.
  std::uint64_t time_of(const Cluster& cluster) const {
    const auto found = late.find(&cluster);
    return cluster.count().instructions + (found == late.end() ? 0 : found->second);
  }
  /// The least of those that have not ended; 0: there are none.
  std::uint64_t least() const {
    std::uint64_t result = ~std::uint64_t{0};
    for (const auto& cluster : running)
      if (!cluster->ended()) result = std::min(result, time_of(*cluster));
    return result == ~std::uint64_t{0} ? 0 : result;
  }
  /// Asks outside of the launch once all blocks wait. True: they may go on asking.
  bool wait(Outside* outside) {
    const bool all = std::all_of(running.begin(), running.end(), [](const auto& c) {
      return c->ended() || (c->polls() && c->idle() > kInVain);
    });
    if (outside == nullptr || !all || ++in_vain < kRoundsInVain) return false;
    in_vain = std::min(in_vain, kRoundsInVain + 1);
    hopeless = !outside->wait(in_vain > kRoundsInVain);
    return !hopeless;
  }
  /// One turn, and more as long as it gets on. True: it did.
  bool give_turns(Cluster& cluster, std::uint64_t patience) {
    const std::uint64_t before = changes;
    int idle = seen[&cluster] == changes ? 1 : kTurnsToSee;
    for (int turn = 0; turn < kTurnsInARow && idle > 0 && !cluster.ended(); ++turn) {
      cluster.run(patience, shares ? kLead : RunningBlock::kNoEnd);
      if (cluster.made_progress()) {
        ++changes;
        idle = kTurnsToSee;
      } else {
        --idle;
      }
      if (shares) break;
    }
    seen[&cluster] = changes;
    return changes != before;
  }
};

BlockSequence::BlockSequence(const Emulator& emulator, std::uint64_t resident, bool recording)
    : emulator_(emulator),
      resident_(std::max<std::uint64_t>(resident / emulator.launch().context.cluster.count(), 1)),
      recording_(recording), may_wait_(emulator.launch().context.cluster.count() > 1 ||
                                       blocks_may_wait(*emulator.launch().context.program)),
      state_(std::make_unique<State>()) {
  const Compiled& compiled = emulator.launch().translation->compiled;
  state_->shares =
      emulator.launch().context.cluster.count() == 1 && (compiled.shares_work || compiled.asks_in_loops);
}
BlockSequence::~BlockSequence() = default;

std::shared_ptr<work::BlockRecord> BlockSequence::next() {
  State& s = *state_;
  const std::uint64_t limit = emulator_.launch().context.idle_limit;
  const std::uint64_t clusters = emulator_.blocks() / emulator_.launch().context.cluster.count();
  const std::uint64_t patience = may_wait_ ? kPatience : limit;
  const bool together = emulator_.launch().context.cluster.count() == 1 &&
                        emulator_.launch().translation->compiled.all_first > 0;
  std::uint64_t idle = 0;
  while (s.next < emulator_.blocks()) {
    if (const auto found = s.ready.find(s.next); found != s.ready.end()) {
      const auto record = std::move(found->second);
      s.ready.erase(found);
      ++s.next;
      return record;
    }
    if (s.running.empty() && together) {
      s.start_together(emulator_, recording_, resident_, clusters);
    } else if (s.running.empty()) {
      s.start(emulator_, recording_, resident_);
    }
    // Each has its turn. The first alone, if it ends by itself, is the rule. Those that wait do not ask again as long as more are
    // started that come to wait as well: on a chip they all start at about the same time.
    bool progress = false;
    const std::uint64_t most = s.shares && !s.starting ? s.least() + kLead : ~std::uint64_t{0};
    for (const auto& cluster : s.running) {
      if (cluster->ended() || (s.starting && cluster != s.running.back())) continue;
      if (s.shares && s.time_of(*cluster) > most) continue;
      const std::uint64_t before = cluster->count().instructions;
      if (s.give_turns(*cluster,
                       std::min(s.running.size() > 1 && has_waited_ ? kShortPatience : patience, limit)))
        progress = true;
      idle += cluster->count().instructions - before;
      if (s.running.front()->ended()) break;
    }
    if (s.running.front()->ended()) {
      s.seen.erase(s.running.front().get());
      s.late.erase(s.running.front().get());
      const auto first = std::move(s.running.front());
      s.running.erase(s.running.begin());
      count_ += first->count();
      for (std::size_t rank = 0; rank < first->size(); ++rank)
        s.ready[first->record(rank)->block] = first->record(rank);
      continue;
    }
    has_waited_ = true;
    if (progress) idle = 0, s.in_vain = 0;
    const auto alive = static_cast<std::uint64_t>(
        std::count_if(s.running.begin(), s.running.end(), [](const auto& c) { return !c->ended(); }));
    const bool ended = std::exchange(s.starting, false) && s.running.back()->ended();
    if (s.started < clusters && alive < resident_ && !ended) {
      s.starting = true;
      s.start(emulator_, recording_, resident_);
      idle = 0, s.in_vain = 0;
    } else if (!progress && s.wait(emulator_.launch().context.outside)) {
      idle = 0;
    } else if (s.hopeless ||
               (idle > limit && std::all_of(s.running.begin(), s.running.end(), [&](const auto& c) {
                  return c->ended() || c->idle() > limit / kLonelyShare;  // one that computes is not waiting
                }))) {
      s.running.front()->block(0).fault_never_ends(idle);
    }
  }
  return nullptr;
}

}  // namespace foretrace::emulate
