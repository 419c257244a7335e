// Memory of graphs: what allocation nodes give out, and the memory of the chip that stands behind it.
//
// Models:  an allocation has its address from the making of its node on; in each launch it is made anew when its node is reached, and lives
//          until a free node, the program, or the next launch (cudaGraphInstantiateFlagAutoFreeOnLaunch) ends it, even beyond its graph.
//          In a graph the address of what was freed before goes to an allocation of the same size. Memory of the chip is mapped by the
//          launch, stays mapped, goes to graphs that need it, and comes back to the device by a trim.
// Source:  CUDA Programming Guide, "Graph Memory Nodes"; CUDA Runtime API, cudaGraphAddMemAllocNode and cudaGraphAddMemFreeNode.
// Choice:  a launch has ended when its call returns, so graphs share memory in whatever streams they are launched; whole granules of 2 MiB.
// Ignores: access by other devices, which have it anyway.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <vector>

#include <cuda_runtime_api.h>

#include "sim/runtime/device/graph.h"
#include "sim/runtime/device/memory.h"

namespace foretrace::runtime {

struct GraphMemoryUse {
  std::uint64_t used = 0, used_high = 0;          ///< bytes that graphs have mapped
  std::uint64_t reserved = 0, reserved_high = 0;  ///< bytes that are there for graphs
};

struct GraphSegment;

/// The chip's memory of one device that graphs have, by granules.
class GraphPool {
 public:
  static constexpr std::uint64_t kGranule = emulate::kPlacementBytes;  ///< bytes
  using Granule = std::uint32_t;

  GraphPool(DeviceMemory& memory, int device) : memory_(memory), device_(device) {}

  /// Granules for all of the segment, but those in `taken`, to which they are added. False: the chip has not so many.
  bool map(GraphSegment& segment, std::set<Granule>& taken);
  void unmap(GraphSegment& segment);
  /// An allocation of the segment begins or ends to live: meanwhile nobody else gets its granules.
  void hold(GraphSegment& segment, bool begins);
  /// What belongs to no live allocation goes back to the device.
  void trim();
  const GraphMemoryUse& use() const { return use_; }
  void reset_high(bool used);
  DeviceMemory& memory() { return memory_; }
  int device() const { return device_; }

 private:
  friend struct GraphSegment;
  struct Entry {
    bool there = false;
    unsigned mapped = 0;                   // by so many segments
    const GraphSegment* holder = nullptr;  // that has live allocations
  };
  std::optional<Granule> choose(Granule& next, const std::set<Granule>& taken);
  void mark(Granule granule, bool mapped);

  DeviceMemory& memory_;
  int device_;
  std::vector<Entry> granules_;
  std::set<GraphSegment*> segments_;
  GraphMemoryUse use_;
};

/// Allocations of one graph that are mapped as one: a large one, or all the small ones.
struct GraphSegment {
  explicit GraphSegment(GraphPool& owner) : pool(owner) { pool.segments_.insert(this); }
  ~GraphSegment() {
    pool.unmap(*this);
    pool.segments_.erase(this);
  }
  GraphSegment(const GraphSegment&) = delete;
  GraphSegment& operator=(const GraphSegment&) = delete;

  GraphPool& pool;
  std::uint64_t bytes = 0;
  std::vector<GraphPool::Granule> granules;  ///< mapped
  unsigned live = 0;                         ///< allocations
};

struct GraphAllocation;

/// Addresses; allocations of a graph that never live at the same time may have the same ones.
struct GraphRoom {
  GraphRoom(std::shared_ptr<GraphSegment> in, std::uint64_t bytes);
  ~GraphRoom();
  GraphRoom(const GraphRoom&) = delete;
  GraphRoom& operator=(const GraphRoom&) = delete;

  std::shared_ptr<GraphSegment> segment;
  std::uint64_t address, size;
  const GraphAllocation* last = nullptr;  ///< that was placed there
};

/// One allocation node's, and its copies'.
struct GraphAllocation : std::enable_shared_from_this<GraphAllocation> {
  explicit GraphAllocation(std::shared_ptr<GraphRoom> in);
  ~GraphAllocation();
  GraphAllocation(const GraphAllocation&) = delete;
  GraphAllocation& operator=(const GraphAllocation&) = delete;

  std::shared_ptr<GraphRoom> room;
  std::vector<cudaMemAccessDesc> access;
  bool live = false;
  bool freed_inside = false;   ///< its own graph has a free node for it
  bool freed_outside = false;  ///< another graph has
};

/// Whether it has allocation or free nodes, also in child graphs.
bool has_memory_nodes(const Graph& graph);
/// Whether a body of a conditional node in it has: CUDA refuses that.
bool has_conditional_memory(const Graph& graph);

/// What a node with that work, of `graph` and behind `needs`, allocates or may free; other work is left alone.
cudaError_t place_memory(State& s, Graph& graph, const std::vector<GraphNode*>& needs, Work& work);

/// Maps memory for all that the graph allocates, as cudaGraphUpload does.
cudaError_t map_memory(const Graph& graph);
/// What a launch begins with; `again`: what is left of the last one is freed.
cudaError_t begin_memory(const Graph& graph, bool again);
/// The nodes' own work.
void allocate(const AllocateWork& work);
void release(const FreeWork& work);

/// The program frees the pointer. Empty: it is no graph's.
std::optional<cudaError_t> free_graph_memory(const void* pointer);
/// Ends every allocation of the device.
void forget_graph_memory(State& s, int device);
GraphPool& graph_pool(State& s, int device);

}  // namespace foretrace::runtime
