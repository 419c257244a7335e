#include "sim/emulate/execute/block_memory.h"

#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "model/isa/operands.h"
#include "sim/emulate/schedule/block.h"
#include "sim/emulate/schedule/cluster.h"
#include "sim/emulate/translate/address_form.h"

namespace foretrace::emulate {

namespace {

constexpr std::int64_t kStackGuard = 1 << 20;  ///< bytes below a stack that are taken for its overflow
constexpr std::uint64_t kSharedOffsetMask =
    0xffffff;  ///< below it an offset, above it the rank in the cluster

std::string unwritten_shared(std::uint64_t offset) {
  return fmt::format("uninitialised read: shared byte 0x{:x} has not been written by the block", offset);
}

std::string unwritten_global(std::uint64_t address, std::uint32_t bytes, const GlobalMemory::Allocation& in) {
  return fmt::format(
      "uninitialised read: global access of {} bytes at 0x{:x}, {} bytes into buffer {} (0x{:x}, {} bytes), "
      "which have not been written",
      bytes, address, address - in.address, in.name, in.address, in.size);
}

/// A load reads what nobody wrote: `what` is a fault, of a word of a wide load when it is read on.
void unwritten_word(const RunningWarp& at, BlockMemory& memory, std::uint32_t bytes, std::uint32_t word,
                    int lane, const std::string& what) {
  const FaultKind kind = FaultKind::uninitialized_read;
  if (bytes <= 4 ||
      !memory.unread().hold(*at.launch().context.program, at.pc, word, at.warp->index, lane, kind, what))
    memory.tell(kind, lane, what);
}

}  // namespace

BlockMemory::BlockMemory(const RunningWarp& at)
    : at_(at), memory_(*at.launch().context.memory),
      shared_(std::size_t{at.launch().shared_given_out()} + 16) {
  const Emulator::Launch& launch = at.launch();
  const Checks& checks = launch.context.checks;
  if (checks.uninitialized || checks.races) {
    shared_checks_ = std::make_unique<SharedChecks>(launch.shared_given_out(), launch.warps,
                                                    checks.uninitialized, checks.races);
  }
  checks_global_ = checks.uninitialized && memory_.written().tracks();
}

std::string BlockMemory::describe_access(FaultKind& kind, const std::string& space, std::uint64_t address,
                                         std::uint32_t bytes) const {
  std::string what;
  if (kind == FaultKind::misaligned) {
    what = fmt::format("misaligned {} access of {} bytes at 0x{:x}", space, bytes, address);
  } else {
    what = fmt::format("out-of-bounds {} access of {} bytes at 0x{:x}", space, bytes, address);
  }
  if (space == "shared") {
    what += fmt::format("; the block has {} bytes", at_.launch().shared_bytes);
  } else if (space == "local") {
    what += fmt::format("; a thread has {} bytes", at_.launch().local_bytes);
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

void BlockMemory::fault_access(FaultKind kind, int lane, const std::string& space, std::uint64_t address,
                               std::uint32_t bytes) const {
  const std::string what = describe_access(kind, space, address, bytes);
  at_.fault(kind, lane, what);
}

/// An access that no allocation holds: a fault, or what a GPU does where it has a page there.
std::byte* BlockMemory::beyond_allocation(std::uint64_t address, std::uint32_t bytes, int lane) {
  if (at_.launch().context.checks.bounds || !memory_.on_page(address, bytes))
    fault_access(FaultKind::out_of_bounds, lane, "global", address, bytes);
  if (address % bytes != 0) fault_access(FaultKind::misaligned, lane, "global", address, bytes);
  FaultKind kind = FaultKind::out_of_bounds;
  warn(lane, describe_access(kind, "global", address, bytes) + "; a GPU has the page and does not fault");
  return memory_.at(address);
}

void BlockMemory::warn(int lane, const std::string& what) const {
  std::atomic<bool>* const kernels = at_.launch().context.bounds_reported;
  if ((kernels != nullptr ? *kernels : at_.launch().bounds_reported).exchange(true)) return;
  at_.launch().context.report(fmt::format(
      "{}\n", at_.fault_text(lane, fmt::format("warning: {} (--check bounds makes it a fault)", what))));
}

/// Shared memory of a block of the cluster that has ended: there still on a GPU, where blocks run at the same time, when this block has not
/// yet executed as much as that one did.
void BlockMemory::after_end(std::uint64_t rank, std::uint64_t address, std::uint32_t bytes, int lane) const {
  const std::string what =
      fmt::format("access of {} bytes to shared memory of the block of rank {} (0x{:x}), which has ended",
                  bytes, rank, address);
  const auto executed = [&](std::uint64_t of) { return cluster_->block(of).count().instructions; };
  if (at_.launch().context.checks.bounds || executed(at_.cluster_rank()) > executed(rank))
    at_.fault(FaultKind::out_of_bounds, lane, what);
  warn(lane, what + " here; on a GPU, where both run at the same time, it may have or not");
}

/// What lies beyond the block's shared memory, but in its last unit, is there on a GPU. A load that begins in the block's memory may bring words
/// from there along (a struct of three words is read as four), until a lane reads one.
void BlockMemory::beyond_shared(std::uint64_t address, std::uint64_t offset, std::uint32_t bytes, int lane) {
  const Emulator::Launch& launch = at_.launch();
  if (offset + bytes > launch.shared_given_out())
    fault_access(FaultKind::out_of_bounds, lane, "shared", address, bytes);
  FaultKind kind = FaultKind::out_of_bounds;
  std::string what = describe_access(kind, "shared", address, bytes);
  if (!launch.context.checks.bounds) {
    what += fmt::format("; a GPU gives it out in units of {} bytes and does not fault",
                        launch.context.shared_unit);
  }
  const isa::Program& program = *launch.context.program;
  isa::MemoryForm form;
  const bool loads = isa::memory_form(program.code[at_.pc], form) && form.access == isa::Access::load;
  bool along = loads && offset < launch.shared_bytes;
  for (std::uint32_t at = 0; at < bytes && along; at += 4) {
    if (offset + at + 4 <= launch.shared_bytes || !asks_for(bytes, at / 4)) continue;
    const bool whole = offset + at >= launch.shared_bytes;
    along = whole && unread_.hold(program, at_.pc, at / 4, at_.warp->index, lane, kind, what);
  }
  if (!along) tell(kind, lane, what);
}

void BlockMemory::tell(FaultKind kind, int lane, const std::string& what) const {
  if (kind == FaultKind::out_of_bounds && !at_.launch().context.checks.bounds) {
    warn(lane, what);
  } else if (kind == FaultKind::uninitialized_read) {
    at_.fault(kind, lane, what + "; whether a result depends on the value is not followed");
  } else {
    at_.fault(kind, lane, what);
  }
}

void BlockMemory::fault_heap(int lane, std::uint64_t address, std::uint32_t bytes) const {
  const DeviceHeap::Block block = memory_.heap().below(address);
  std::string what =
      fmt::format("out-of-bounds global access of {} bytes at 0x{:x} in the device heap", bytes, address);
  if (block.size == 0) at_.fault(FaultKind::out_of_bounds, lane, what);
  const std::uint64_t into = address - block.address;
  if (block.freed && into < block.size) {
    at_.fault(
        FaultKind::use_after_free, lane,
        fmt::format("use after free: global access of {} bytes at 0x{:x}, {} bytes into the freed block "
                    "0x{:x} ({} bytes)",
                    bytes, address, into, block.address, block.size));
  }
  const std::string where = into < block.size ? fmt::format("{} bytes into", into)
                                              : fmt::format("{} bytes after the end of", into - block.size);
  at_.fault(FaultKind::out_of_bounds, lane,
            fmt::format("{}, {} the block 0x{:x} ({} bytes) that malloc gave", what, where, block.address,
                        block.size));
}

void BlockMemory::check_shared(std::uint64_t offset, std::uint32_t bytes, int lane) {
  using Found = SharedChecks::Kind;
  if (signals_) return;
  std::optional<SharedChecks::Finding> found;
  bool writes = false;
  switch (at_.launch().accesses[at_.pc]) {
    case isa::Access::load:
      for (std::uint32_t at = 0; at < bytes && !found; at += 4) {
        found = shared_checks_->read(offset + at, std::min(bytes - at, 4u), at_.warp->index);
        if (!found) continue;
        const bool asked = asks_for(bytes, at / 4);
        if (asked && found->kind == Found::unwritten)
          unwritten_word(at_, *this, bytes, at / 4, lane, unwritten_shared(found->offset));
        if (!asked || found->kind == Found::unwritten) found.reset();
      }
      break;
    case isa::Access::matrix_load: found = shared_checks_->read(offset, bytes, at_.warp->index); break;
    case isa::Access::store: {
      writes = true;
      const bool value = stored_.pc == at_.pc && stored_.lane == lane;
      found = shared_checks_->write(offset, bytes, at_.warp->index, at_.pc, shared_.data() + offset,
                                    value ? stored_.bytes.data() : nullptr);
      break;
    }
    case isa::Access::matrix_store:
    case isa::Access::async_copy:
      writes = true;
      found = shared_checks_->write(offset, bytes, at_.warp->index, at_.pc);
      break;
    default: shared_checks_->atomic(offset, bytes, at_.warp->index); break;
  }
  if (!found) return;
  if (found->kind == Found::unwritten)
    tell(FaultKind::uninitialized_read, lane, unwritten_shared(found->offset));
  const bool read_before = found->kind == Found::write_after_read;
  std::string other = fmt::format("warp {} {} it", found->warp, read_before ? "read" : "wrote");
  if (!read_before) {
    const isa::Instruction& i = at_.launch().context.program->code[found->pc];
    other += fmt::format(" at offset 0x{:x} '{}'", i.offset, i.text);
    if (i.file != 0) other += fmt::format(", {}:{}", at_.launch().context.program->files[i.file - 1], i.line);
  }
  at_.fault(FaultKind::race, lane,
            fmt::format("race on shared byte 0x{:x}: warp {} {} it here, {}, with no barrier between",
                        found->offset, at_.warp->index, writes ? "writes" : "reads", other));
}

bool BlockMemory::asks_for(std::uint32_t bytes, std::uint32_t word) {
  if (bytes <= 4) return true;
  const auto [known, first] = asks_.try_emplace({at_.pc, word}, true);
  if (first) known->second = may_read_word(*at_.launch().context.program, at_.pc, word);
  return known->second;
}

void BlockMemory::check_global(std::uint64_t address, std::uint32_t bytes, int lane) {
  const isa::Access access = at_.launch().accesses[at_.pc];
  const bool reads = access != isa::Access::store && access != isa::Access::matrix_store;
  if (reads && !memory_.written().all(address, bytes)) {
    if (access != isa::Access::load)
      tell(FaultKind::uninitialized_read, lane, unwritten_global(address, bytes, *last_));
    for (std::uint32_t at = 0; at < bytes; at += 4) {
      if (!memory_.written().all(address + at, std::min(bytes - at, 4u)) && asks_for(bytes, at / 4))
        unwritten_word(at_, *this, bytes, at / 4, lane, unwritten_global(address, bytes, *last_));
    }
  }
  if (access != isa::Access::load && access != isa::Access::async_copy)
    memory_.written().mark(address, bytes);
}

std::byte* BlockMemory::global_at(std::uint64_t address, std::uint32_t bytes, int lane) {
  if (last_ == nullptr || address - last_->address >= last_->size) last_ = memory_.find(address);
  if (last_ == nullptr || last_->size - (address - last_->address) < bytes)
    return beyond_allocation(address, bytes, lane);
  if (address % bytes != 0) fault_access(FaultKind::misaligned, lane, "global", address, bytes);
  if (memory_.heap().holds(address) && !memory_.heap().usable(address, bytes))
    fault_heap(lane, address, bytes);
  if (checks_global_) check_global(address, bytes, lane);
  return memory_.at(address);
}

std::byte* BlockMemory::shared_at(std::uint64_t address, std::uint32_t bytes, int lane) {
  const std::uint64_t offset = address & kSharedOffsetMask;
  // The block itself is named by no rank or by its own.
  const std::uint64_t rank = address >> kClusterRankShift;
  if (rank != 0 && rank != at_.cluster_rank())
    fault_access(FaultKind::out_of_bounds, lane, "shared", address, bytes);
  if (offset + bytes > at_.launch().shared_bytes) beyond_shared(address, offset, bytes, lane);
  if (offset % bytes != 0) fault_access(FaultKind::misaligned, lane, "shared", address, bytes);
  if (shared_checks_) check_shared(offset, bytes, lane);
  return shared_.data() + offset;
}

std::byte* BlockMemory::cluster_shared_at(std::uint64_t address, std::uint32_t bytes, int lane) {
  const std::uint64_t rank = address >> kClusterRankShift;
  if (rank == at_.cluster_rank()) return shared_at(address, bytes, lane);
  if (cluster_ == nullptr || rank >= cluster_->size()) {
    at_.fault(
        FaultKind::out_of_bounds, lane,
        fmt::format(
            "access of {} bytes to shared memory of the block of rank {} (0x{:x}); the cluster has {} blocks",
            bytes, rank, address, cluster_ == nullptr ? 1 : cluster_->size()));
  }
  if (cluster_->block(rank).ended()) after_end(rank, address, bytes, lane);
  const std::uint64_t offset = address & kSharedOffsetMask;
  if (offset + bytes > at_.launch().shared_bytes) beyond_shared(address, offset, bytes, lane);
  if (offset % bytes != 0) fault_access(FaultKind::misaligned, lane, "shared", address, bytes);
  BlockMemory& other = cluster_->block(rank).memory();
  if (other.shared_checks_) other.shared_checks_->mark_written(offset, bytes);
  return other.shared_.data() + offset;
}

std::byte* BlockMemory::mbarrier_at(std::uint64_t address, int lane) {
  signals_ = true;  // it is no plain access
  std::byte* p = cluster_shared_at(address, 8, lane);
  signals_ = false;
  if (shared_checks_ && address >> kClusterRankShift == at_.cluster_rank()) {
    shared_checks_->atomic(address & kSharedOffsetMask, 8, at_.warp->index);
  }
  return p;
}

std::byte* BlockMemory::local_at(std::uint64_t address, std::uint32_t bytes, int lane) {
  if (address > at_.launch().local_bytes || at_.launch().local_bytes - address < bytes) {
    // The stack grows down from the end of the thread's memory; below its start addresses wrap.
    const std::int64_t below = -std::int64_t{static_cast<std::int32_t>(address)};
    if (below > 0 && below <= kStackGuard) {
      at_.fault(
          FaultKind::stack_overflow, lane,
          fmt::format("stack overflow: local access of {} bytes {} bytes below the thread's {} bytes of "
                      "local memory; "
                      "cudaDeviceSetLimit(cudaLimitStackSize, ...) sets them",
                      bytes, below, at_.launch().local_bytes));
    }
    fault_access(FaultKind::out_of_bounds, lane, "local", address, bytes);
  }
  if (address % bytes != 0) fault_access(FaultKind::misaligned, lane, "local", address, bytes);
  if (!local_) {  // few kernels need it
    local_.reset(static_cast<std::byte*>(
        std::calloc(std::size_t{at_.launch().local_bytes} * at_.launch().warps * 32, 1)));
    if (!local_) throw InputError("out of host memory for the threads' local memory");
  }
  const std::size_t thread = std::size_t{at_.warp->index} * 32 + static_cast<std::size_t>(lane);
  return local_.get() + thread * at_.launch().local_bytes + address;
}

std::byte* BlockMemory::generic_at(std::uint64_t address, std::uint32_t bytes, int lane) {
  if (address - kSharedWindow < kWindowBytes) return cluster_shared_at(address - kSharedWindow, bytes, lane);
  if (address - kLocalWindow < kWindowBytes) return local_at(address - kLocalWindow, bytes, lane);
  return global_at(address, bytes, lane);
}

std::byte* BlockMemory::global_span(const AddressRange& range, std::uint32_t bytes) {
  if ((range.bits & (bytes - 1)) != 0) return nullptr;
  if (last_ == nullptr || range.least - last_->address >= last_->size) last_ = memory_.find(range.least);
  if (last_ == nullptr || range.greatest < range.least) return nullptr;
  if (range.greatest - last_->address + bytes > last_->size) return nullptr;
  if (checks_global_) return nullptr;                     // lanes are looked at one by one
  if (memory_.heap().holds(range.least)) return nullptr;  // its blocks are looked at one by one
  if (!memory_.in_one_piece(range.least, range.greatest)) return nullptr;
  return memory_.at(range.least);
}

std::byte* BlockMemory::shared_span(const AddressRange& range, std::uint32_t bytes) {
  if (shared_checks_) return nullptr;  // lanes are looked at one by one
  const std::uint64_t own = std::uint64_t{at_.cluster_rank()} << kClusterRankShift;
  if (range.least < own || (range.bits & (bytes - 1)) != 0) return nullptr;
  if (range.greatest - own + bytes > at_.launch().shared_bytes) return nullptr;
  return shared_.data() + (range.least - own);
}

}  // namespace foretrace::emulate
