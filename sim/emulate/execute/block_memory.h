// Memory as a block's threads see it: from a lane's address to host memory, and the faults on the way.
//
// Models:  an access must be aligned to its size and lie inside one live allocation (global), below the block's size (shared;
//          bits 24 and up of an address name the block of a cluster) or inside the thread's own memory (local). Without
//          Checks::bounds what lies beyond an allocation on a page of the device is read and written, as on a GPU, and so is
//          what lies beyond a block's shared memory in the last of the units of 128 bytes that it takes, and the shared memory of a block
//          of the cluster that has ended, while the accessing block has executed less than that one. Words there that a wide load brings with
//          others from inside are out of bounds when they are read (unread_words.h).
//          Generic addresses: windows for shared and local memory, all else is global.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "sim/emulate/execute/running_warp.h"
#include "sim/emulate/execute/unread_words.h"
#include "sim/emulate/memory/global_memory.h"
#include "sim/emulate/memory/shared_checks.h"

namespace foretrace::emulate {

class Cluster;

class BlockMemory {
 public:
  /// `at`: whose accesses they are, which must outlive it.
  explicit BlockMemory(const RunningWarp& at);
  /// The block is one of several that run together.
  void enter_cluster(Cluster* cluster) { cluster_ = cluster; }

  /// Host memory of one lane's access; faults when it is not inside one buffer or not aligned.
  std::byte* global_at(std::uint64_t address, std::uint32_t bytes, int lane);
  /// The same of bytes that are written whole by what is no plain store.
  std::byte* written_at(std::uint64_t address, std::uint32_t bytes, int lane) {
    if (checks_global_) memory_.written().mark(address, bytes);
    return global_at(address, bytes, lane);
  }
  std::byte* shared_at(std::uint64_t address, std::uint32_t bytes, int lane);
  /// An mbarrier of any block of the cluster, which is signalled there.
  std::byte* mbarrier_at(std::uint64_t address, int lane);
  /// Of any block of the cluster, by the rank in the address.
  std::byte* cluster_shared_at(std::uint64_t address, std::uint32_t bytes, int lane);
  std::byte* local_at(std::uint64_t address, std::uint32_t bytes, int lane);
  std::byte* generic_at(std::uint64_t address, std::uint32_t bytes, int lane);
  /// Host memory for all accesses in [least, greatest + bytes), or null when they need to be looked at one by one.
  std::byte* global_span(const AddressRange& range, std::uint32_t bytes);
  std::byte* shared_span(const AddressRange& range, std::uint32_t bytes);
  [[noreturn]] void fault_access(FaultKind kind, int lane, const std::string& space, std::uint64_t address,
                                 std::uint32_t bytes) const;
  /// Null: shared memory is not checked.
  SharedChecks* shared_checks() { return shared_checks_.get(); }
  /// Room for what the instruction stores for `lane`, filled before its address is asked for where shared memory is checked.
  std::byte* stored_next(int lane) {
    stored_.pc = at_.pc;
    stored_.lane = lane;
    return stored_.bytes.data();
  }
  DeviceHeap& heap() { return memory_.heap(); }
  /// What wide loads have brought that nobody wrote or that lies beyond: no fault before it is read.
  UnreadWords& unread() { return unread_; }
  /// A fault, or a warning of what is none on a GPU.
  void tell(FaultKind kind, int lane, const std::string& what) const;

 private:
  void check_shared(std::uint64_t offset, std::uint32_t bytes, int lane);
  void check_global(std::uint64_t address, std::uint32_t bytes, int lane);
  /// Whether the program may read a word of the bytes that the instruction at hand loads.
  bool asks_for(std::uint32_t bytes, std::uint32_t word);
  [[noreturn]] void fault_heap(int lane, std::uint64_t address, std::uint32_t bytes) const;
  /// What the access did wrong, in words; may make the kind more precise.
  std::string describe_access(FaultKind& kind, const std::string& space, std::uint64_t address,
                              std::uint32_t bytes) const;
  std::byte* beyond_allocation(std::uint64_t address, std::uint32_t bytes, int lane);
  void beyond_shared(std::uint64_t address, std::uint64_t offset, std::uint32_t bytes, int lane);
  /// Reports the kernel's first access that is out of bounds and does not fault on a GPU.
  void warn(int lane, const std::string& what) const;
  void after_end(std::uint64_t rank, std::uint64_t address, std::uint32_t bytes, int lane) const;

  struct Free {
    void operator()(std::byte* p) const { std::free(p); }
  };
  const RunningWarp& at_;
  GlobalMemory& memory_;
  Cluster* cluster_ = nullptr;  // null: the block runs by itself
  std::vector<std::byte> shared_;
  std::unique_ptr<std::byte, Free> local_;  // made by calloc: what no thread touches takes no memory
  std::unique_ptr<SharedChecks> shared_checks_;
  bool checks_global_ = false;
  std::map<std::pair<std::uint32_t, std::uint32_t>, bool> asks_;  // by instruction and word
  struct Stored {
    std::uint32_t pc = 0;
    int lane = -1;
    std::array<std::byte, 32> bytes{};
  };
  Stored stored_;
  UnreadWords unread_;
  bool signals_ = false;                            // an mbarrier is being signalled
  const GlobalMemory::Allocation* last_ = nullptr;  // the allocation of the last access
};

}  // namespace foretrace::emulate
