// From a lane's address to host memory, and the faults on the way.
//
// Models:  an access must be aligned to its size and lie inside one live allocation (global), below the block's size (shared;
//          bits 24 and up of an address name the block of a cluster) or inside the thread's own memory (local). Without
//          Checks::bounds what lies beyond an allocation on a page of the device is read and written, as on a GPU.
//          Generic addresses: windows for shared and local memory, all else is global.
#include <bit>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/schedule/cluster.h"
#include "sim/emulate/translate/address_form.h"

namespace foretrace::emulate {

namespace {

constexpr std::int64_t kStackGuard = 1 << 20;  ///< bytes below a stack that are taken for its overflow
constexpr std::uint64_t kSharedOffsetMask =
    0xffffff;  ///< below it an offset, above it the rank in the cluster

}  // namespace

void Execution::form_addresses(const Source& base, const Source& uniform, std::uint32_t form,
                               std::uint64_t offset, int set) {
  const std::uint32_t* u = words(uniform);
  std::uint64_t add = offset + u[0];
  if ((form & kUniform64) != 0) add += std::uint64_t{u[32]} << 32;
  const std::uint32_t* low = words(base);
  const std::uint32_t* high = (form & kBase64) != 0 ? low + 32 : nullptr;
  std::uint64_t* out = addresses[static_cast<std::size_t>(set)].data();
  // Shared and local addresses are of 32 bits and wrap there.
  const std::uint64_t keep = (form & kUniform64) != 0 ? ~std::uint64_t{0} : 0xffffffffu;
  launch_.lanes->addresses(low, high, (form >> kBaseShift) & 7, add, keep, out);
}

std::string Execution::describe_access(FaultKind& kind, const std::string& space, std::uint64_t address,
                                       std::uint32_t bytes) const {
  std::string what;
  if (kind == FaultKind::misaligned) {
    what = fmt::format("misaligned {} access of {} bytes at 0x{:x}", space, bytes, address);
  } else {
    what = fmt::format("out-of-bounds {} access of {} bytes at 0x{:x}", space, bytes, address);
  }
  if (space == "shared") {
    what += fmt::format("; the block has {} bytes", launch_.shared_bytes);
  } else if (space == "local") {
    what += fmt::format("; a thread has {} bytes", launch_.local_bytes);
  } else if (const GlobalMemory::Allocation* old = memory_.freed(address)) {
    if (kind == FaultKind::out_of_bounds) kind = FaultKind::use_after_free;
    what += fmt::format(", {} bytes into buffer {}, which was freed (0x{:x}, {} bytes)",
                        address - old->address, old->name, old->address, old->size);
  } else if (const GlobalMemory::Allocation* a = memory_.nearest(address)) {
    const std::uint64_t end = a->address + a->size;
    if (address < a->address) {
      what += fmt::format(", {} bytes before buffer {}", a->address - address, a->name);
    } else if (address >= end) {
      what += fmt::format(", {} bytes after the end of buffer {}", address - end, a->name);
    } else {
      what += fmt::format(", {} bytes into buffer {}", address - a->address, a->name);
    }
    what += fmt::format(" (0x{:x}, {} bytes)", a->address, a->size);
  } else {
    what += "; the launch has no buffers";
  }
  return what;
}

void Execution::fault_access(FaultKind kind, int lane, const std::string& space, std::uint64_t address,
                             std::uint32_t bytes) const {
  const std::string what = describe_access(kind, space, address, bytes);
  fault(kind, lane, what);
}

/// An access that no allocation holds: a fault, or what a GPU does where it has a page there.
std::byte* Execution::beyond_allocation(std::uint64_t address, std::uint32_t bytes, int lane) {
  if (launch_.context.checks.bounds || !memory_.on_page(address, bytes))
    fault_access(FaultKind::out_of_bounds, lane, "global", address, bytes);
  if (address % bytes != 0) fault_access(FaultKind::misaligned, lane, "global", address, bytes);
  std::atomic<bool>* const kernels = launch_.context.bounds_reported;
  if (!(kernels != nullptr ? *kernels : launch_.bounds_reported).exchange(true)) {
    FaultKind kind = FaultKind::out_of_bounds;
    const std::string what = describe_access(kind, "global", address, bytes);
    launch_.context.report(fmt::format(
        "{}\n",
        fault_text(
            lane, fmt::format("warning: {}; a GPU has the page and does not fault (--check bounds makes it a "
                              "fault)",
                              what))));
  }
  return memory_.at(address);
}

void Execution::fault_heap(int lane, std::uint64_t address, std::uint32_t bytes) const {
  const DeviceHeap::Block block = memory_.heap().below(address);
  std::string what =
      fmt::format("out-of-bounds global access of {} bytes at 0x{:x} in the device heap", bytes, address);
  if (block.size == 0) fault(FaultKind::out_of_bounds, lane, what);
  const std::uint64_t into = address - block.address;
  if (block.freed && into < block.size) {
    fault(FaultKind::use_after_free, lane,
          fmt::format("use after free: global access of {} bytes at 0x{:x}, {} bytes into the freed block "
                      "0x{:x} ({} bytes)",
                      bytes, address, into, block.address, block.size));
  }
  const std::string where = into < block.size ? fmt::format("{} bytes into", into)
                                              : fmt::format("{} bytes after the end of", into - block.size);
  fault(FaultKind::out_of_bounds, lane,
        fmt::format("{}, {} the block 0x{:x} ({} bytes) that malloc gave", what, where, block.address,
                    block.size));
}

void Execution::check_shared(std::uint64_t offset, std::uint32_t bytes, int lane) {
  using Found = SharedChecks::Kind;
  if (signals_) return;
  std::optional<SharedChecks::Finding> found;
  bool writes = false;
  switch (launch_.accesses[pc]) {
    case isa::Access::load:
    case isa::Access::matrix_load: found = shared_checks_->read(offset, bytes, warp->index); break;
    case isa::Access::store:
    case isa::Access::matrix_store:
    case isa::Access::async_copy:
      writes = true;
      found = shared_checks_->write(offset, bytes, warp->index, pc);
      break;
    default: shared_checks_->atomic(offset, bytes, warp->index); break;
  }
  if (!found) return;
  if (found->kind == Found::unwritten) {
    fault(FaultKind::uninitialized_read, lane,
          fmt::format("uninitialised read: shared byte 0x{:x} has not been written by the block",
                      found->offset));
  }
  const bool read_before = found->kind == Found::write_after_read;
  std::string other = fmt::format("warp {} {} it", found->warp, read_before ? "read" : "wrote");
  if (!read_before) {
    const isa::Instruction& i = launch_.context.program->code[found->pc];
    other += fmt::format(" at offset 0x{:x} '{}'", i.offset, i.text);
    if (i.file != 0) other += fmt::format(", {}:{}", launch_.context.program->files[i.file - 1], i.line);
  }
  fault(FaultKind::race, lane,
        fmt::format("race on shared byte 0x{:x}: warp {} {} it here, {}, with no barrier between",
                    found->offset, warp->index, writes ? "writes" : "reads", other));
}

void Execution::check_global(std::uint64_t address, std::uint32_t bytes, int lane) {
  const isa::Access access = launch_.accesses[pc];
  const bool reads = access != isa::Access::store && access != isa::Access::matrix_store;
  if (reads && !memory_.written(address, bytes)) {
    const std::uint64_t into = address - last_->address;
    fault(FaultKind::uninitialized_read, lane,
          fmt::format("uninitialised read: global access of {} bytes at 0x{:x}, {} bytes into buffer {} "
                      "(0x{:x}, {} bytes), which "
                      "have not been written",
                      bytes, address, into, last_->name, last_->address, last_->size));
  }
  if (access != isa::Access::load && access != isa::Access::async_copy) memory_.mark_written(address, bytes);
}

std::byte* Execution::global_at(std::uint64_t address, std::uint32_t bytes, int lane) {
  if (last_ == nullptr || address - last_->address >= last_->size) last_ = memory_.find(address);
  if (last_ == nullptr || last_->size - (address - last_->address) < bytes)
    return beyond_allocation(address, bytes, lane);
  if (address % bytes != 0) fault_access(FaultKind::misaligned, lane, "global", address, bytes);
  if (memory_.heap().holds(address) && !memory_.heap().usable(address, bytes))
    fault_heap(lane, address, bytes);
  if (checks_global_) check_global(address, bytes, lane);
  return memory_.at(address);
}

std::byte* Execution::shared_at(std::uint64_t address, std::uint32_t bytes, int lane) {
  const std::uint64_t offset = address & kSharedOffsetMask;
  // The block itself is named by no rank or by its own.
  const std::uint64_t rank = address >> kClusterRankShift;
  if ((rank != 0 && rank != cluster_rank_) || offset + bytes > launch_.shared_bytes) {
    fault_access(FaultKind::out_of_bounds, lane, "shared", address, bytes);
  }
  if (offset % bytes != 0) fault_access(FaultKind::misaligned, lane, "shared", address, bytes);
  if (shared_checks_) check_shared(offset, bytes, lane);
  return shared_.data() + offset;
}

std::byte* Execution::cluster_shared_at(std::uint64_t address, std::uint32_t bytes, int lane) {
  const std::uint64_t rank = address >> kClusterRankShift;
  if (rank == cluster_rank_) return shared_at(address, bytes, lane);
  if (cluster_ == nullptr || rank >= cluster_->size()) {
    fault(
        FaultKind::out_of_bounds, lane,
        fmt::format(
            "access of {} bytes to shared memory of the block of rank {} (0x{:x}); the cluster has {} blocks",
            bytes, rank, address, cluster_ == nullptr ? 1 : cluster_->size()));
  }
  Execution& other = cluster_->block(rank);
  if (other.ended()) {
    fault(FaultKind::out_of_bounds, lane,
          fmt::format("access of {} bytes to shared memory of the block of rank {} (0x{:x}), which has ended",
                      bytes, rank, address));
  }
  const std::uint64_t offset = address & kSharedOffsetMask;
  if (offset + bytes > launch_.shared_bytes) {
    fault_access(FaultKind::out_of_bounds, lane, "shared", address, bytes);
  }
  if (offset % bytes != 0) fault_access(FaultKind::misaligned, lane, "shared", address, bytes);
  if (other.shared_checks_) other.shared_checks_->mark_written(offset, bytes);
  return other.shared_.data() + offset;
}

std::byte* Execution::mbarrier_at(std::uint64_t address, int lane) {
  signals_ = true;  // it is no plain access
  std::byte* p = cluster_shared_at(address, 8, lane);
  signals_ = false;
  if (shared_checks_ && address >> kClusterRankShift == cluster_rank_) {
    shared_checks_->atomic(address & kSharedOffsetMask, 8, warp->index);
  }
  return p;
}

std::byte* Execution::local_at(std::uint64_t address, std::uint32_t bytes, int lane) {
  if (address > launch_.local_bytes || launch_.local_bytes - address < bytes) {
    // The stack grows down from the end of the thread's memory; below its start addresses wrap.
    const std::int64_t below = -std::int64_t{static_cast<std::int32_t>(address)};
    if (below > 0 && below <= kStackGuard) {
      fault(FaultKind::stack_overflow, lane,
            fmt::format("stack overflow: local access of {} bytes {} bytes below the thread's {} bytes of "
                        "local memory; "
                        "cudaDeviceSetLimit(cudaLimitStackSize, ...) sets them",
                        bytes, below, launch_.local_bytes));
    }
    fault_access(FaultKind::out_of_bounds, lane, "local", address, bytes);
  }
  if (address % bytes != 0) fault_access(FaultKind::misaligned, lane, "local", address, bytes);
  if (!local_) {  // few kernels need it
    local_.reset(
        static_cast<std::byte*>(std::calloc(std::size_t{launch_.local_bytes} * launch_.warps * 32, 1)));
    if (!local_) throw InputError("out of host memory for the threads' local memory");
  }
  const std::size_t thread = std::size_t{warp->index} * 32 + static_cast<std::size_t>(lane);
  return local_.get() + thread * launch_.local_bytes + address;
}

std::byte* Execution::generic_at(std::uint64_t address, std::uint32_t bytes, int lane) {
  if (address - kSharedWindow < kWindowBytes) return cluster_shared_at(address - kSharedWindow, bytes, lane);
  if (address - kLocalWindow < kWindowBytes) return local_at(address - kLocalWindow, bytes, lane);
  return global_at(address, bytes, lane);
}

std::byte* Execution::global_span(const AddressRange& range, std::uint32_t bytes) {
  if ((range.bits & (bytes - 1)) != 0) return nullptr;
  if (last_ == nullptr || range.least - last_->address >= last_->size) last_ = memory_.find(range.least);
  if (last_ == nullptr || range.greatest < range.least) return nullptr;
  if (range.greatest - last_->address + bytes > last_->size) return nullptr;
  if (checks_global_) return nullptr;                     // lanes are looked at one by one
  if (memory_.heap().holds(range.least)) return nullptr;  // its blocks are looked at one by one
  if (!memory_.in_one_piece(range.least, range.greatest)) return nullptr;
  return memory_.at(range.least);
}

std::byte* Execution::shared_span(const AddressRange& range, std::uint32_t bytes) {
  if (shared_checks_) return nullptr;  // lanes are looked at one by one
  const std::uint64_t own = std::uint64_t{cluster_rank_} << kClusterRankShift;
  if (range.least < own || (range.bits & (bytes - 1)) != 0) return nullptr;
  if (range.greatest - own + bytes > launch_.shared_bytes) return nullptr;
  return shared_.data() + (range.least - own);
}

}  // namespace foretrace::emulate
