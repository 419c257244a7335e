// Matrix products of a warpgroup (wgmma): HGMMA, QGMMA, IGMMA, BGMMA.
//
// Models:  operands in shared memory by descriptor (matrix_descriptor.h) or A in registers; all shapes; negation, transposition,
//          a zero or added accumulator, sparse A. Each warp computes its 16 rows when it comes to the instruction. Sums: fused_sum.h.
//          Compared with an H100, bit by bit (validate/vectors/tensor).
//          The four warps multiply together: one that waits for its products waits until the others have come to them, too
//          (CUTLASS's example 63 stores over the operands then, with no other barrier between).
// Ignores: asynchrony. Registers and shared memory belong to the product until it is waited for; what a correct program sees is the
//          same as if it were done at once.
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "model/isa/matrix_shapes.h"
#include "sim/emulate/execute/execution.h"
#include "sim/emulate/tensor/matrix_descriptor.h"
#include "sim/emulate/tensor/products.h"
#include "sim/emulate/translate/address_form.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;

namespace {

/// MicroOp::flags.
constexpr std::uint32_t kGroupHalf = 1, kGroupSaturates = 2, kGroupSparse = 4, kSharedA = 8,
                        kTransposedA = 16, kTransposedB = 32, kNegatedA = 64, kNegatedB = 128,
                        kNarrowFloats = 256, kZero = 512, kDummy = 1024;
constexpr int kFactorAShift = 16, kFactorBShift = 20;
/// MicroOp::immediate: word of the metadata register, above it the selector. index2: columns.
constexpr int kSelectorShift = 32;

constexpr int kOperandBytes = 32;  ///< of a row of A, of a column of B (twice that where A is sparse)
constexpr std::uint32_t kOperandChunk = 16;
constexpr int kDescriptorB =
    2 * 32;  ///< words from A's descriptor, whose place stays where A is in registers, to B's

Element type_a(const MicroOp& op) { return static_cast<Element>(op.flags >> kFactorAShift & 15); }
Element type_b(const MicroOp& op) { return static_cast<Element>(op.flags >> kFactorBShift & 15); }

/// 16 bytes of the block's shared memory.
struct OperandChunk {
  std::uint32_t words[kOperandChunk / 4];
  template <int kBits>
  std::uint32_t element(int index) const {
    if constexpr (kBits == 32) {
      return words[index] >> 13;  // tf32: the low 13 bits are not looked at
    } else {
      constexpr int kPer = 32 / kBits;
      return words[index / kPer] >> (index % kPer * kBits) & ((1u << kBits) - 1);
    }
  }
};
OperandChunk operand_chunk_at(Execution& x, std::uint32_t address, int lane) {
  OperandChunk c;
  std::memcpy(c.words, x.memory.shared_at(address, kOperandChunk, lane), kOperandChunk);
  return c;
}

/// The block's shared memory where a K-major operand stands that can be read without a look at each access; null elsewhere.
struct Stretch {
  const std::byte* data = nullptr;
  std::uint32_t first = 0;  ///< its address
};
Stretch stretch_of(Execution& x, const MatrixDescriptor& d, int first, int rows, int bytes) {
  const auto group = [&](int row) { return d.start + static_cast<std::uint32_t>(row / 8) * d.stride; };
  const auto last_chunk = static_cast<std::uint32_t>(bytes) - kOperandChunk;
  const std::uint32_t along = d.swizzle == 0 ? last_chunk / kOperandChunk * d.leading : last_chunk;
  const std::uint32_t least = group(first) & ~127u;  // a swizzle stays within 128 bytes
  const std::uint32_t greatest =
      ((group(first + rows - 8) + 7 * kSwizzledRow[d.swizzle] + along) | 127u) - (kOperandChunk - 1);
  const std::uint64_t own = std::uint64_t{x.cluster_rank()} << kClusterRankShift;
  return {x.memory.shared_span({own | least, own + greatest, 0}, kOperandChunk), least};
}

/// Every element of a matrix in shared memory: put(row, k, bits). `bytes` of each of `rows` rows from `first` on.
template <int kBits, class Put>
void fetch(Execution& x, std::uint64_t bits, bool transposed, int first, int rows, int bytes, int lane,
           Put&& put) {
  const MatrixDescriptor d = matrix_descriptor(bits);
  constexpr int kPer = static_cast<int>(kOperandChunk) * 8 / kBits;
  if (transposed) {
    for (int k = 0; k < bytes * 8 / kBits; ++k) {
      for (int r = first; r < first + rows; r += kPer) {
        const std::uint32_t at = static_cast<std::uint32_t>(r * kBits / 8);
        const OperandChunk c =
            operand_chunk_at(x, mn_major_address(d, at, static_cast<std::uint32_t>(k)), lane);
        for (int i = 0; i < kPer; ++i) put(r + i, k, c.element<kBits>(i));
      }
    }
    return;
  }
  const Stretch stretch = stretch_of(x, d, first, rows, bytes);
  for (int r = first; r < first + rows; ++r) {
    for (int at = 0; at < bytes; at += static_cast<int>(kOperandChunk)) {
      const std::uint32_t address =
          k_major_address(d, static_cast<std::uint32_t>(r), static_cast<std::uint32_t>(at));
      OperandChunk c;
      if (stretch.data != nullptr) {
        std::memcpy(c.words, stretch.data + (address - stretch.first), kOperandChunk);
      } else {
        c = operand_chunk_at(x, address, lane);
      }
      for (int i = 0; i < kPer; ++i) put(r, at * 8 / kBits + i, c.element<kBits>(i));
    }
  }
}

using Halves = std::uint16_t __attribute__((vector_size(16)));

/// Rows become columns: three rounds that lay row i and row i + 4 into each other.
void transpose(Halves (&rows)[8]) {
  for (int round = 0; round < 3; ++round) {
    Halves next[8];
    for (int i = 0; i < 4; ++i) {
      next[2 * i] = __builtin_shufflevector(rows[i], rows[i + 4], 0, 8, 1, 9, 2, 10, 3, 11);
      next[2 * i + 1] = __builtin_shufflevector(rows[i], rows[i + 4], 4, 12, 5, 13, 6, 14, 7, 15);
    }
    std::memcpy(rows, next, sizeof next);
  }
}

/// B, K-major, of elements of 16 bits: eight columns by eight elements at a time. To b[k * columns + place_of_column].
void fetch_halves(const MatrixDescriptor& d, const Stretch& from, int columns, int bytes, std::uint32_t flip,
                  std::uint32_t* b) {
  const auto flipped = static_cast<std::uint16_t>(flip);
  for (int n = 0; n < columns; n += 8) {
    for (int at = 0; at < bytes; at += static_cast<int>(kOperandChunk)) {
      Halves rows[8];
      for (int place = 0; place < 8; ++place) {
        const auto column = static_cast<std::uint32_t>(n + column_of_place(place));
        std::memcpy(&rows[place],
                    from.data + (k_major_address(d, column, static_cast<std::uint32_t>(at)) - from.first),
                    kOperandChunk);
      }
      transpose(rows);
      for (int i = 0; i < 8; ++i) {
        const Halves row = rows[i] ^ flipped, zero{};
        const Halves words[2] = {__builtin_shufflevector(row, zero, 0, 8, 1, 9, 2, 10, 3, 11),
                                 __builtin_shufflevector(row, zero, 4, 12, 5, 13, 6, 14, 7, 15)};
        std::memcpy(b + (at / 2 + i) * columns + n, words, sizeof words);
      }
    }
  }
}

/// A in registers, as mma.sync has it: register j holds row lane/4 + 8*(j%2), bytes 16*(j/2) + 4*(lane%4) and on.
template <int kBits, class Put>
void fetch_registers(const std::uint32_t* a, Put&& put) {
  constexpr int kPer = 32 / kBits;
  for (int j = 0; j < 4; ++j) {
    for (int lane = 0; lane < 32; ++lane) {
      const std::uint32_t word = a[j * 32 + lane];
      const int k = (16 * (j / 2) + 4 * (lane % 4)) * 8 / kBits;
      for (int i = 0; i < kPer; ++i) {
        std::uint32_t bits = word >> 13;
        if constexpr (kBits != 32) bits = word >> (i * kBits) & ((1u << kBits) - 1);
        put(lane / 4 + 8 * (j % 2), k + i, bits);
      }
    }
  }
}

template <int kBits>
void fetch_elements(Execution& x, const MicroOp& op, int lane, int bytes_b, ProductOperands& o) {
  constexpr int kSignBit = kBits == 32 ? 18 : kBits - 1;
  constexpr int kDepth = kOperandBytes * 8 / kBits;
  o.depth = kDepth;
  o.depth_b = bytes_b * 8 / kBits;
  const std::uint32_t flip_a = (op.flags & kNegatedA) != 0 ? 1u << kSignBit : 0;
  const std::uint32_t flip_b = (op.flags & kNegatedB) != 0 ? 1u << kSignBit : 0;
  const std::uint32_t* descriptors = x.words(op.b);
  const int first = static_cast<int>(x.warp->index % 4) * kTileRows, columns = o.columns;
  std::uint32_t *const a = o.a, *const b = o.b;
  const auto put_a = [=](int row, int k, std::uint32_t v) { a[row * kDepth + k] = v ^ flip_a; };
  if ((op.flags & kSharedA) != 0) {
    fetch<kBits>(x, pair(descriptors), (op.flags & kTransposedA) != 0, first, kTileRows, kOperandBytes, lane,
                 [=](int row, int k, std::uint32_t v) { put_a(row - first, k, v); });
  } else {
    fetch_registers<kBits>(x.words(op.a), put_a);
  }
  if constexpr (kBits == 16) {
    const MatrixDescriptor d = matrix_descriptor(pair(descriptors + kDescriptorB));
    const Stretch stretch = stretch_of(x, d, 0, columns, bytes_b);
    if ((op.flags & kTransposedB) == 0 && stretch.data != nullptr)
      return fetch_halves(d, stretch, columns, bytes_b, flip_b, b);
  }
  fetch<kBits>(
      x, pair(descriptors + kDescriptorB), (op.flags & kTransposedB) != 0, 0, columns, bytes_b, lane,
      [=](int column, int k, std::uint32_t v) { b[k * columns + place_of_column(column)] = v ^ flip_b; });
}

void fetch_operands(Execution& x, const MicroOp& op, int lane, ProductOperands& o) {
  o.type_a = type_a(op);
  o.type_b = type_b(op);
  o.sparse = (op.flags & kGroupSparse) != 0;
  o.columns = static_cast<int>(op.index2);
  const int bytes_b = o.sparse ? 2 * kOperandBytes : kOperandBytes;
  switch (bits_of(o.type_a)) {
    case 8: fetch_elements<8>(x, op, lane, bytes_b, o); break;
    case 16: fetch_elements<16>(x, op, lane, bytes_b, o); break;
    default: fetch_elements<32>(x, op, lane, bytes_b, o);
  }
  if (o.sparse) {
    const std::uint32_t* meta = x.frame.file[static_cast<int>(File::registers)] + (op.immediate & 0xffffffff);
    read_metadata(meta, static_cast<int>(op.immediate >> kSelectorShift), o);
  }
}

/// b1: the bits set in both, 32 bytes of each.
void multiply_bits(Execution& x, const MicroOp& op, int lane, const std::uint32_t* c, std::uint32_t* d) {
  const std::uint32_t* descriptors = x.words(op.b);
  std::uint32_t a[kTileRows][kOperandBytes / 4];
  const int first = static_cast<int>(x.warp->index % 4) * kTileRows;
  if ((op.flags & kSharedA) != 0) {
    const MatrixDescriptor m = matrix_descriptor(pair(descriptors));
    for (int row = 0; row < kTileRows; ++row) {
      for (std::uint32_t at = 0; at < kOperandBytes; at += kOperandChunk) {
        const OperandChunk chunk =
            operand_chunk_at(x, k_major_address(m, static_cast<std::uint32_t>(first + row), at), lane);
        std::memcpy(a[row] + at / 4, chunk.words, kOperandChunk);
      }
    }
  } else {
    const std::uint32_t* r = x.words(op.a);
    for (int j = 0; j < 4; ++j) {
      for (int l = 0; l < 32; ++l) a[l / 4 + 8 * (j % 2)][4 * (j / 2) + l % 4] = r[j * 32 + l];
    }
  }
  const MatrixDescriptor m = matrix_descriptor(pair(descriptors + kDescriptorB));
  for (int n = 0; n < static_cast<int>(op.index2); ++n) {
    std::uint32_t b[kOperandBytes / 4];
    for (std::uint32_t at = 0; at < kOperandBytes; at += kOperandChunk) {
      const OperandChunk chunk =
          operand_chunk_at(x, k_major_address(m, static_cast<std::uint32_t>(n), at), lane);
      std::memcpy(b + at / 4, chunk.words, kOperandChunk);
    }
    for (int row = 0; row < kTileRows; ++row) {
      const int at = (n / 8 * 4 + row / 8 * 2 + n % 2) * 32 + row % 8 * 4 + n % 8 / 2;
      std::uint32_t sum = c == nullptr ? 0 : c[at];
      for (int i = 0; i < kOperandBytes / 4; ++i)
        sum += static_cast<std::uint32_t>(std::popcount(a[row][i] & b[i]));
      d[at] = sum;
    }
  }
}

void multiply_rows(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const int lane = std::countr_zero(mask);
  if (mask != ~0u) x.fault(FaultKind::illegal_instruction, lane, "wgmma executed by part of a warp");
  if ((op.flags & kDummy) != 0) return;
  const bool zero = (op.flags & kZero) != 0 || (x.predicate(op.p_in) & mask) == 0;
  const std::uint32_t* c = zero ? nullptr : x.words(op.c);
  std::uint32_t* d = x.result(op);
  const Element type = type_a(op);
  if (type == Element::bit) return multiply_bits(x, op, lane, c, d);
  static thread_local ProductOperands operands;
  fetch_operands(x, op, lane, operands);
  if (type == Element::s8 || type == Element::u8)
    return multiply_integers(x.lanes(), operands, (op.flags & kGroupSaturates) != 0, c, d);
  SumRule rule;
  rule.half = (op.flags & kGroupHalf) != 0;
  if ((op.flags & kNarrowFloats) != 0) {
    rule.kept = 13;
    rule.result_bits = 13;
  }
  multiply_floats(x.lanes(), operands, rule, c, d);
}

/// Where the checks of shared memory keep what the warps of a warpgroup have read by the ends of their groups of products: that
/// who waits knows of later groups, too, is more than it can know.
std::uint64_t products_place(const Warp& warp) {
  constexpr std::uint32_t kFirst = 32;  // behind the block's and the cluster's barriers
  return SharedChecks::barrier(kFirst + warp.index / 4);
}

}  // namespace

void pass_product(Execution& x, const MicroOp& op, std::uint32_t) {
  if (op.target == 0) return;
  ++x.warp->products;
  if (SharedChecks* checks = x.memory.shared_checks()) checks->arrive(products_place(*x.warp), x.warp->index);
}

namespace {

void multiply(Execution& x, const MicroOp& op, std::uint32_t mask) {
  multiply_rows(x, op, mask);
  pass_product(x, op, mask);
}

/// gdesc[URn] with its modifiers.
void take_descriptors(Decoder& d) {
  MicroOp& op = d.op();
  const isa::Operand& operand = d.printed.next();
  if (!operand.text.starts_with("gdesc[")) PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
  op.b = Source{.word = Decoder::uniform_word(operand.index, false), .file = File::uniform};
  std::string_view rest = operand.suffix;
  while (!rest.empty()) {
    const auto dot = rest.find('.');
    const std::string_view part = rest.substr(0, dot);
    rest = dot == std::string_view::npos ? std::string_view{} : rest.substr(dot + 1);
    if (part == "tnspA") {
      op.flags |= kTransposedA;
    } else if (part == "tnspB") {
      op.flags |= kTransposedB;
    } else if (part == "negA") {
      op.flags |= kNegatedA;
    } else if (part == "negB") {
      op.flags |= kNegatedB;
    } else {
      PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
    }
  }
}

std::vector<Element> take_types(Decoder& d) {
  std::vector<Element> types;
  static constexpr std::pair<std::string_view, Element> kNames[] = {
      {"BF16", Element::bf16}, {"TF32", Element::tf32}, {"E4M3", Element::e4m3},
      {"E5M2", Element::e5m2}, {"S8", Element::s8},     {"U8", Element::u8}};
  for (const std::string& m : d.printed.instruction().modifiers) {
    for (const auto& [name, element] : kNames) {
      if (m == name && d.printed.take(m)) types.push_back(element);
    }
  }
  return types;
}

/// The types by opcode, results included.
void take_elements(Decoder& d, Opcode opcode) {
  MicroOp& op = d.op();
  const std::vector<Element> types = take_types(d);
  Element a = Element::f16, b = Element::f16;
  if (opcode == Opcode::BGMMA) {
    if (!d.printed.take("AND") || !d.printed.take("POPC") || !types.empty())
      PrintedForm::refuse("an operation other than AND.POPC");
    a = b = Element::bit;
  } else if (opcode == Opcode::HGMMA) {
    if (types.size() > 1) PrintedForm::refuse("two element types");
    if (!types.empty()) a = b = types[0];
  } else {
    if (types.size() != 2) PrintedForm::refuse("two element types are needed");
    a = types[0];
    b = types[1];
  }
  const bool integers = opcode == Opcode::IGMMA || opcode == Opcode::BGMMA;
  if (!integers) d.flag(d.printed.need_one({"F32", "F16"}) == 1, kGroupHalf);
  d.flag(opcode == Opcode::QGMMA, kNarrowFloats);
  d.flag(opcode == Opcode::IGMMA && d.printed.take("SAT"), kGroupSaturates);
  op.flags |= static_cast<std::uint32_t>(a) << kFactorAShift | static_cast<std::uint32_t>(b) << kFactorBShift;
}

void take_shape(Decoder& d) {
  isa::MatrixShape shape;
  if (!isa::matrix_shape(d.printed.instruction(), shape)) PrintedForm::refuse("an unknown shape");
  for (const std::string& m : d.printed.instruction().modifiers) {
    if (m.starts_with("64x")) d.printed.take(m);
  }
  const int elements = kOperandBytes * 8 / bits_of(type_a(d.op()));
  const bool sparse = (d.op().flags & kGroupSparse) != 0;
  if (shape.m != 64 || shape.n % 8 != 0 || shape.n > kMostColumns || shape.k != (sparse ? 2 : 1) * elements)
    PrintedForm::refuse("a shape of another type");
  d.op().index2 = static_cast<std::uint32_t>(shape.n);
}

/// Rd, [Ra,] gdesc[URn], Rc [, UP] [, Rm [, selector]] [, gsb0]
void take_group_operands(Decoder& d) {
  MicroOp& op = d.op();
  d.destination();
  if (d.printed.next_is(isa::OperandKind::register_)) {
    const isa::Operand& a = d.printed.peek();
    if (a.invert || a.absolute || !a.suffix.empty()) PrintedForm::refuse(fmt::format("operand '{}'", a.text));
    d.flag(a.negate, kNegatedA);
    op.a = d.sign_source();
  } else {
    op.flags |= kSharedA;
  }
  take_descriptors(d);
  op.c = d.source(Style::raw);
  d.flag(op.c.word == kZeroWord, kZero);
  d.flag(op.destination == kSinkWord, kDummy);  // ends a group of its own
  if (d.printed.next_is_predicate()) op.p_in = d.predicate_input();
  if ((op.flags & kGroupSparse) != 0) {
    const Source meta = d.source(Style::raw);
    if (meta.file != File::registers) PrintedForm::refuse("metadata that is in no register");
    op.immediate = meta.word;
    if (d.printed.next_is(isa::OperandKind::immediate))
      op.immediate |= std::uint64_t{d.printed.immediate()} << kSelectorShift;
  }
  op.target = d.printed.more() && d.printed.peek().text == "gsb0" ? 1 : 0;
  if (op.target != 0) d.printed.next();
  const bool overlaps = op.c.word != op.destination && (op.flags & kZero) == 0;
  if (overlaps) PrintedForm::refuse("an accumulator that is not the result's registers");
}

void warpgroup_product(Decoder& d, Opcode opcode) {
  d.flag(d.printed.take("SP"), kGroupSparse);
  take_elements(d, opcode);
  take_shape(d);
  take_group_operands(d);
  d.op().progress = true;
  d.warp(multiply);
}

/// At most `immediate` groups of products may be under way: those before them are done in the other warps, too.
void wait_for_products(Execution& x, const MicroOp& op, std::uint32_t) {
  if (!x.group_has_multiplied(op.immediate)) {
    x.may_wait();
  } else if (SharedChecks* checks = x.memory.shared_checks()) {
    checks->wait(products_place(*x.warp), x.warp->index);
  }
}

/// gsb0, how many
void waits_for_products(Decoder& d) {
  d.printed.take("LE");
  if (!d.printed.more() || d.printed.peek().text != "gsb0")
    PrintedForm::refuse("a wait for something other than gsb0");
  d.printed.next();
  d.op().immediate = d.printed.more() ? d.printed.immediate() : 0;
  d.warp(wait_for_products);
}

/// Registers are there at once: the predicate says that they have been given.
void give_registers(Execution& x, const MicroOp& op, std::uint32_t) { x.set_predicate(op.p_out, ~0u, ~0u); }

void set_registers(Decoder& d) {
  MicroOp& op = d.op();
  const bool asks = d.printed.need_one({"DEALLOC", "TRY_ALLOC"}) == 1;
  d.printed.take("CTAPOOL");
  if (asks) op.p_out = d.predicate_output();
  d.printed.immediate();
  if (asks) {
    d.warp(give_registers);
  } else {
    op.kind = Kind::nothing;
  }
}

}  // namespace

bool translate_wgmma(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::HGMMA:
    case Opcode::QGMMA:
    case Opcode::IGMMA:
    case Opcode::BGMMA: warpgroup_product(d, opcode); return true;
    case Opcode::USETMAXREG: set_registers(d); return true;
    case Opcode::WARPGROUP:
      if (d.printed.need_one({"ARRIVE", "DEPBAR", "WAIT"}) == 1) {
        waits_for_products(d);
        return true;
      }
      while (d.printed.more()) d.printed.next();
      d.op().kind = Kind::nothing;
      return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
