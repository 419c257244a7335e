// Bulk copies and reductions between global and shared memory that one thread starts (cp.async.bulk without a tensor map).
//
// Models:  UBLKCP and UBLKRED: a uniform register pair or register for each address, the size in units of 16 bytes in the low half
//          of a third register (its high half: the blocks of the cluster that a multicast goes to). Into shared memory, the
//          register after the destination's is the mbarrier whose transaction count falls by the bytes copied. Source: our probe kernels.
//          .DST_G_BYTE_MASK (cp.async.bulk with .cp_mask, from sm_100 on): of every 16 bytes those are written whose bits are set in the
//          third register's high half. UMEMSETS (st.bulk, from sm_100 on): zeros to shared memory, its size in units of 8 bytes; at once.
//          Both as the PTX ISA says, not asked of a device.
//          UGETNEXTWORKID (clusterlaunchcontrol.try_cancel): asks for the grid's next cluster instead of its launch. The answer is 16
//          bytes, bit 0 of the third word: there is one; here there is none, as on a device whose grid has started (the PTX ISA lets a
//          request fail): every block is launched and computes its own part. Source: how ptxas 13.0 decodes the answer.
// Ignores: asynchrony: the copy has happened before the next instruction, so waiting for groups of them (UTMACMDFLUSH,
//          DEPBAR) is nothing; cache hints; what a prefetch (UBLKPF) brings is recorded and nothing else of it.
// Record:  one work::Transfer each: the model moves it when its copy engine comes to it.
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/translate/address_form.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;

namespace {

constexpr std::uint32_t kPiece = 16;     // bytes: the unit of sizes and of alignment
constexpr std::uint32_t kZeroed = 8;     // bytes: UMEMSETS's unit
constexpr std::uint32_t kBulkRow = 128;  // bytes of a copy without a map that are moved as one row

/// MicroOp::flags beside the atomic's: where it goes.
constexpr std::uint32_t kToShared = 1, kFromShared = 2, kMulticast = 4, kReduces = 8, kMasked = 16;

constexpr std::uint64_t kOffset = (std::uint64_t{1} << kClusterRankShift) - 1;  // in a block's shared memory

void record_bulk(Execution& x, const MicroOp& op, std::uint64_t to, std::uint64_t from, std::uint32_t bytes,
                 std::uint32_t ranks) {
  using work::TransferKind;
  const bool to_shared = (op.flags & kToShared) != 0, from_shared = (op.flags & kFromShared) != 0;
  work::Transfer& t = x.transfer;
  const TransferKind kind = bytes == 0                   ? TransferKind::none
                            : to_shared && from_shared   ? TransferKind::shared
                            : to_shared                  ? TransferKind::load
                            : (op.flags & kReduces) != 0 ? TransferKind::reduce
                                                         : TransferKind::store;
  t.begin(kind, bytes, (bytes + kBulkRow - 1) / kBulkRow);
  t.shared = static_cast<std::uint32_t>((from_shared ? from : to) & kOffset);
  if (to_shared) {
    t.barrier = static_cast<std::uint32_t>(x.words(op.a)[32] & kOffset);
    t.blocks = (op.flags & kMulticast) != 0 ? ranks : 1u << (to >> kClusterRankShift & 31);
  }
  if (kind != TransferKind::shared) t.piece(to_shared ? from : to, bytes);
}

/// a: address (pair) and its offset; c: size.
void prefetch(Execution& x, const MicroOp& op, std::uint32_t) {
  const std::uint32_t bytes = (x.words(op.c)[0] & 0xffff) * kPiece;
  x.transfer.begin(bytes == 0 ? work::TransferKind::none : work::TransferKind::prefetch, bytes,
                   (bytes + kBulkRow - 1) / kBulkRow);
  x.transfer.piece(pair(x.words(op.a)) + op.immediate, bytes);
}

/// a: destination, immediate: its offset; b: source, index2: its offset; c: size.
void bulk(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const int lane = std::countr_zero(mask);
  const bool to_shared = (op.flags & kToShared) != 0, from_shared = (op.flags & kFromShared) != 0;
  const std::uint32_t *a = x.words(op.a), *b = x.words(op.b);
  const std::uint32_t size = x.words(op.c)[0];
  const std::uint64_t to = (to_shared ? a[0] : pair(a)) + op.immediate;
  const std::uint64_t from = (from_shared ? b[0] : pair(b)) + op.index2;
  const std::uint32_t bytes = (size & 0xffff) * kPiece;
  const auto operation = static_cast<AtomicOp>(op.flags >> kAtomicOpShift & 15);
  const auto type = static_cast<AtomicType>(op.flags >> kAtomicTypeShift & 15);
  const auto copy_to = [&](std::uint64_t first) {
    for (std::uint32_t i = 0; i < bytes; i += kPiece) {
      const std::byte* source = from_shared ? x.memory.cluster_shared_at(from + i, kPiece, lane)
                                            : x.memory.global_at(from + i, kPiece, lane);
      std::byte* target = to_shared ? x.memory.cluster_shared_at(first + i, kPiece, lane)
                                    : x.memory.global_at(first + i, kPiece, lane);
      if ((op.flags & kReduces) != 0) {
        combine_bytes(operation, type, target, source, kPiece);
      } else if ((op.flags & kMasked) != 0) {
        for (std::uint32_t byte = 0; byte < kPiece; ++byte)
          if ((size >> (16 + byte) & 1) != 0) target[byte] = source[byte];
      } else {
        std::memmove(target, source, kPiece);
      }
    }
    if (to_shared) {
      // The barrier is in the same block as the destination; only its offset is given.
      const std::uint64_t rank = first >> kClusterRankShift << kClusterRankShift;
      signal_bytes(x, rank | (a[32] & ((1u << kClusterRankShift) - 1)), bytes, lane);
    }
  };
  record_bulk(x, op, to, from, bytes, size >> 16);
  if ((op.flags & kMulticast) == 0) {
    copy_to(to);
    return;
  }
  for (std::uint32_t ranks = size >> 16; ranks != 0; ranks &= ranks - 1) {
    const auto rank = static_cast<std::uint64_t>(std::countr_zero(ranks));
    copy_to(rank << kClusterRankShift | (to & ((1u << kClusterRankShift) - 1)));
  }
}

/// a: address, immediate: its offset; c: size.
void clear(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const int lane = std::countr_zero(mask);
  const std::uint64_t first = x.words(op.a)[0] + op.immediate;
  const std::uint64_t bytes = std::uint64_t{x.words(op.c)[0]} * kZeroed;
  for (std::uint64_t i = 0; i < bytes; i += kZeroed)
    std::memset(x.memory.shared_at(first + i, kZeroed, lane), 0, kZeroed);
}

void clears(Decoder& d) {
  MicroOp& op = d.op();
  if (!d.printed.take("64")) PrintedForm::refuse("units other than .64");
  std::int64_t offset = 0;
  op.a = take_uniform_address(d, offset);
  op.immediate = static_cast<std::uint64_t>(offset);
  const isa::Operand& value = d.printed.next();
  if (value.kind != isa::OperandKind::uniform_register || value.index != isa::kUrz)
    PrintedForm::refuse(fmt::format("'{}' as what is stored", value.text));
  op.c = d.source(Style::raw);
  op.progress = true;
  d.warp(clear);
}

/// a: where the answer goes, immediate: its offset; b: the mbarrier, index2: its offset.
void next_work(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const int lane = std::countr_zero(mask);
  const std::uint64_t to = x.words(op.a)[0] + op.immediate, barrier = x.words(op.b)[0] + op.index2;
  const Dim3& cluster = x.launch().context.cluster;
  const std::uint32_t all = (op.flags & kMulticast) != 0 ? static_cast<std::uint32_t>(cluster.count()) : 0;
  x.transfer.begin(work::TransferKind::shared, kPiece, 1);
  x.transfer.shared = static_cast<std::uint32_t>(to & kOffset);
  x.transfer.barrier = static_cast<std::uint32_t>(barrier & kOffset);
  x.transfer.blocks = all != 0 ? static_cast<std::uint32_t>((std::uint64_t{1} << all) - 1)
                               : 1u << (to >> kClusterRankShift & 31);
  for (std::uint32_t ranks = x.transfer.blocks; ranks != 0; ranks &= ranks - 1) {
    const std::uint64_t block = static_cast<std::uint64_t>(std::countr_zero(ranks)) << kClusterRankShift;
    std::memset(x.memory.cluster_shared_at(block | (to & kOffset), kPiece, lane), 0, kPiece);
    signal_bytes(x, block | (barrier & kOffset), kPiece, lane);
  }
}

void asks_for_work(Decoder& d) {
  MicroOp& op = d.op();
  if (d.printed.need_one({"SELFCAST", "BROADCAST"}) == 1) op.flags |= kMulticast;
  std::int64_t offset = 0;
  op.a = take_uniform_address(d, offset);
  op.immediate = static_cast<std::uint64_t>(offset);
  op.b = take_uniform_address(d, offset);
  op.index2 = static_cast<std::uint32_t>(offset);
  op.transfers = true;
  op.progress = true;
  d.warp(next_work);
}

void take_reduction(Decoder& d) {
  MicroOp& op = d.op();
  const auto operation =
      static_cast<AtomicOp>(d.printed.need_one({"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"}));
  static constexpr AtomicType kTypes[] = {AtomicType::u32, AtomicType::s32,   AtomicType::u64,
                                          AtomicType::s64, AtomicType::f16x2, AtomicType::bf16x2,
                                          AtomicType::f32, AtomicType::f64};
  const AtomicType type =
      kTypes[d.printed.take_one({"U32", "S32", "U64", "S64", "F16", "BF16", "F32", "F64"}, 0)];
  d.printed.take("RN");
  if ((type == AtomicType::f32 || type == AtomicType::f64) && operation != AtomicOp::add) {
    PrintedForm::refuse("such an operation on floats");
  }
  op.flags |= kReduces | static_cast<std::uint32_t>(operation) << kAtomicOpShift |
              static_cast<std::uint32_t>(type) << kAtomicTypeShift;
}

void translate(Decoder& d, bool reduces) {
  MicroOp& op = d.op();
  // Destination, then source: S.G, G.S, or S twice.
  const bool shared_first =
      d.printed.instruction().modifiers.size() >= 2 && d.printed.instruction().modifiers[0] == "S";
  const bool shared_second =
      d.printed.instruction().modifiers.size() >= 2 && d.printed.instruction().modifiers[1] == "S";
  d.printed.take_one({"S", "G"}, 0);
  d.printed.take_one({"S", "G"}, 0);
  if (!shared_first && !shared_second) PrintedForm::refuse("a copy within global memory");
  d.flag(shared_first, kToShared);
  d.flag(shared_second, kFromShared);
  if (reduces) {
    take_reduction(d);
  } else if (d.printed.take("MULTICAST")) {
    if (!shared_first) PrintedForm::refuse("a multicast to global memory");
    op.flags |= kMulticast;
  } else if (d.printed.take("DST_G_BYTE_MASK")) {
    if (shared_first) PrintedForm::refuse("a byte mask of a copy to shared memory");
    op.flags |= kMasked;
  }
  std::int64_t offset = 0;
  op.a = take_uniform_address(d, offset);
  op.immediate = static_cast<std::uint64_t>(offset);
  op.b = take_uniform_address(d, offset);
  op.index2 = static_cast<std::uint32_t>(offset);
  op.c = d.source(Style::raw);
  if (d.printed.more() && d.printed.peek().text.starts_with("desc")) d.printed.next();  // a cache hint
  op.transfers = true;
  op.progress = true;
  d.warp(bulk);
}

void prefetches(Decoder& d) {
  MicroOp& op = d.op();
  d.printed.take("L2");
  std::int64_t offset = 0;
  op.a = take_uniform_address(d, offset);
  op.immediate = static_cast<std::uint64_t>(offset);
  op.c = d.source(Style::raw);
  if (d.printed.more() && d.printed.peek().text.starts_with("desc")) d.printed.next();  // a cache hint
  op.transfers = true;
  d.warp(prefetch);
}

}  // namespace

bool translate_bulk(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::UBLKCP: translate(d, false); return true;
    case Opcode::UBLKRED: translate(d, true); return true;
    case Opcode::UBLKPF: prefetches(d); return true;
    case Opcode::UMEMSETS: clears(d); return true;
    case Opcode::UGETNEXTWORKID: asks_for_work(d); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
