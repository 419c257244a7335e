// Copies and reductions of a tensor's boxes between global and shared memory (cp.async.bulk.tensor, cp.reduce.async.bulk.tensor).
//
// Models:  UTMALDG, UTMASTG, UTMAREDG, tiled and im2col, multicast to blocks of a cluster; the map at a generic address; fills; f32 data
//          rounded to tf32, to nearest even. The .FTZ types flush nothing (an H100). Into shared memory the mbarrier's transactions fall by
//          the whole box. Bytes outside the tensor are not written; reductions act on whole units of 16 bytes. Faults: a map that is not
//          aligned to 64 bytes, of other dimensions or not valid; one of more than one row where four are named (.GATHER4, .SCATTER4); a first coordinate that makes no multiple of 16 bytes, or a negative one
//          where it writes (an H100: illegal instruction); shared memory not aligned to 128 bytes.
//          .W and .W128 (im2col::w, im2col::w::128): the third operand holds the halo in its low 11 bits and the offset in the 5 above
//          (ptxas); they take maps of cuTensorMapEncodeIm2colWide's kinds. As the PTX ISA has them, not asked of a device.
// Ignores: asynchrony (bulk_ops.cpp), cache hints. Interleaved maps are refused; so are .2CTA, whose bytes are told to a block that they do
//          not go to, and a halo of .W that goes beyond the box of pixels, which the PTX ISA shows in a figure alone.
// Record:  one work::Transfer each, with the rows that lie inside the tensor.
#include <algorithm>
#include <bit>
#include <cstdlib>
#include <cstring>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/tensor/tensor_copy.h"
#include "sim/emulate/translate/address_form.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;

namespace {

constexpr std::uint32_t kChunk = 16;  // bytes: the unit of the swizzle
using Chunk = std::array<std::byte, kChunk>;

/// MicroOp::flags beside the atomic's. index2: dimensions.
constexpr std::uint32_t kToSeveral = 2, kExtra = 4, kScattered = 8;
constexpr int kWalkShift = 4;  ///< two bits: BoxWalk
BoxWalk walk_of(const MicroOp& op) { return static_cast<BoxWalk>(op.flags >> kWalkShift & 3); }

constexpr std::uint32_t kBoxAlignment = 128;  ///< of a box in shared memory (an H100: misaligned address)
constexpr std::uint32_t kOffsetMask = (1u << kClusterRankShift) - 1;
constexpr std::uint32_t kNanWord = 0x7ff77ff7;  ///< what fills, in every float type
constexpr std::uint32_t kTf32Nan = 0x7fffe000;

/// One box of one instruction.
struct Box {
  TensorMap map;
  TensorCoordinates coordinates{};
  std::vector<TensorRow>* rows = nullptr;
  std::uint32_t shared = 0;  ///< address with the rank of its block
  int lane = 0;
};

TensorMap map_at(Execution& x, std::uint64_t address, int rank, BoxWalk walk, int lane) {
  if (address % kTensorMapAlignment != 0) {
    x.fault(FaultKind::misaligned, lane,
            fmt::format("the tensor map stands at 0x{:x}; expected a multiple of {}", address,
                        kTensorMapAlignment));
  }
  TensorMapBytes bytes;
  for (std::size_t i = 0; i < bytes.size(); i += kChunk)
    std::memcpy(bytes.data() + i, x.memory.generic_at(address + i, kChunk, lane), kChunk);
  const TensorMap map = decode_tensor_map(bytes);
  const auto refuse = [&](const std::string& what) {
    x.fault(FaultKind::illegal_instruction, lane, fmt::format("the tensor map at 0x{:x} {}", address, what));
  };
  if (const std::string problem = problem_of(map); !problem.empty()) refuse("is not valid: " + problem);
  if (map.rank != rank) refuse(fmt::format("has {} dimensions; the instruction takes {}", map.rank, rank));
  if (map.walk != walk)
    refuse(fmt::format("is {}; the instruction takes one that is {}", name_of(map.walk), name_of(walk)));
  if (map.interleave != 0) x.fault(FaultKind::unsupported, lane, "unsupported: an interleaved tensor map");
  return map;
}

/// Four rows: behind the column their numbers. The box is as high as they are then.
void scatter(Execution& x, Box& box, const std::uint32_t* numbers) {
  if (box.map.box[1] != 1) {
    x.fault(FaultKind::illegal_instruction, box.lane,
            fmt::format("a tensor map with boxes of {} rows for a copy that names four rows; expected 1",
                        box.map.box[1]));
  }
  std::array<std::int32_t, kScatteredRows> rows;
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::int32_t>(numbers[32 * i]);
  scattered_rows_of(box.map, box.coordinates[0], rows, *box.rows);
  box.map.box[1] = kScatteredRows;
  box.map.element_strides[1] = 1;
  // The smallest: what a store must not have below 0.
  box.coordinates[1] = *std::min_element(rows.begin(), rows.end());
}

/// `first` is the uniform register of coordinate 0.
Box box_of(Execution& x, const MicroOp& op, const std::uint32_t* first, int lane) {
  static thread_local std::vector<TensorRow> rows;
  Box box;
  box.lane = lane;
  box.rows = &rows;
  const int rank = static_cast<int>(op.index2);
  box.map = map_at(x, pair(x.words(op.b)), rank, walk_of(op), lane);
  for (int d = 0; d < rank; ++d)
    box.coordinates[static_cast<std::size_t>(d)] = static_cast<std::int32_t>(first[32 * d]);
  const bool padded = bytes_of_chunk(box.map.type) != kChunk;
  const std::int64_t start =
      padded ? std::int64_t{box.coordinates[0]} / 8
             : static_cast<std::int64_t>(tensor_bytes(
                   box.map.type, static_cast<std::uint64_t>(std::abs(std::int64_t{box.coordinates[0]}))));
  if (start % kChunk != 0 || (padded && box.coordinates[0] % 8 != 0)) {
    x.fault(FaultKind::illegal_instruction, lane,
            fmt::format("coordinate {} of a tensor of {} makes {} bytes; expected a multiple of {}",
                        box.coordinates[0], name_of(box.map.type), start, kChunk));
  }
  box.shared = x.words(op.a)[0] + static_cast<std::uint32_t>(op.immediate);
  if (box.shared % kBoxAlignment != 0) {
    x.fault(FaultKind::misaligned, lane,
            fmt::format("a box of a tensor at shared address 0x{:x}; expected a multiple of {}", box.shared,
                        kBoxAlignment));
  }
  if ((op.flags & kScattered) != 0) {
    scatter(x, box, first + 32);
    return box;
  }
  const std::uint32_t extra = (op.flags & kExtra) != 0 ? x.words(op.c)[0] : 0;
  if (!box.map.wide()) {
    rows_of(box.map, box.coordinates, im2col_offsets(extra, rank), rows);
    return box;
  }
  if (const std::string problem = wide_rows_of(box.map, box.coordinates, wide_offsets(extra), rows);
      !problem.empty())
    x.fault(FaultKind::unsupported, lane, "unsupported: " + problem);
  box.map.pixels = static_cast<std::uint32_t>(rows.size());  // with the halo
  return box;
}

/// Calls use(image offset, first byte in the tensor, bytes in the tensor, their address) for every 16 bytes of the box.
template <class Use>
void for_each_chunk(const Box& box, Use&& use) {
  const std::uint32_t packed = bytes_of_chunk(box.map.type);
  for (const TensorRow& row : *box.rows) {
    const std::uint32_t bytes = row.before + row.bytes + row.after;
    for (std::uint32_t at = 0; at < bytes; at += kChunk) {
      const std::uint32_t begin = std::clamp(row.before, at, at + kChunk);
      const std::uint32_t end = std::clamp(row.before + row.bytes, begin, at + kChunk);
      use(row.image + at, begin - at, end - begin,
          row.global + std::uint64_t{begin - row.before} * packed / kChunk);
    }
  }
}

/// What the model's copy engine will move.
void record_box(Execution& x, const Box& box, work::TransferKind kind) {
  work::Transfer& t = x.transfer;
  t.begin(kind, static_cast<std::uint32_t>(box.map.box_bytes()),
          static_cast<std::uint32_t>(box.rows->size()));
  t.shared = box.shared & kOffsetMask;
  for (const TensorRow& row : *box.rows)
    t.piece(row.global, row.bytes * bytes_of_chunk(box.map.type) / kChunk);
}

std::uint32_t converted(TensorType type, std::uint32_t word) {
  if (type != TensorType::tf32 && type != TensorType::tf32_ftz) return word;
  if ((word & 0x7fffffff) > 0x7f800000) return kTf32Nan;
  constexpr std::uint32_t kCut = 0x1fff;
  return (word + (kCut >> 1) + (word >> 13 & 1)) & ~kCut;
}

void convert(TensorType type, Chunk& chunk) {
  if (type != TensorType::tf32 && type != TensorType::tf32_ftz) return;
  for (std::size_t i = 0; i < kChunk; i += 4) {
    std::uint32_t word;
    std::memcpy(&word, chunk.data() + i, 4);
    word = converted(type, word);
    std::memcpy(chunk.data() + i, &word, 4);
  }
}

/// The pieces in which `bytes` of a chunk are accessed in the tensor: all of them at once, or element by element.
struct Pieces {
  std::uint32_t bytes, step;
};
Pieces pieces_of(TensorType type, std::uint32_t bytes) {
  const std::uint32_t packed = bytes_of_chunk(type);
  if (packed != kChunk) return {bytes * packed / kChunk, 4};
  return {bytes, bytes == kChunk ? kChunk : std::max(1u, element_bytes(type))};
}

void read_tensor(Execution& x, const Box& box, std::uint64_t address, std::uint32_t of_image, std::byte* to) {
  const auto [bytes, step] = pieces_of(box.map.type, of_image);
  if (step == kChunk) {
    std::memcpy(to, x.memory.global_at(address, kChunk, box.lane), kChunk);
    return;
  }
  for (std::uint32_t i = 0; i < bytes; i += step)
    std::memcpy(to + i, x.memory.global_at(address + i, step, box.lane), step);
}

void load_box(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const int lane = std::countr_zero(mask);
  const std::uint32_t* a = x.words(op.a);
  const Box box = box_of(x, op, a + 2 * 32, lane);
  const std::uint32_t rank_bits = box.shared & ~kOffsetMask;
  std::array<std::uint32_t, 16> blocks{rank_bits};
  std::size_t count = 1;
  if ((op.flags & kToSeveral) != 0) {
    count = 0;
    for (std::uint32_t m = x.words(op.c)[0] >> 16; m != 0; m &= m - 1)
      blocks[count++] = static_cast<std::uint32_t>(std::countr_zero(m)) << kClusterRankShift;
  }
  Chunk fill;
  for (std::size_t i = 0; i < kChunk; i += 4) {
    const std::uint32_t word = box.map.nan_fill ? kNanWord : 0;
    std::memcpy(fill.data() + i, &word, 4);
  }
  for_each_chunk(
      box, [&](std::uint32_t image, std::uint32_t first, std::uint32_t bytes, std::uint64_t address) {
        Chunk chunk = bytes == kChunk ? Chunk{} : fill;
        if (bytes == kChunk) {
          read_tensor(x, box, address, bytes, chunk.data());
          convert(box.map.type, chunk);
        } else if (bytes != 0) {
          Chunk data{};
          read_tensor(x, box, address, bytes, data.data() + first);
          convert(box.map.type, data);
          std::memcpy(chunk.data() + first, data.data() + first, bytes);
        }
        const std::uint32_t at = swizzled(box.map.swizzle, (box.shared & kOffsetMask) + image);
        for (std::size_t i = 0; i < count; ++i)
          std::memcpy(x.memory.cluster_shared_at(blocks[i] | at, kChunk, lane), chunk.data(), kChunk);
      });
  const auto bytes = static_cast<std::uint32_t>(box.map.box_bytes());
  record_box(x, box, work::TransferKind::load);
  x.transfer.barrier = a[32] & kOffsetMask;
  x.transfer.blocks = 0;
  for (std::size_t i = 0; i < count; ++i) x.transfer.blocks |= 1u << (blocks[i] >> kClusterRankShift & 31);
  for (std::size_t i = 0; i < count; ++i) signal_bytes(x, blocks[i] | (a[32] & kOffsetMask), bytes, lane);
}

/// A box to be written: an H100 takes no negative coordinate there.
Box target_box_of(Execution& x, const MicroOp& op, int lane) {
  const Box box = box_of(x, op, x.words(op.a) + 32, lane);
  for (int d = 0; d < box.map.rank; ++d) {
    const std::int32_t c = box.coordinates[static_cast<std::size_t>(d)];
    if (c < 0) {
      x.fault(
          FaultKind::illegal_instruction, lane,
          fmt::format("coordinate {} of dimension {} of a tensor that is written; expected 0 or more", c, d));
    }
  }
  return box;
}

const std::byte* shared_chunk(Execution& x, const Box& box, std::uint32_t image) {
  const std::uint32_t at = swizzled(box.map.swizzle, (box.shared & kOffsetMask) + image);
  return x.memory.cluster_shared_at((box.shared & ~kOffsetMask) | at, kChunk, box.lane);
}

void store_box(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const Box box = target_box_of(x, op, std::countr_zero(mask));
  record_box(x, box, work::TransferKind::store);
  for_each_chunk(box,
                 [&](std::uint32_t image, std::uint32_t first, std::uint32_t bytes, std::uint64_t address) {
                   const std::byte* from = shared_chunk(x, box, image) + first;
                   const auto [all, step] = pieces_of(box.map.type, bytes);
                   for (std::uint32_t i = 0; i < all; i += step)
                     std::memcpy(x.memory.written_at(address + i, step, box.lane), from + i, step);
                 });
}

/// The atomic's type by the map's; false: it has none.
bool reduction_type(TensorType type, AtomicType& out) {
  switch (type) {
    case TensorType::u32: out = AtomicType::u32; return true;
    case TensorType::s32: out = AtomicType::s32; return true;
    case TensorType::u64: out = AtomicType::u64; return true;
    case TensorType::s64: out = AtomicType::s64; return true;
    case TensorType::f16: out = AtomicType::f16x2; return true;
    case TensorType::bf16: out = AtomicType::bf16x2; return true;
    case TensorType::f32:
    case TensorType::f32_ftz:
    case TensorType::tf32:
    case TensorType::tf32_ftz: out = AtomicType::f32; return true;
    case TensorType::f64: out = AtomicType::f64; return true;
    default: return false;
  }
}

/// An H100 reduces into whole units of 16 bytes, where a row of the tensor ends within one, too: its padding, as far as there is memory.
std::uint32_t reduced_bytes(Execution& x, std::uint64_t address, std::uint32_t bytes, std::uint32_t unit) {
  const GlobalMemory::Allocation* a = x.launch().context.memory->find(address);
  if (a == nullptr) return bytes;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(unit, a->address + a->size - address));
}

void reduce_box(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const Box box = target_box_of(x, op, std::countr_zero(mask));
  const auto operation = static_cast<AtomicOp>(op.flags >> kAtomicOpShift & 15);
  AtomicType type{};
  record_box(x, box, work::TransferKind::reduce);
  const bool floats = is_floating(box.map.type);
  const bool halves = element_bytes(box.map.type) == 2;
  if (!reduction_type(box.map.type, type) || (floats && !halves && operation != AtomicOp::add) ||
      (floats && operation > AtomicOp::max)) {
    x.fault(FaultKind::illegal_instruction, box.lane,
            fmt::format("such a reduction of a tensor of {}", name_of(box.map.type)));
  }
  for_each_chunk(
      box, [&](std::uint32_t image, std::uint32_t first, std::uint32_t bytes, std::uint64_t address) {
        const std::byte* from = shared_chunk(x, box, image) + first;
        if (bytes == kChunk) {
          combine_bytes(operation, type, x.memory.global_at(address, kChunk, box.lane), from, kChunk);
          return;
        }
        if (bytes == 0) return;
        const std::uint32_t step = element_bytes(box.map.type);
        const std::uint32_t reach = reduced_bytes(x, address, bytes, kChunk - first);
        for (std::uint32_t i = 0; i + step <= reach; i += step) {
          std::byte* to = x.memory.global_at(address + i, step, box.lane);
          std::array<std::byte, 8> old{}, operand{};  // halves are combined in pairs
          std::memcpy(old.data(), to, step);
          std::memcpy(operand.data(), from + i, step);
          combine_bytes(operation, type, old.data(), operand.data(), std::max(step, 4u));
          std::memcpy(to, old.data(), step);
        }
      });
}

void translate(Decoder& d, WarpFunction function) {
  MicroOp& op = d.op();
  op.index2 = static_cast<std::uint32_t>(d.printed.need_one({"1D", "2D", "3D", "4D", "5D"})) + 1;
  op.flags |= static_cast<std::uint32_t>(d.printed.take_one({"IM2COL", "W", "W128"}, -1) + 1) << kWalkShift;
  const bool four = d.printed.take("GATHER4") || d.printed.take("SCATTER4");
  if (four && op.index2 != 2) PrintedForm::refuse("four rows of what is no matrix");
  d.flag(four, kScattered);
  d.flag(d.printed.take("MULTICAST"), kToSeveral);
  std::int64_t offset = 0;
  op.a = take_uniform_address(d, offset);
  op.immediate = static_cast<std::uint64_t>(offset);
  op.b = take_uniform_address(d, offset);
  if (offset != 0) PrintedForm::refuse("an offset of the map's address");
  if (d.printed.next_is(isa::OperandKind::uniform_register)) {
    op.c = d.source(Style::raw);
    op.flags |= kExtra;
  }
  if (d.printed.more() && d.printed.peek().text.starts_with("desc")) d.printed.next();  // a cache hint
  op.transfers = true;
  op.progress = true;
  d.warp(function);
}

}  // namespace

bool translate_tensor_copy(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::UTMALDG: translate(d, load_box); return true;
    case Opcode::UTMASTG: translate(d, store_box); return true;
    case Opcode::UTMAREDG:
      d.op().flags |= static_cast<std::uint32_t>(
                          d.printed.need_one({"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"}))
                      << kAtomicOpShift;
      translate(d, reduce_box);
      return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
