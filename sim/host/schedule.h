// When each piece of work on a GPU begins and ends: streams in order, copy engines, kernels side by side where there is room.
//
// Models:  a piece of work begins when it has arrived, when all that it comes after has ended (and the gap between the two is over), and
//          when its engine is free; of several that may begin, the one that may begin first does, then the one of higher priority, then
//          the one that was given first. Kernels that overlap take the times that somebody else says (sharing.h: they are simulated
//          together) where that one can; others are beside each other while their shares of the chip's room for blocks sum to one at
//          most. They begin `dispatch` apart. Copies of opposite directions share the link. A peer copy has the sender's way out and the
//          receiver's way in to itself, whichever stream it was given to: a link has its bandwidth each way for each device. A
//          device's link that no copy has crossed for `sleep_after`, and before the first, sleeps; a copy that begins then holds it until it
//          is awake, `sleep_wake` later, and has been sent.
//          A programmatic dependent launch begins when the kernel before it lets it go, does what it does before it waits, and goes on
//          when that one has ended (Programming Guide, Programmatic Dependent Launch).
//          Each device has a chip and copy engines of its own. Times settle in order of their beginnings, as far as somebody asks, so that later work can still come first elsewhere.
//          What waits for another device's work sees its end as a copy engine does a kernel's: at once for a while, then at every look.
// Ignores: of kernels by their shares: blocks of one that fill what another leaves while it ends, and how much they slow each other.
//          Of kernels that are simulated together: priorities; what overlaps by less than kShort; a member's time after what comes
//          behind it has begun. Of links: copies and kernels of the host that pass over the same wires (PCIe); loads and stores
//          of kernels neither wake one nor wait for it.
// Units:   nanoseconds.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "sim/host/host_spec.h"
#include "sim/host/sharing.h"

namespace foretrace::host {

using WorkId = std::size_t;
inline constexpr WorkId kNoWork = ~WorkId{0};

enum class WorkKind {
  kernel,
  fill,         ///< on the chip, as a kernel
  device_copy,  ///< likewise
  inline_copy,  ///< of few bytes, with the commands
  copy_in,
  copy_out,
  peer_copy,  ///< from one device to another
  host_copy,  ///< of pageable memory: the host's own doing
  event,
  marker  ///< begin and end of a graph, functions of the host: no engine
};
const char* name_of(WorkKind kind);
inline bool on_chip(WorkKind kind) {
  return kind == WorkKind::kernel || kind == WorkKind::fill || kind == WorkKind::device_copy;
}

/// How a kernel's time beside others was found.
enum class Beside {
  alone,      ///< nothing of note ran beside it
  simulated,  ///< with the others of its group, in one simulation
  rates,      ///< with the others of its group, from what each asks of the chip
  shares      ///< by its share of the chip: as if nothing slowed it
};

/// Of a kernel by itself, ns from its begin; below 0: it does not.
struct Dependence {
  double waits = -1;    ///< until it waits for the kernel before it
  double lets_go = -1;  ///< until all of its blocks have let the next one go
};

/// What a beginning waited for last.
enum class Bound { arrival, after, engine };

struct Work {
  WorkKind kind = WorkKind::marker;
  std::uint64_t stream = 0;
  unsigned device = 0;                ///< whose chip and copy engines
  unsigned sender = 0, receiver = 0;  ///< of a peer copy: the devices whose links carry it
  unsigned thread = 0;                ///< of the host, that asked for it
  double arrival = 0;                 ///< when the GPU has it
  double ns = 0;                      ///< alone
  double share = 1;                   ///< of the chip's room for blocks; 1: all of it
  int priority = 0;                   ///< lower first, as CUDA numbers them
  std::uint64_t graph = 0;            ///< which launch of a graph; 0: none
  bool dependent = false;             ///< a programmatic dependent launch
  Dependence dependence = {};         ///< of a kernel
  std::uint64_t bytes = 0;            ///< of a copy or fill
  std::uint64_t launch = kNoLaunch;   ///< a kernel's number in the program
  std::vector<WorkId> after;
  static constexpr std::uint64_t kNoLaunch = ~std::uint64_t{0};

  // What the schedule says.
  bool settled = false;
  double begin = 0, end = 0;
  Bound bound = Bound::arrival;
  WorkId cause = kNoWork;  ///< the work that its beginning waited for; none: its arrival
  double held =
      0;  ///< ns: of a dependent launch, that it waits for the kernel before it; of a peer copy, for its links
  double let_go = 0;    ///< of a kernel: when the next one may begin, if it is a dependent launch
  double launched = 0;  ///< of a kernel: when its blocks could have begun, had there been room
  Beside beside = Beside::alone;
  std::size_t group = 0;  ///< in groups(), where its time is that of a group
  /// Its time from launch to end by its time alone.
  double slowed() const { return ns > 0 ? (end - launched) / ns : 1; }
  /// Whose end it stands for: of an event behind a copy engine's copy, which that engine records, that copy's kind (and sender).
  WorkKind source = WorkKind::marker;
};

class Schedule {
 public:
  /// Kernels that overlap take the times that `sharing` says; null: those that they take alone. Both must outlive the schedule.
  explicit Schedule(const HostSpec& spec, Sharing* sharing = nullptr) : spec_(spec), sharing_(sharing) {}
  /// Kernels that shared the chip, each group in the order of their launches.
  const std::vector<std::vector<WorkId>>& groups() const { return groups_; }
  /// Whether its begin and end are known for good.
  bool final(WorkId id) const {
    return works_[id].settled && (sharing_ == nullptr || works_[id].end <= passed_);
  }
  /// `after` names work that was added before.
  WorkId add(Work work);
  const Work& operator[](WorkId id) const { return works_[id]; }
  std::size_t size() const { return works_.size(); }
  /// Settles until the work has begun, or ended: nothing that has been added can change either any more.
  const Work& settle_begin(WorkId id);
  const Work& settle_end(WorkId id);
  void settle_all();

 private:
  struct Start {
    double at = 0;
    Bound bound = Bound::arrival;
    WorkId cause = kNoWork;
    double launched = 0;  // before it waited for room on the chip
  };
  double gap(const Work& before, const Work& next) const;
  void hold(Work& work) const;
  double wake_links(const Work& work);
  Start start_of(const Work& work) const;
  WorkId last_on_engine(const Work& work) const;
  double seen(double at, double since, double from) const;
  double seen_by_device(const Work& work, double at) const;
  double seen_by_engine(const Work& work, double at) const;
  void wait_for_chip(const Work& work, Start& start) const;
  double overlap() const;
  /// Settles the next one if it begins before `limit`.
  bool step(double limit);
  void settle(WorkId id, const Start& start);
  void share_link(Work& work, double alone);
  std::vector<Sharing::Member> beside(const Work& work, double at) const;
  void run_beside(WorkId id, double launched);

  /// Kernels that overlap by less, ns, are no group.
  static constexpr double kShort = 2000;
  static constexpr std::size_t kMostBeside =
      64;  ///< of a group, whose times are found again with each that joins
  const HostSpec& spec_;
  Sharing* const sharing_;
  double passed_ = 0;  // nothing that has been added begins before
  std::vector<std::vector<WorkId>> groups_;
  std::vector<Work> works_;
  std::vector<std::vector<WorkId>> followers_;
  std::vector<std::uint32_t> missing_;  // of `after`, not settled
  std::vector<WorkId> ready_;
  struct Running {
    WorkId id;
    double release;
  };
  struct Device {
    std::vector<Running> chip;
    double last_dispatch = -1e300;
    std::vector<WorkId> group;  // kernels that overlap, the last ones
    std::size_t number = 0;     // of the group, once there are several
    std::array<WorkId, 4> copying{kNoWork, kNoWork, kNoWork, kNoWork};  // the last copy, by Engine
    double crossed = -kNever;                                           // when its link was last in use
    double awake = 0;                                                   // since when it has been awake
  };
  std::vector<Device> devices_{1};
};

}  // namespace foretrace::host
