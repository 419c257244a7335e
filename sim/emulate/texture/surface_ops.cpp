// Surfaces: SULD, SUST, SURED.
//
// Models:  1D to 3D and layers; the first coordinate in bytes (.BA) or texels; outside the surface: a fault (.TRAP), zeros and nothing
//          written (.IGN), or the nearest place inside; formatted stores (.P).
// Ignores: order and scope: memory is sequentially consistent here.
// Source:  PTX ISA, suld, sust, sured; an H100 was not asked.
#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/texture/texel.h"
#include "sim/emulate/texture/texture_access.h"
#include "sim/emulate/translate/address_form.h"

namespace foretrace::emulate {

using isa::Opcode;

namespace {

enum class Outside : std::uint8_t { trap, ignore, nearest };

/// MicroOp::flags beside the atomic's and the size's (kSizeShift).
constexpr std::uint32_t kDimensions = 3, kLayered = 4, kBytes = 8, kFormatted = 1u << 10;
constexpr int kOutsideShift = 8;  ///< two bits
constexpr std::uint32_t kSigned = kLoadSigned;

/// Address of the first byte that a lane accesses; nothing: outside, and that is no fault.
std::optional<std::uint64_t> place_of(Execution& x, const MicroOp& op, const Image& image,
                                      std::uint32_t bytes, int lane) {
  const std::uint32_t* words = x.words(op.a) + lane;
  const std::uint32_t dimensions = op.flags & kDimensions;
  const bool layered = (op.flags & kLayered) != 0;
  const ImageLevel& level = image.levels.front();
  std::array<std::int64_t, 3> at{}, size{std::int64_t{level.width} * image.texel_bytes(), 1, 1};
  at[0] = static_cast<std::int32_t>(words[0]);
  if ((op.flags & kBytes) == 0) at[0] *= image.texel_bytes();
  if (dimensions > 1) at[1] = static_cast<std::int32_t>(words[32]), size[1] = level.height;
  if (dimensions > 2) at[2] = static_cast<std::int32_t>(words[64]), size[2] = level.depth;
  if (layered) at[2] = static_cast<std::int32_t>(words[32 * dimensions]), size[2] = image.layers;
  const auto outside = static_cast<Outside>(op.flags >> kOutsideShift & 3);
  size[0] -= bytes - 1;
  for (std::size_t d = 0; d < 3; ++d) {
    if (at[d] >= 0 && at[d] < size[d]) continue;
    if (outside == Outside::ignore) return std::nullopt;
    if (outside == Outside::trap) {
      x.fault(FaultKind::out_of_bounds, lane,
              fmt::format("{} {} of a surface; expected 0 to {}",
                          d == 0   ? "byte"
                          : d == 1 ? "row"
                                   : "slice or layer",
                          at[d], size[d] - 1));
    }
    at[d] = at[d] < 0 ? 0 : size[d] - 1;
    if (d == 0) at[d] = at[d] / bytes * bytes;
  }
  if (at[0] % bytes != 0) {
    x.fault(FaultKind::misaligned, lane,
            fmt::format("byte {} of a row of a surface; expected a multiple of {}", at[0], bytes));
  }
  return image.address_of(level, static_cast<std::uint64_t>(at[0]), static_cast<std::uint64_t>(at[1]),
                          static_cast<std::uint64_t>(at[2]));
}

std::uint32_t bytes_of(const MicroOp& op, const Image& image) {
  return (op.flags & kFormatted) != 0 ? image.texel_bytes() : 1u << (op.flags >> kSizeShift & 7);
}

/// Calls use(lane, image, address) for each lane, the highest first: of several that store to one place the lowest is left (an H100). Lanes
/// outside stand in the record where another one is.
template <class Use>
void for_lanes(Execution& x, const MicroOp& op, std::uint32_t mask, Use&& use) {
  std::uint64_t any = 0;
  std::uint32_t none = 0;
  for (std::uint32_t m = mask; m != 0;) {
    const int lane = std::bit_width(m) - 1;
    m &= ~(1u << lane);
    const Image& image = texture_at(x, x.words(op.c)[lane], lane, true).image;
    const auto place = place_of(x, op, image, bytes_of(op, image), lane);
    use(lane, image, place);
    if (!place) none |= 1u << lane;
    any = x.addresses[0][static_cast<std::size_t>(lane)] = place ? *place : any;
  }
  for (std::uint32_t m = none; m != 0; m &= m - 1)
    x.addresses[0][static_cast<std::size_t>(std::countr_zero(m))] = any;
}

using SurfacePlace = std::optional<std::uint64_t>;

void load_surface(Execution& x, const MicroOp& op, std::uint32_t mask) {
  std::uint32_t* d = x.result(op);
  for_lanes(x, op, mask, [&](int lane, const Image& image, const SurfacePlace& place) {
    const std::uint32_t bytes = bytes_of(op, image);
    std::array<std::uint32_t, 4> words{};
    if (place) std::memcpy(words.data(), x.memory.global_at(*place, bytes, lane), bytes);
    if ((op.flags & kSigned) != 0 && bytes < 4) {
      const auto shift = static_cast<int>(32 - 8 * bytes);
      words[0] = static_cast<std::uint32_t>(static_cast<std::int32_t>(words[0] << shift) >> shift);
    }
    for (std::uint32_t i = 0; i < std::max(1u, bytes / 4); ++i) d[lane + static_cast<int>(32 * i)] = words[i];
  });
}

void store_surface(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t* s = x.words(op.b);
  for_lanes(x, op, mask, [&](int lane, const Image& image, const SurfacePlace& place) {
    if (!place) return;
    const std::uint32_t bytes = bytes_of(op, image);
    TexelWords words{};
    const std::uint32_t count = (op.flags & kFormatted) != 0 ? image.components : std::max(1u, bytes / 4);
    for (std::uint32_t i = 0; i < count; ++i) words[i] = s[lane + static_cast<int>(32 * i)];
    std::byte* to = x.memory.written_at(*place, bytes, lane);
    if ((op.flags & kFormatted) != 0) {
      pack_texel(image, words, to);
    } else {
      std::memcpy(to, words.data(), bytes);
    }
  });
}

void reduce_surface(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t* s = x.words(op.b);
  const auto operation = static_cast<AtomicOp>(op.flags >> kAtomicOpShift & 15);
  const auto type = static_cast<AtomicType>(op.flags >> kAtomicTypeShift & 15);
  for_lanes(x, op, mask, [&](int lane, const Image& image, const SurfacePlace& place) {
    if (!place) return;
    const std::uint32_t bytes = bytes_of(op, image);
    const std::array<std::uint32_t, 2> words{s[lane], bytes == 8 ? s[lane + 32] : 0};
    combine_bytes(operation, type, x.memory.written_at(*place, bytes, lane),
                  reinterpret_cast<const std::byte*>(words.data()), bytes);
  });
}

std::uint32_t log2_size(Decoder& d) {
  switch (d.printed.take_one({"U8", "S8", "U16", "S16", "64", "128", "32"}, 6)) {
    case 0: return 0;
    case 1: d.flag(true, kSigned); return 0;
    case 2: return 1;
    case 3: d.flag(true, kSigned); return 1;
    case 4: return 3;
    case 5: return 4;
    default: return 2;
  }
}

void take_surface_shape(Decoder& d) {
  static constexpr std::uint32_t kShapes[] = {1, 2, 3, 1 | kLayered, 2 | kLayered};
  MicroOp& op = d.op();
  op.flags |= kShapes[d.printed.need_one({"1D", "2D", "3D", "1D_ARRAY", "2D_ARRAY"})];
  op.flags |= static_cast<std::uint32_t>(d.printed.take_one({"TRAP", "IGN"}, 2)) << kOutsideShift;
  d.printed.take_one({"STRONG", "WEAK", "CONSTANT"}, 0);
  d.printed.take_one({"CTA", "SM", "GPU", "SYS"}, 0);
  d.printed.take_one({"EF", "EL", "LU", "EU", "NA"}, 0);
}

void take_place(Decoder& d) {
  const isa::Operand& operand = d.printed.next();
  if (operand.kind != isa::OperandKind::memory || operand.base < 0 || operand.uniform_base >= 0 ||
      operand.offset != 0)
    PrintedForm::refuse(fmt::format("place '{}'", operand.text));
  d.op().a = Source{.word = Decoder::register_word(operand.base, false)};
}

}  // namespace

void translate_surface(Decoder& d) {
  MicroOp& op = d.op();
  const Opcode opcode = d.printed.opcode();
  const bool formatted = d.printed.need_one({"D", "P"}) == 1;
  if (formatted && opcode != Opcode::SUST) PrintedForm::refuse("a formatted access");
  d.flag(formatted, kFormatted);
  d.flag(d.printed.take("BA"), kBytes);
  if (opcode == Opcode::SURED) {
    op.flags |= static_cast<std::uint32_t>(
                    d.printed.need_one({"ADD", "MIN", "MAX", "INC", "DEC", "AND", "OR", "XOR"}))
                << kAtomicOpShift;
    static constexpr AtomicType kTypes[] = {AtomicType::s32, AtomicType::u64, AtomicType::s64,
                                            AtomicType::u32};
    const AtomicType type = kTypes[d.printed.take_one({"S32", "U64", "S64", "U32"}, 3)];
    op.flags |= static_cast<std::uint32_t>(type) << kAtomicTypeShift;
    op.flags |= (type == AtomicType::u64 || type == AtomicType::s64 ? 3u : 2u) << kSizeShift;
  } else {
    op.flags |= log2_size(d) << kSizeShift;
  }
  take_surface_shape(d);
  op.address_sets = 1;
  if (opcode == Opcode::SULD) {
    d.destination();
    take_place(d);
    d.warp(load_surface);
  } else {
    take_place(d);
    op.b = d.source(Style::raw);
    op.progress = true;
    d.warp(opcode == Opcode::SUST ? store_surface : reduce_surface);
  }
  op.c = take_handle(d);
}

}  // namespace foretrace::emulate
