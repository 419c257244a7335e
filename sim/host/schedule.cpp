#include "sim/host/schedule.h"

#include <algorithm>
#include <cmath>

#include "model/units/error.h"

namespace foretrace::host {

namespace {

constexpr double kRoom = 1 + 1e-9;  // shares that sum to one in any order

/// Of a device, what one copy at a time has.
enum Engine : std::size_t { kIn, kOut, kSends, kReceives };
bool on_engine(WorkKind kind) {
  return kind == WorkKind::copy_in || kind == WorkKind::copy_out || kind == WorkKind::peer_copy;
}
Engine engine_of(WorkKind kind) {
  return kind == WorkKind::copy_in ? kIn : kind == WorkKind::copy_out ? kOut : kSends;
}
/// Whether the second is a copy of the engine that did, or recorded, the first.
bool same_engine(const Work& before, const Work& next) {
  return before.source == next.kind && (next.kind != WorkKind::peer_copy || before.sender == next.sender);
}

/// Whether the second is a dependent launch behind a kernel, which may let it go before it ends.
bool follows(const Work& before, const Work& next) {
  return next.dependent && before.kind == WorkKind::kernel && before.stream == next.stream;
}

}  // namespace

const char* name_of(WorkKind kind) {
  switch (kind) {
    case WorkKind::kernel: return "kernel";
    case WorkKind::fill: return "fill";
    case WorkKind::device_copy: return "copy on the device";
    case WorkKind::inline_copy:
    case WorkKind::copy_in: return "copy to the device";
    case WorkKind::copy_out: return "copy to the host";
    case WorkKind::peer_copy: return "copy to another device";
    case WorkKind::host_copy: return "copy of pageable memory";
    case WorkKind::event: return "event";
    case WorkKind::marker: break;
  }
  return "marker";
}

WorkId Schedule::add(Work work) {
  const WorkId id = works_.size();
  if (const unsigned last = std::max({work.device, work.sender, work.receiver}); devices_.size() <= last)
    devices_.resize(last + 1);
  std::uint32_t missing = 0;
  for (const WorkId before : work.after) {
    FORETRACE_ASSERT(before < id, "work comes after work that is known");
    if (works_[before].settled) continue;
    followers_[before].push_back(id);
    ++missing;
  }
  works_.push_back(std::move(work));
  followers_.emplace_back();
  missing_.push_back(missing);
  if (missing == 0) ready_.push_back(id);
  return id;
}

/// From the end of one to the begin of the other.
double Schedule::gap(const Work& before, const Work& next) const {
  if (before.device != next.device && spec_.gap.device > 0)
    return spec_.gap.device + (on_engine(next.kind) ? spec_.gap.engine : 0);
  if (on_engine(before.source) && on_engine(next.kind)) return same_engine(before, next) ? 0 : spec_.gap.turn;
  if (on_engine(next.kind)) return spec_.gap.engine;
  if (on_engine(before.source)) return next.kind == WorkKind::event ? 0 : spec_.gap.leave;
  // What the call does first, and the way to the GPU, are over by then.
  if (next.kind == WorkKind::host_copy) return -spec_.link.arrival;
  double gap = 0;
  if (on_chip(before.kind)) {
    const bool graph = before.graph != 0 && before.graph == next.graph && on_chip(next.kind);
    gap = graph ? spec_.gap.graph : next.dependent ? spec_.gap.dependent : spec_.gap.stream;
  }
  if (before.stream != next.stream && next.graph == 0) gap += spec_.gap.wait;
  return gap;
}

/// The group that the kernel would run in if it were launched at `at`, itself last; none: it does not overlap with others, or what runs
/// is not known well enough.
std::vector<Sharing::Member> Schedule::beside(const Work& work, double at) const {
  const Device& device = devices_[work.device];
  if (sharing_ == nullptr || work.kind != WorkKind::kernel || device.group.size() >= kMostBeside) return {};
  bool overlaps = false;
  for (const Running& other : device.chip) {
    if (other.release <= at + kShort) continue;
    overlaps = true;
    if (std::find(device.group.begin(), device.group.end(), other.id) == device.group.end()) return {};
  }
  if (!overlaps || work.dependent) return {};
  std::vector<Sharing::Member> members;
  for (const WorkId id : device.group) members.push_back({works_[id].launch, works_[id].launched});
  members.push_back({work.launch, at});
  if (sharing_->possible(members) == Sharing::How::unknown) return {};
  return members;
}

/// A kernel has begun: those that it overlaps with take as long as they do together.
void Schedule::run_beside(WorkId id, double launched) {
  Work& work = works_[id];
  Device& device = devices_[work.device];
  work.launched = launched;
  const std::vector<Sharing::Member> members = beside(work, work.begin);
  if (members.empty()) {
    if (work.begin > launched + kShort) work.beside = Beside::shares;
    for (const Running& other : device.chip) {
      if (other.release <= work.begin + kShort) continue;
      work.beside = Beside::shares;
      if (works_[other.id].beside == Beside::alone) works_[other.id].beside = Beside::shares;
    }
    device.group = {id};
    return;
  }
  if (device.group.size() == 1) {
    device.number = groups_.size();
    groups_.push_back(device.group);
  }
  device.group.push_back(id);
  groups_[device.number] = device.group;
  const Sharing::How how = sharing_->possible(members);
  const std::vector<Sharing::Times> times = sharing_->times(members, how);
  for (std::size_t i = 0; i < members.size(); ++i) {
    Work& member = works_[device.group[i]];
    member.group = device.number;
    const bool last = i + 1 == members.size();
    if (!last && member.end <= work.launched + kShort) continue;  // what comes after it may have begun
    member.beside = how == Sharing::How::simulation ? Beside::simulated : Beside::rates;
    if (times[i].begin > member.begin && (last || member.begin > work.launched)) {
      // It finds no room yet: what it waits for is the one that ends last before that, or the first.
      member.bound = Bound::engine;
      if (i > 0) member.cause = device.group.front();
      for (const WorkId other : device.group) {
        if (other != device.group[i] && works_[other].end <= times[i].begin) member.cause = other;
      }
      member.begin = times[i].begin;
    }
    member.end = std::max(times[i].end, work.launched);
    for (Running& running : device.chip) {
      if (running.id == device.group[i]) running.release = std::max(member.begin, member.end + overlap());
    }
  }
}

/// The first time from start.at on at which the chip has room.
void Schedule::wait_for_chip(const Work& work, Start& start) const {
  const Device& device = devices_[work.device];
  const double dispatch = device.last_dispatch + spec_.gap.dispatch;
  if (start.at < dispatch && !device.chip.empty() && work.kind == WorkKind::kernel) {
    start = {dispatch, Bound::engine, device.chip.back().id};
  }
  start.launched = start.at;
  if (!beside(work, start.at).empty()) return;  // its blocks find theirs
  while (true) {
    double used = work.share, next = kNever;
    WorkId first = kNoWork;
    for (const Running& other : device.chip) {
      if (other.release <= start.at) continue;
      used += works_[other.id].share;
      if (other.release < next) next = other.release, first = other.id;
    }
    if (used <= kRoom || first == kNoWork) return;
    start = {next, Bound::engine, first, start.launched};
  }
}

/// The begin of a kernel is its preparation, which needs no room: as long as the closest of two kernels overlap.
double Schedule::overlap() const {
  return std::min({0.0, spec_.gap.stream, spec_.gap.graph, spec_.gap.dependent});
}

/// The last copy of the engine that does this one; kNoWork: it had none.
WorkId Schedule::last_on_engine(const Work& work) const {
  const unsigned device = work.kind == WorkKind::peer_copy ? work.sender : work.device;
  return devices_[device].copying[engine_of(work.kind)];
}

/// When it is seen what is over at `at` by who has waited for it since `since`: without pause for a while, then every `engine_poll`, counted
/// from `from`; after long waits they are told.
double Schedule::seen(double at, double since, double from) const {
  const double wait = at - since, poll = spec_.gap.engine_poll;
  if (poll <= 0 || wait <= spec_.gap.engine_spin || wait > spec_.gap.engine_told) return at;
  return from + std::ceil((at - from) / poll) * poll;
}

/// When the engine begins a copy whose turn is at `at`. Its looks are counted from when it saw its last copy's turn, or from this one's
/// arrival.
double Schedule::seen_by_engine(const Work& work, double at) const {
  const WorkId last = last_on_engine(work);
  const bool first = last == kNoWork || works_[last].end < work.arrival;
  return seen(at, first ? work.arrival : works_[last].end,
              first ? work.arrival + spec_.gap.engine : works_[last].begin);
}

/// When a stream sees that another device's work is over: it has waited since all that the work comes after on its own device was over, and
/// its looks are counted from its first answer.
double Schedule::seen_by_device(const Work& work, double at) const {
  if (spec_.gap.device <= 0) return at;
  double since = work.arrival;
  for (const WorkId id : work.after) {
    if (works_[id].device == work.device) since = std::max(since, works_[id].end);
  }
  return seen(at, since, since + spec_.gap.device);
}

Schedule::Start Schedule::start_of(const Work& work) const {
  Start start{work.arrival, Bound::arrival, kNoWork};
  for (const WorkId id : work.after) {
    const Work& before = works_[id];
    double at = std::max(before.begin, before.end + gap(before, work));
    if (follows(before, work)) at = std::clamp(before.let_go + spec_.gap.release, before.begin, at);
    if (before.device != work.device)
      at = seen_by_device(work, at);
    else if (on_engine(work.kind) && !on_engine(before.source))
      at = seen_by_engine(work, at);
    if (at >= start.at) start = {at, Bound::after, id};
  }
  if (on_chip(work.kind)) wait_for_chip(work, start);
  if (on_engine(work.kind)) {
    const auto wait_for = [&](WorkId last) {
      if (last != kNoWork && works_[last].end > start.at) start = {works_[last].end, Bound::engine, last};
    };
    wait_for(last_on_engine(work));
    if (work.kind == WorkKind::peer_copy) wait_for(devices_[work.receiver].copying[kReceives]);
  }
  return start;
}

/// A copy that begins while one of the other direction goes on: both are slower until one of them ends.
void Schedule::share_link(Work& work, double alone) {
  const WorkId id = devices_[work.device].copying[work.kind == WorkKind::copy_in ? kOut : kIn];
  work.end = work.begin + alone;
  if (id == kNoWork || works_[id].end <= work.begin) return;
  Work& other = works_[id];
  const double slower = std::min(1.0, spec_.copy.both_rate / (spec_.copy.in_rate + spec_.copy.out_rate));
  const double left = other.end - work.begin, both = std::min(left, alone);
  other.end = work.begin + both / slower + (left - both);
  work.end = work.begin + both / slower + (alone - both);
}

/// When work that begins ends, and lets the next go: a dependent launch waits where its code says, until the one before has ended.
void Schedule::hold(Work& work) const {
  const auto [waits, lets_go] = work.dependence;
  for (const WorkId id : work.after) {
    const Work& before = works_[id];
    if (waits < 0 || !follows(before, work)) continue;
    work.held = std::max(work.held, before.end + spec_.gap.resume - (work.begin + waits));
  }
  work.end = work.begin + work.ns + work.held;
  work.let_go = lets_go < 0 ? kNever : work.begin + lets_go + (lets_go > waits ? work.held : 0);
}

/// Of a peer copy that begins: how long it waits until its devices' links are awake.
double Schedule::wake_links(const Work& work) {
  if (spec_.gap.sleep_after <= 0) return 0;
  double awake = work.begin;
  for (const unsigned number : {work.sender, work.receiver}) {
    Device& device = devices_[number];
    if (work.begin > device.crossed + spec_.gap.sleep_after) device.awake = work.begin + spec_.gap.sleep_wake;
    awake = std::max(awake, device.awake);
  }
  for (const unsigned number : {work.sender, work.receiver}) {
    Device& device = devices_[number];
    device.crossed = std::max(device.crossed, awake + work.ns);
  }
  return awake - work.begin;
}

void Schedule::settle(WorkId id, const Start& start) {
  Work& work = works_[id];
  work.settled = true;
  work.begin = start.at;
  hold(work);
  work.bound = start.bound;
  work.cause = start.cause;
  work.source = work.kind;
  const bool behind = work.kind == WorkKind::event && start.cause != kNoWork;
  if (behind && on_engine(works_[start.cause].source)) {
    work.source = works_[start.cause].source;
    work.sender = works_[start.cause].sender;
  }
  Device& device = devices_[work.device];
  if (work.kind == WorkKind::peer_copy) {
    work.held = wake_links(work);
    work.end += work.held;
    devices_[work.sender].copying[kSends] = devices_[work.receiver].copying[kReceives] = id;
  } else if (on_engine(work.kind)) {
    if (spec_.copy.both_rate > 0) share_link(work, work.ns);
    device.copying[engine_of(work.kind)] = id;
  }
  if (on_chip(work.kind)) {
    std::erase_if(device.chip, [&](const Running& other) { return other.release <= start.at; });
    if (work.kind == WorkKind::kernel && sharing_ != nullptr) run_beside(id, start.launched);
    device.chip.push_back({id, std::max(work.begin, work.end + overlap())});
    device.last_dispatch = start.at;
  }
  passed_ = std::max(passed_, start.at);
  std::erase(ready_, id);
  for (const WorkId follower : followers_[id]) {
    if (--missing_[follower] == 0) ready_.push_back(follower);
  }
  followers_[id] = {};
}

bool Schedule::step(double limit) {
  WorkId best = kNoWork;
  Start first{kNever, Bound::arrival, kNoWork};
  for (const WorkId id : ready_) {
    const Start start = start_of(works_[id]);
    const bool sooner =
        best == kNoWork || start.at < first.at ||
        (start.at == first.at && (works_[id].priority < works_[best].priority ||
                                  (works_[id].priority == works_[best].priority && id < best)));
    if (sooner) best = id, first = start;
  }
  if (best == kNoWork || first.at >= limit) return false;
  settle(best, first);
  return true;
}

const Work& Schedule::settle_begin(WorkId id) {
  while (!works_[id].settled) {
    const bool settled = step(kNever);
    FORETRACE_ASSERT(settled, "work comes after earlier work alone");
  }
  return works_[id];
}

const Work& Schedule::settle_end(WorkId id) {
  settle_begin(id);
  while (step(works_[id].end)) {}
  passed_ = std::max(passed_, works_[id].end);
  return works_[id];
}

void Schedule::settle_all() {
  while (step(kNever)) {}
  passed_ = kNever;
}

}  // namespace foretrace::host
