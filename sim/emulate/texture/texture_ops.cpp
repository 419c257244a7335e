// Lookups in textures: TEX, TLD, TLD4, TXD, TXQ.
//
// Models:  shapes with layers; levels given, zero, or none (a compute kernel's: the finest); handles in constant memory (sm_80), uniform
//          registers, registers (.B); masks of components; residency (all is there).
// Ignores: nothing that is executed: derivatives of neighbouring lanes (.NDV), offsets, depth comparison and biased levels are refused.
// Layout:  the words are layer, coordinates, level; TXD: coordinates, layer, and in the second register both steps of each coordinate.
//          sm_80 splits up to four words over two registers (.SCR), half each; .B has the handle before the second's. Seen in ptxas's code.
// Record:  address sets 0 and 1: a lane's texels with the smallest and the largest coordinates; the number: passes of the texture unit.
#include <algorithm>
#include <bit>

#include <fmt/format.h>

#include "sim/emulate/execute/execution.h"
#include "sim/emulate/texture/sample.h"
#include "sim/emulate/texture/texture_access.h"
#include "sim/emulate/translate/decoder.h"

namespace foretrace::emulate {

using isa::Opcode;
using isa::OperandKind;

namespace {

/// MicroOp::flags; index2: the mask of components.
constexpr std::uint32_t kShapeMask = 3, kArray = 4, kLevel = 8, kSplit = 16, kBindless = 32, kWhole = 64,
                        kDerivatives = 128, kNoLevel = 256;
constexpr int kGatherShift = 9;           ///< three bits: 1 + component
constexpr float kImplicitLevel = -32.0f;  ///< what ptxas gives where the code gives none

std::uint32_t coordinates_of(TextureShape shape) {
  switch (shape) {
    case TextureShape::d1: return 1;
    case TextureShape::d2: return 2;
    default: return 3;
  }
}

/// The words of a lane in order, handle left out.
struct Words {
  std::array<std::uint32_t, 8> first{};   ///< layer, coordinates, level
  std::array<std::uint32_t, 6> second{};  ///< TXD's steps
};

Words words_of(Execution& x, const MicroOp& op, std::uint32_t coordinates, int lane) {
  const std::uint32_t* a = x.words(op.a) + lane;
  const std::uint32_t* b = x.words(op.b) + lane;
  Words words;
  const bool bindless = (op.flags & kBindless) != 0;
  if ((op.flags & kDerivatives) != 0) {
    const std::uint32_t skip = bindless ? 1 : 0;
    for (std::uint32_t i = 0; i < coordinates; ++i) words.first[i] = a[32 * (i + skip)];
    const std::uint32_t steps = 2 * coordinates_of(static_cast<TextureShape>(op.flags & kShapeMask));
    for (std::uint32_t i = 0; i < steps; ++i) words.second[i] = b[32 * i];
    return words;
  }
  const std::uint32_t count = coordinates + ((op.flags & kLevel) != 0 ? 1 : 0);
  std::uint32_t in_first = coordinates;
  if ((op.flags & kSplit) != 0 && !bindless) in_first = (count + 1) / 2;
  const std::uint32_t skip = bindless ? 1 : 0;
  for (std::uint32_t i = 0; i < count; ++i)
    words.first[i] = i < in_first ? a[32 * i] : b[32 * (i - in_first + skip)];
  return words;
}

Lookup lookup_of(Execution& x, const MicroOp& op, int lane) {
  Lookup lookup;
  lookup.shape = static_cast<TextureShape>(op.flags & kShapeMask);
  lookup.whole = (op.flags & kWhole) != 0;
  lookup.gather = static_cast<int>(op.flags >> kGatherShift & 7) - 1;
  const std::uint32_t count = coordinates_of(lookup.shape);
  const bool array = (op.flags & kArray) != 0, derivatives = (op.flags & kDerivatives) != 0;
  const Words words = words_of(x, op, count + (array ? 1 : 0), lane);
  std::uint32_t at = array && !derivatives ? 1 : 0;
  if (array) lookup.layer = words.first[derivatives ? count : 0];
  for (std::uint32_t i = 0; i < count; ++i, ++at) {
    lookup.at[i] = std::bit_cast<float>(words.first[at]);
    lookup.texel[i] = static_cast<std::int32_t>(words.first[at]);
  }
  if ((op.flags & kLevel) != 0) {
    lookup.level = lookup.whole ? static_cast<float>(static_cast<std::int32_t>(words.first[at]))
                                : std::bit_cast<float>(words.first[at]);
  } else if ((op.flags & kNoLevel) != 0) {
    lookup.level = kImplicitLevel;
  }
  if (derivatives) {
    lookup.has_derivatives = true;
    for (std::uint32_t i = 0; i < count; ++i) {
      lookup.dx[i] = std::bit_cast<float>(words.second[2 * i]);
      lookup.dy[i] = std::bit_cast<float>(words.second[2 * i + 1]);
    }
  }
  return lookup;
}

/// Components of the mask: two to the second register that is printed, the others to the first.
void put_components(Execution& x, const MicroOp& op, const TexelWords& words, int lane) {
  std::uint32_t* low = x.words(File::registers, op.destination);
  std::uint32_t* high = x.words(File::registers, op.destination2);
  std::uint32_t place = 0;
  for (std::uint32_t i = 0; i < 4; ++i) {
    if ((op.index2 >> i & 1) == 0) continue;
    (place < 2 ? low : high)[32 * (place % 2) + static_cast<std::uint32_t>(lane)] = words[i];
    ++place;
  }
}

void look(Execution& x, const MicroOp& op, std::uint32_t mask) {
  const std::uint32_t* handles = x.words(op.c);
  std::uint64_t any = 0;
  std::uint32_t border = 0;
  x.value = 0;
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const auto i = static_cast<std::size_t>(lane);
    const Texture& texture = texture_at(x, handles[lane], lane, false);
    const Lookup lookup = lookup_of(x, op, lane);
    const std::uint32_t bytes = texture.image.texel_bytes();
    const Sample sample = look_up(
        texture, lookup, [&](std::uint64_t address) { return x.memory.global_at(address, bytes, lane); });
    put_components(x, op, sample.words, lane);
    x.value = std::max(x.value, sample.passes);
    x.addresses[0][i] = sample.first;
    x.addresses[1][i] = sample.last;
    any = sample.touched ? sample.first : any;
    if (!sample.touched) border |= 1u << lane;
  }
  for (std::uint32_t m = border; m != 0; m &= m - 1) {  // no texel: where another lane's is
    const auto i = static_cast<std::size_t>(std::countr_zero(m));
    x.addresses[0][i] = x.addresses[1][i] = any;
  }
  x.set_predicate(op.p_out, mask, 0);  // true: not resident
}

void ask(Execution& x, const MicroOp& op, std::uint32_t mask) {
  for (std::uint32_t m = mask; m != 0; m &= m - 1) {
    const int lane = std::countr_zero(m);
    const Image& image = texture_at(x, x.words(op.c)[lane], lane, false).image;
    const std::size_t index = std::min<std::size_t>(x.words(op.a)[lane], image.levels.size() - 1);
    const ImageLevel& level = image.levels[index];
    const std::uint32_t layers = image.cube ? image.layers / 6 : image.layers;
    put_components(x, op,
                   {level.width, level.height, image.layered ? layers : level.depth,
                    static_cast<std::uint32_t>(image.levels.size())},
                   lane);
  }
}

TextureShape shape_of(const std::string& text, bool& array) {
  array = text.starts_with("ARRAY_");
  const std::string_view shape = std::string_view(text).substr(array ? 6 : 0);
  if (shape == "1D") return TextureShape::d1;
  if (shape == "2D") return TextureShape::d2;
  if (shape == "3D" && !array) return TextureShape::d3;
  if (shape == "CUBE") return TextureShape::cube;
  PrintedForm::refuse(fmt::format("textures of shape {}", text));
}

void take_results(Decoder& d) {
  MicroOp& op = d.op();
  if (d.printed.next_is_predicate()) op.p_out = d.predicate_output();
  const isa::Operand& second = d.printed.next();
  if (second.kind != OperandKind::register_) PrintedForm::refuse(fmt::format("operand '{}'", second.text));
  op.destination2 = Decoder::register_word(second.index, true);
  d.destination();
}

void take_mask(Decoder& d) {
  d.op().index2 = d.printed.more() ? d.printed.immediate() : 15;
  if (d.op().index2 == 0 || d.op().index2 > 15) PrintedForm::refuse("such a mask of components");
}

void translate_lookup(Decoder& d) {
  MicroOp& op = d.op();
  const Opcode opcode = d.printed.opcode();
  d.flag(d.printed.take("SCR"), kSplit);
  d.flag(d.printed.take("B"), kBindless);
  d.flag(opcode == Opcode::TLD, kWhole);
  d.flag(opcode == Opcode::TXD, kDerivatives);
  d.printed.take("CL");
  d.printed.take("NODEP");
  if (opcode == Opcode::TLD4)
    op.flags |= (static_cast<std::uint32_t>(d.printed.need_one({"R", "G", "B", "A"})) + 1) << kGatherShift;
  switch (d.printed.take_one({"LL", "LZ"}, 2)) {
    case 0: op.flags |= kLevel; break;
    case 1: break;
    default: d.flag(opcode == Opcode::TEX, kNoLevel); break;
  }
  take_results(d);
  op.a = d.source(Style::raw);
  op.b = Source{.word = kZeroWord};
  if (d.printed.next_is(OperandKind::register_)) op.b = d.source(Style::raw);
  if ((op.flags & kBindless) != 0) {
    op.c = opcode == Opcode::TXD ? op.a : op.b;
  } else {
    op.c = take_handle(d);
  }
  bool array = false;
  op.flags |= static_cast<std::uint32_t>(shape_of(d.printed.next().text, array));
  d.flag(array, kArray);
  take_mask(d);
  op.address_sets = 2;
  op.value_recorded = true;
  d.warp(look);
}

void translate_question(Decoder& d) {
  MicroOp& op = d.op();
  take_results(d);
  op.a = d.source(Style::raw);
  if (d.printed.next().text != "TEX_HEADER_DIMENSION") PrintedForm::refuse("such a question about a texture");
  op.c = take_handle(d);
  take_mask(d);
  d.warp(ask);
}

}  // namespace

const Texture& texture_at(Execution& x, std::uint32_t handle, int lane, bool surface) {
  const TextureTable* table = x.launch().context.textures;
  const Texture* found = table == nullptr ? nullptr : table->find(handle);
  if (found == nullptr) {
    x.fault(FaultKind::out_of_bounds, lane, fmt::format("no texture or surface has the handle {}", handle));
  }
  if (surface && !found->surface) {
    x.fault(FaultKind::out_of_bounds, lane,
            fmt::format("handle {} is a texture's; expected a surface's", handle));
  }
  return *found;
}

Source take_handle(Decoder& d) {
  if (!d.printed.next_is(OperandKind::immediate)) {
    const Source handle = d.source(Style::raw);
    if (handle.file == File::uniform && d.printed.next_is(OperandKind::immediate) &&
        d.printed.immediate() != 0)
      PrintedForm::refuse("an offset of the handle");
    return handle;
  }
  const std::uint32_t bank = d.printed.immediate(), word = d.printed.immediate();
  return Source{.word = d.constant_literal(static_cast<int>(bank), std::int64_t{word} * 4, 1),
                .file = File::literal};
}

bool translate_texture(Decoder& d, Opcode opcode) {
  switch (opcode) {
    case Opcode::TEX:
    case Opcode::TLD:
    case Opcode::TLD4:
    case Opcode::TXD: translate_lookup(d); return true;
    case Opcode::TXQ: translate_question(d); return true;
    case Opcode::SULD:
    case Opcode::SUST:
    case Opcode::SURED: translate_surface(d); return true;
    default: return false;
  }
}

}  // namespace foretrace::emulate
