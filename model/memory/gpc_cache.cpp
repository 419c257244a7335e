#include "model/memory/gpc_cache.h"

#include <algorithm>

#include "model/memory/topology.h"
#include "model/units/error.h"

namespace foretrace::memory {

GpcCaches::GpcCaches(const spec::GpuSpec& spec)
    : spec_(spec), block_bytes_(spec.gpc_cache.line_bytes), pieces_(spec.gpc_cache.line_bytes / kLineBytes),
      sets_(static_cast<std::uint32_t>(spec.gpc_cache.bytes / block_bytes_ / spec.gpc_cache.ways)),
      way_cycles_(static_cast<double>(block_bytes_) / spec.gpc_cache.fill_bytes *
                  static_cast<double>(spec.clock.sm) / static_cast<double>(spec.clock.l2)) {
  FORETRACE_ASSERT(sets_ > 0, "a GPC's cache holds a set of lines");
}

void GpcCaches::begin_launch(std::uint64_t code, std::uint64_t code_bytes) {
  code_requests_ = code_misses_ = constant_requests_ = constant_misses_ = 0;
  outbox.clear();
  fetch_.clear();
  free_fetches_.clear();
  tpc_.assign((spec_.sm.count + 1) / 2, {});
  gpc_.assign(spec_.sm.gpcs, {});
  parameters_late_ = code_bytes > spec_.gpc_cache.parameter_code;
  const std::uint64_t bytes =
      std::min<std::uint64_t>({spec_.gpc_cache.preload_bytes, code_bytes, spec_.gpc_cache.bytes});
  for (Gpc& gpc : gpc_) {
    gpc.lines.resize(std::size_t{sets_} * spec_.gpc_cache.ways);
    for (std::uint64_t at = 0; at < bytes; at += block_bytes_)
      place(gpc, (code + at) / block_bytes_).arrived = 0;
  }
}

GpcCaches::Line* GpcCaches::find(Gpc& gpc, std::uint64_t block) {
  Line* set = gpc.lines.data() + block % sets_ * spec_.gpc_cache.ways;
  Line* end = set + spec_.gpc_cache.ways;
  Line* found =
      std::find_if(set, end, [block](const Line& line) { return line.used && line.block == block; });
  return found == end ? nullptr : found;
}

/// A line for `block`: an empty one or the least recently used. One on its way may go too; its fetch then answers those that wait and
/// leaves nothing behind.
GpcCaches::Line& GpcCaches::place(Gpc& gpc, std::uint64_t block) {
  Line* set = gpc.lines.data() + block % sets_ * spec_.gpc_cache.ways;
  Line* oldest = std::min_element(set, set + spec_.gpc_cache.ways,
                                  [](const Line& a, const Line& b) { return a.used < b.used; });
  *oldest = Line{block, ++gpc.clock, kNever, kNone};
  return *oldest;
}

/// When a lookup at `now` finds a line of the launch's parameters.
Cycle GpcCaches::parameters_here(Gpc& gpc, std::uint64_t block, Cycle now) {
  if (!parameters_late_) return now;
  const auto found = std::find_if(gpc.late.begin(), gpc.late.end(),
                                  [block](const Late& late) { return late.block == block; });
  if (found != gpc.late.end()) return std::max(now, found->here);
  gpc.late.push_back({block, now + spec_.gpc_cache.parameter_latency});
  return gpc.late.back().here;
}

/// From a lookup to the SM.
Cycle GpcCaches::way_of(const CodeRequest& request) const {
  switch (request.use) {
    case CodeUse::operand: return spec_.constant.l0_miss;
    case CodeUse::load: return spec_.constant.l1_miss;
    default: return spec_.gpc_cache.latency;
  }
}

Cycle GpcCaches::after_miss(Cycle arrived, const Waiter& waiter) const {
  Cycle way =
      waiter.use == CodeUse::code ? spec_.gpc_cache.miss_latency : spec_.gpc_cache.constant_miss_latency;
  // The way to the SM's own cache is the longer one (constant_chain: LDC against ULDC).
  if (waiter.use == CodeUse::load && spec_.constant.l1_miss > spec_.constant.l0_miss)
    way += spec_.constant.l1_miss - spec_.constant.l0_miss;
  return std::max(waiter.earliest, arrived + way);
}

/// The other SM of the TPC asked for the same and has no answer yet: this one gets it with that one.
bool GpcCaches::join(Tpc& tpc, const CodeRequest& request, std::vector<Reply>& replies) {
  std::erase_if(tpc.passing, [&](const Passing& p) { return p.fetch == kNone && p.arrives <= request.time; });
  const auto same = std::find_if(tpc.passing.begin(), tpc.passing.end(),
                                 [&](const Passing& p) { return p.address == request.address; });
  if (same == tpc.passing.end()) return false;
  const Cycle earliest = std::max(same->earliest, request.time + way_of(request));
  if (same->fetch == kNone) {
    replies.push_back({std::max(same->arrives, earliest), request.sm, request.id});
  } else {
    fetch_[same->fetch].waiters.push_back({request.sm, request.id, earliest, request.use});
  }
  return true;
}

/// Asks L2 for the line of `request`; a number for the fetch.
std::uint32_t GpcCaches::start(std::uint32_t gpc, const CodeRequest& request, Cycle now) {
  std::uint32_t index;
  if (free_fetches_.empty()) {
    index = static_cast<std::uint32_t>(fetch_.size());
    fetch_.emplace_back();
  } else {
    index = free_fetches_.back();
    free_fetches_.pop_back();
  }
  Fetch& fetch = fetch_[index];
  fetch.block = request.address / block_bytes_;
  fetch.gpc = gpc;
  fetch.missing = pieces_;
  fetch.last = 0;
  fetch.waiters.clear();
  double& way = gpc_[gpc].way_free;
  way = std::max(way, static_cast<double>(now));
  Request piece;
  piece.time = static_cast<Cycle>(way);
  way += way_cycles_;
  piece.sm = request.sm;
  piece.id = kMark | index;
  piece.sectors = 0xf;
  piece.kind = RequestKind::instruction;
  for (std::uint32_t i = 0; i < pieces_; ++i) {
    piece.line = fetch.block * pieces_ + i;
    outbox.push_back(piece);
  }
  return index;
}

void GpcCaches::request(const CodeRequest& request, std::vector<Reply>& replies) {
  const std::uint32_t gpc_index = gpc_of_sm(spec_.sm, request.sm);
  Gpc& gpc = gpc_[gpc_index];
  Tpc& tpc = tpc_[request.sm / 2];
  // constant_sharing, first_constants: a TPC's two SMs share no line of constants.
  const bool is_code = request.use == CodeUse::code;
  if (is_code && join(tpc, request, replies)) return;
  const Cycle looked_up = std::max(request.time, gpc.free);
  gpc.free = looked_up + spec_.gpc_cache.interval;
  const Cycle served = std::max(looked_up, tpc.free);
  tpc.free = served + spec_.gpc_cache.tpc_interval;
  ++(is_code ? code_requests_ : constant_requests_);
  const Waiter waiter{request.sm, request.id, served + way_of(request), request.use};
  const std::uint64_t block = request.address / block_bytes_;
  if (request.resident) {
    const Cycle late = parameters_here(gpc, block, served);
    return replies.push_back({late + way_of(request), request.sm, request.id});
  }
  Line* line = find(gpc, block);
  if (line == nullptr) {
    ++(is_code ? code_misses_ : constant_misses_);
    line = &place(gpc, block);
    line->fetch = start(gpc_index, request, looked_up);
  }
  line->used = ++gpc.clock;
  if (line->arrived == kNever) {
    fetch_[line->fetch].waiters.push_back(waiter);
    if (!is_code) return;
    tpc.passing.push_back({request.address, waiter.earliest, kNever, line->fetch});
    return;
  }
  const Cycle arrives = after_miss(line->arrived, waiter);
  replies.push_back({arrives, request.sm, request.id});
  if (!is_code) return;
  tpc.passing.push_back({request.address, waiter.earliest, arrives, kNone});
}

void GpcCaches::fill(const Reply& reply, std::vector<Reply>& replies) {
  const std::uint32_t index = reply.id & ~kMark;
  Fetch& fetch = fetch_[index];
  fetch.last = std::max(fetch.last, reply.time);
  if (--fetch.missing) return;
  Line* line = find(gpc_[fetch.gpc], fetch.block);
  if (line && line->fetch == index) {
    line->arrived = fetch.last;
    line->fetch = kNone;
  }
  for (const Waiter& waiter : fetch.waiters) {
    const Cycle arrives = after_miss(fetch.last, waiter);
    replies.push_back({arrives, waiter.sm, waiter.id});
    for (Passing& passing : tpc_[waiter.sm / 2].passing) {
      if (passing.fetch == index) passing.fetch = kNone, passing.arrives = arrives;
    }
  }
  free_fetches_.push_back(index);
}

void GpcCaches::count(stats::MemoryCounters& into) const {
  into.gpc_code_requests += code_requests_;
  into.gpc_code_misses += code_misses_;
  into.gpc_constant_requests += constant_requests_;
  into.gpc_constant_misses += constant_misses_;
}

}  // namespace foretrace::memory
