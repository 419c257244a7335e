#include "sim/runtime/device/graph_memory.h"

#include <algorithm>
#include <map>
#include <unordered_set>

#include "sim/runtime/device/state.h"

namespace foretrace::runtime {

namespace {

using Granule = GraphPool::Granule;

/// Every allocation that a node or the program still has, by address, and those that live.
struct Allocations {
  std::multimap<std::uint64_t, GraphAllocation*> known;
  std::map<const GraphAllocation*, std::shared_ptr<GraphAllocation>> live;
};
Allocations& allocations() {
  static auto* all = new Allocations;  // never deleted: the program's own destructors may still call
  return *all;
}

/// Calls `see` with every node of the graph and of its child graphs.
template <class See>
void for_each_node(const Graph& graph, See&& see) {
  for (const auto& node : graph.nodes) {
    see(*node);
    if (const auto* child = std::get_if<ChildWork>(&node->work)) for_each_node(*child->graph, see);
  }
}

void end(GraphAllocation& allocation) {
  allocation.live = false;
  GraphRoom& room = *allocation.room;
  room.segment->pool.memory().displace(room.address);
  room.segment->pool.hold(*room.segment, false);
  allocations().live.erase(&allocation);  // may be the last that knew it
}

bool owns(const Graph& graph, const GraphAllocation& allocation) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    const auto* work = std::get_if<AllocateWork>(&node->work);
    return work != nullptr && work->allocation.get() == &allocation;
  });
}

bool frees(const Graph& graph, const GraphAllocation& allocation) {
  return std::any_of(graph.nodes.begin(), graph.nodes.end(), [&](const auto& node) {
    const auto* work = std::get_if<FreeWork>(&node->work);
    return work != nullptr && work->allocation.lock().get() == &allocation;
  });
}

/// The room of an allocation of that size that is freed before a node behind `needs`; null: there is none.
std::shared_ptr<GraphRoom> freed_room(const GraphPool& pool, const std::vector<GraphNode*>& needs,
                                      std::uint64_t size) {
  std::unordered_set<const GraphNode*> seen;
  std::vector<const GraphNode*> open(needs.begin(), needs.end());
  while (!open.empty()) {
    const GraphNode* node = open.back();
    open.pop_back();
    if (!seen.insert(node).second) continue;
    if (const auto* work = std::get_if<FreeWork>(&node->work)) {
      const std::shared_ptr<GraphAllocation> freed = work->allocation.lock();
      if (freed != nullptr && freed->freed_inside && freed->room->last == freed.get() &&
          freed->room->size == size && &freed->room->segment->pool == &pool)
        return freed->room;
    }
    open.insert(open.end(), node->needs.begin(), node->needs.end());
  }
  return nullptr;
}

std::shared_ptr<GraphRoom> new_room(GraphPool& pool, Graph& graph, std::uint64_t size) {
  constexpr std::uint64_t kAlignment = emulate::kAllocationAlignment;
  std::shared_ptr<GraphSegment> segment;
  if (size < GraphPool::kGranule) segment = graph.small.lock();
  if (segment == nullptr || &segment->pool != &pool) segment = std::make_shared<GraphSegment>(pool);
  if (size < GraphPool::kGranule) graph.small = segment;
  segment->bytes += (size + kAlignment - 1) / kAlignment * kAlignment;
  return std::make_shared<GraphRoom>(std::move(segment), size);
}

bool is_valid(const cudaMemAllocNodeParams& p) {
  const cudaMemPoolProps& pool = p.poolProps;
  return p.bytesize != 0 && pool.allocType == cudaMemAllocationTypePinned &&
         pool.handleTypes == cudaMemHandleTypeNone && pool.location.type == cudaMemLocationTypeDevice &&
         is_device(pool.location.id) && p.accessDescCount <= static_cast<std::size_t>(device_count()) &&
         (p.accessDescCount == 0 || p.accessDescs != nullptr);
}

cudaError_t place(State& s, Graph& graph, const std::vector<GraphNode*>& needs, AllocateWork& work) {
  cudaMemAllocNodeParams& p = work.parameters;
  p.dptr = nullptr;
  if (!is_valid(p)) return cudaErrorInvalidValue;
  if (p.bytesize > s.memory.capacity()) return cudaErrorMemoryAllocation;
  GraphPool& pool = graph_pool(s, p.poolProps.location.id);
  std::shared_ptr<GraphRoom> room = freed_room(pool, needs, p.bytesize);
  if (room == nullptr) room = new_room(pool, graph, p.bytesize);
  work.allocation = std::make_shared<GraphAllocation>(std::move(room));
  work.allocation->access.assign(p.accessDescs, p.accessDescs + p.accessDescCount);
  p.accessDescs = p.accessDescCount == 0 ? nullptr : work.allocation->access.data();
  p.dptr = reinterpret_cast<void*>(work.allocation->room->address);
  return cudaSuccess;
}

cudaError_t place(const Graph& graph, FreeWork& work) {
  const auto [first, last] = allocations().known.equal_range(reinterpret_cast<std::uint64_t>(work.pointer));
  const auto found = std::find_if(first, last, [](const auto& entry) { return !entry.second->freed_inside; });
  if (found == last) return cudaErrorInvalidValue;
  GraphAllocation& allocation = *found->second;
  if (frees(graph, allocation)) return cudaErrorInvalidValue;
  if (owns(graph, allocation)) {
    if (allocation.freed_outside) return cudaErrorInvalidValue;
    allocation.freed_inside = true;
  } else {
    allocation.freed_outside = true;
  }
  work.allocation = allocation.weak_from_this();
  return cudaSuccess;
}

}  // namespace

std::optional<Granule> GraphPool::choose(Granule& next, const std::set<Granule>& taken) {
  for (; next < granules_.size(); ++next) {
    if (granules_[next].there && granules_[next].holder == nullptr && !taken.contains(next)) return next;
  }
  if (!memory_.take(kGranule, device_)) return std::nullopt;
  const auto free =
      std::find_if(granules_.begin(), granules_.end(), [](const Entry& entry) { return !entry.there; });
  const auto made = static_cast<Granule>(free - granules_.begin());
  if (free == granules_.end()) granules_.emplace_back();
  granules_[made].there = true;
  use_.reserved += kGranule;
  use_.reserved_high = std::max(use_.reserved_high, use_.reserved);
  return made;
}

void GraphPool::mark(Granule granule, bool mapped) {
  Entry& entry = granules_[granule];
  if (mapped && entry.mapped++ == 0) use_.used += kGranule;
  if (!mapped && --entry.mapped == 0) use_.used -= kGranule;
  use_.used_high = std::max(use_.used_high, use_.used);
}

bool GraphPool::map(GraphSegment& segment, std::set<Granule>& taken) {
  const std::uint64_t wanted = (segment.bytes + kGranule - 1) / kGranule;
  Granule next = 0;
  for (std::uint64_t i = 0; i < wanted; ++i) {
    const bool has = i < segment.granules.size();
    if (has) {
      const Granule now = segment.granules[i];
      const GraphSegment* holder = granules_[now].holder;
      if ((holder == nullptr || holder == &segment) && taken.insert(now).second) continue;
    }
    const std::optional<Granule> chosen = choose(next, taken);
    if (!chosen) return false;
    taken.insert(*chosen);
    mark(*chosen, true);
    if (has) {
      mark(segment.granules[i], false);
      segment.granules[i] = *chosen;
    } else {
      segment.granules.push_back(*chosen);
      if (segment.live != 0) granules_[*chosen].holder = &segment;
    }
  }
  return true;
}

void GraphPool::unmap(GraphSegment& segment) {
  for (const Granule granule : segment.granules) mark(granule, false);
  segment.granules.clear();
}

void GraphPool::hold(GraphSegment& segment, bool begins) {
  if (begins ? segment.live++ != 0 : --segment.live != 0) return;
  for (const Granule granule : segment.granules) granules_[granule].holder = begins ? &segment : nullptr;
}

void GraphPool::trim() {
  for (GraphSegment* segment : segments_) {
    if (segment->live == 0) unmap(*segment);
  }
  for (Entry& entry : granules_) {
    if (!entry.there || entry.holder != nullptr) continue;
    entry.there = false;
    use_.reserved -= kGranule;
    memory_.give_back(kGranule, device_);
  }
}

void GraphPool::reset_high(bool used) {
  if (used) {
    use_.used_high = use_.used;
  } else {
    use_.reserved_high = use_.reserved;
  }
}

GraphRoom::GraphRoom(std::shared_ptr<GraphSegment> in, std::uint64_t bytes)
    : segment(std::move(in)), address(segment->pool.memory().reserve(bytes, segment->pool.device())),
      size(bytes) {}
GraphRoom::~GraphRoom() { segment->pool.memory().give_up(address); }

GraphAllocation::GraphAllocation(std::shared_ptr<GraphRoom> in) : room(std::move(in)) {
  room->last = this;
  allocations().known.emplace(room->address, this);
}
GraphAllocation::~GraphAllocation() {
  const auto [first, last] = allocations().known.equal_range(room->address);
  allocations().known.erase(
      std::find_if(first, last, [&](const auto& entry) { return entry.second == this; }));
}

GraphPool& graph_pool(State& s, int device) {
  static auto* pools = new std::map<int, std::unique_ptr<GraphPool>>;
  std::unique_ptr<GraphPool>& pool = (*pools)[device];
  if (pool == nullptr) pool = std::make_unique<GraphPool>(s.memory, device);
  return *pool;
}

bool has_memory_nodes(const Graph& graph) {
  bool has = false;
  for_each_node(graph, [&](const GraphNode& node) {
    has =
        has || std::holds_alternative<AllocateWork>(node.work) || std::holds_alternative<FreeWork>(node.work);
  });
  return has;
}

bool has_conditional_memory(const Graph& graph) {
  bool has = false;
  for_each_node(graph, [&](const GraphNode& node) {
    const auto* conditional = std::get_if<ConditionalWork>(&node.work);
    if (conditional == nullptr) return;
    for (const auto& body : conditional->bodies)
      has = has || has_memory_nodes(*body) || has_conditional_memory(*body);
  });
  return has;
}

cudaError_t place_memory(State& s, Graph& graph, const std::vector<GraphNode*>& needs, Work& work) {
  auto* const allocate = std::get_if<AllocateWork>(&work);
  auto* const free = std::get_if<FreeWork>(&work);
  if (allocate == nullptr && free == nullptr) return cudaSuccess;
  if (graph.moved) return cudaErrorNotSupported;
  return allocate != nullptr ? place(s, graph, needs, *allocate) : place(graph, *free);
}

cudaError_t map_memory(const Graph& graph) {
  std::map<GraphPool*, std::set<Granule>> taken;
  std::set<const GraphSegment*> done;
  bool fits = true;
  for_each_node(graph, [&](const GraphNode& node) {
    const auto* work = std::get_if<AllocateWork>(&node.work);
    if (work == nullptr || !fits) return;
    GraphSegment& segment = *work->allocation->room->segment;
    if (done.insert(&segment).second) fits = segment.pool.map(segment, taken[&segment.pool]);
  });
  return fits ? cudaSuccess : cudaErrorMemoryAllocation;
}

cudaError_t begin_memory(const Graph& graph, bool again) {
  std::vector<GraphAllocation*> left;
  bool allowed = true;
  for_each_node(graph, [&](const GraphNode& node) {
    if (const auto* work = std::get_if<AllocateWork>(&node.work)) {
      if (!work->allocation->live) return;
      left.push_back(work->allocation.get());
      allowed = allowed && (again || work->allocation->freed_inside);  // a launch that failed may leave those
    } else if (const auto* free = std::get_if<FreeWork>(&node.work)) {
      const std::shared_ptr<GraphAllocation> freed = free->allocation.lock();
      allowed = allowed && freed != nullptr && (freed->freed_inside || freed->live);
    }
  });
  if (!allowed) return cudaErrorInvalidValue;
  for (GraphAllocation* allocation : left) end(*allocation);
  return map_memory(graph);
}

void allocate(const AllocateWork& work) {
  GraphAllocation& allocation = *work.allocation;
  if (allocation.live) return;
  GraphRoom& room = *allocation.room;
  allocation.live = true;
  allocations().live[&allocation] = work.allocation;
  room.segment->pool.hold(*room.segment, true);
  room.segment->pool.memory().place(room.address);
}

void release(const FreeWork& work) {
  const std::shared_ptr<GraphAllocation> allocation = work.allocation.lock();
  if (allocation != nullptr && allocation->live) end(*allocation);
}

std::optional<cudaError_t> free_graph_memory(const void* pointer) {
  const auto [first, last] = allocations().known.equal_range(reinterpret_cast<std::uint64_t>(pointer));
  if (first == last) return std::nullopt;
  const auto live = std::find_if(
      first, last, [](const auto& entry) { return entry.second->live && !entry.second->freed_inside; });
  if (live == last) return cudaErrorInvalidValue;
  end(*live->second);
  return cudaSuccess;
}

void forget_graph_memory(State& s, int device) {
  GraphPool& pool = graph_pool(s, device);
  std::vector<std::shared_ptr<GraphAllocation>> ended;
  for (const auto& [allocation, held] : allocations().live) {
    if (&allocation->room->segment->pool == &pool) ended.push_back(held);
  }
  for (const auto& allocation : ended) end(*allocation);
  pool.trim();
}

}  // namespace foretrace::runtime
