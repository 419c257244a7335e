#include "model/isa/operands.h"

#include <algorithm>
#include <bit>
#include <initializer_list>

#include "model/isa/any_of.h"
#include "model/isa/matrix_shapes.h"

namespace foretrace::isa {
namespace {

bool has_any(const Instruction& in, std::initializer_list<std::string_view> modifiers) {
  return std::any_of(modifiers.begin(), modifiers.end(), [&](std::string_view m) { return in.has(m); });
}

/// Bytes that a load, store or atomic moves for each lane.
int access_bytes(const Instruction& in) {
  if (in.has("256")) return 32;
  if (has_any(in, {"128", "F32x4", "F16x8", "BF16x8"})) return 16;
  if (has_any(in, {"64", "S64", "U64", "F64", "F32x2", "F16x4", "BF16x4"})) return 8;
  if (has_any(in, {"U16", "S16", "F16", "BF16"})) return 2;
  if (has_any(in, {"U8", "S8"})) return 1;
  return 4;
}

/// What an atomic of global memory does its sums on. `form`: its size and kind, as far as known.
spec::AtomicData atomic_data(const Instruction& in, const MemoryForm& form) {
  if (form.atomic == AtomicKind::compare) return spec::AtomicData::compare;
  if (in.has("F64")) return spec::AtomicData::double_precision;
  const auto is_float = [](const auto& modifier) {
    return modifier.starts_with("F16") || modifier.starts_with("BF16") || modifier.starts_with("F32");
  };
  if (std::any_of(in.modifiers.begin(), in.modifiers.end(), is_float))
    return spec::AtomicData::single_precision;
  return form.bytes == 8 ? spec::AtomicData::wide : spec::AtomicData::integer;
}

int registers_of_bytes(int bytes) { return std::max(1, bytes / 4); }

bool is_predicate(const Operand& operand) {
  return operand.kind == OperandKind::predicate || operand.kind == OperandKind::uniform_predicate;
}

bool is_conversion(Opcode opcode) {
  return any_of(opcode, {Opcode::F2F, Opcode::F2I, Opcode::I2F, Opcode::FRND});
}

/// F2F, F2I, I2F and FRND print the type of the result, then that of the source, and leave 32-bit ones out
/// (F2I: S32 from F32; I2F: F32 from S32; FRND: one type for both).
struct ConversionWidths {
  int result = 1;
  int source = 1;
};
ConversionWidths conversion_widths(const Instruction& in) {
  const auto is_64 = [](std::string_view m) { return m == "F64" || m == "S64" || m == "U64"; };
  const auto is_type = [&](std::string_view m) {
    return is_64(m) || m == "F32" || m == "F16" || m == "BF16" || m == "TF32" || m == "S32" || m == "U32" ||
           m == "S16" || m == "U16" || m == "S8" || m == "U8";
  };
  std::vector<std::string_view> types;
  for (const std::string& modifier : in.modifiers) {
    if (is_type(modifier)) types.push_back(modifier);
  }
  ConversionWidths widths;
  const auto width = [&](std::string_view type) { return is_64(type) ? 2 : 1; };
  if (types.empty()) return widths;
  if (in.opcode == Opcode::FRND) return {width(types[0]), width(types[0])};
  if (types.size() >= 2) return {width(types[0]), width(types[1])};
  // One type: F2I's integers and I2F's floats are results, the others sources.
  const bool floating = types[0].front() == 'F' || types[0].front() == 'B';
  const bool result = in.opcode == Opcode::F2I ? !floating : floating;
  if (result) {
    widths.result = width(types[0]);
  } else {
    widths.source = width(types[0]);
  }
  return widths;
}

int address_width(const Instruction& in, const Operand& operand) {
  if (operand.base < 0) return 0;
  if (operand.base_suffix == "64") return 2;
  // ".E": 64-bit addresses; ".64" is not printed where no uniform register is added by nvdisasm. The shared
  // side of LDGSTS comes first and is 32 bits wide.
  const bool shared_side = in.opcode == Opcode::LDGSTS && &operand == &in.operands.front();
  if (in.has("E") && operand.base_suffix.empty() && operand.uniform_base < 0 && !shared_side) return 2;
  return 1;
}

/// Place of operand `index` among the operands that a source slot could hold.
int source_place(const Instruction& in, std::size_t index) {
  const int destination = destination_operand(in);
  int place = 0;
  for (std::size_t i = 0; i < index; ++i) {
    if (static_cast<int>(i) == destination || is_predicate(in.operands[i])) continue;
    // Before the first source, uniform destinations ("R2UR UR4, R2") take no slot.
    if (destination < 0 && place == 0 && in.operands[i].kind == OperandKind::uniform_register) continue;
    ++place;
  }
  return place;
}

/// Register groups of memory instructions beside the address.
int data_width(const Instruction& in) {
  if (any_of(in.opcode, {Opcode::LDSM, Opcode::STSM})) return matrix_count(in);
  if (in.opcode == Opcode::SYNCS) return in.has("EXCH") && in.has("64") ? 2 : 1;
  if (in.has("256")) return 4;  // two groups of four
  return registers_of_bytes(access_bytes(in));
}

bool is_load_store(Opcode opcode) {
  return any_of(opcode,
                {Opcode::LD,    Opcode::LDG,   Opcode::LDL,   Opcode::LDS,   Opcode::LDC,  Opcode::LDSM,
                 Opcode::ST,    Opcode::STG,   Opcode::STL,   Opcode::STS,   Opcode::STSM, Opcode::STAS,
                 Opcode::ATOM,  Opcode::ATOMG, Opcode::ATOMS, Opcode::RED,   Opcode::REDG, Opcode::REDS,
                 Opcode::SYNCS, Opcode::SULD,  Opcode::SUST,  Opcode::SURED, Opcode::REDAS});
}

/// Components that a lookup in a texture writes: all, or those of the mask that is printed last. The first two go to the second
/// register that is printed, the others to the first one.
int texture_components(const Instruction& in) {
  const Operand& last = in.operands.back();
  return last.kind == OperandKind::immediate ? std::popcount(static_cast<std::uint8_t>(last.value & 15)) : 4;
}

int destination_width(const Instruction& in) {
  const Opcode opcode = in.opcode;
  if (looks_up_texture(opcode)) return std::max(1, texture_components(in) - 2);
  if (opcode == Opcode::SYNCS) return 2;  // the barrier's state, 64 bits
  if (is_load_store(opcode)) return data_width(in);
  if (any_of(opcode, {Opcode::DADD, Opcode::DMUL, Opcode::DFMA, Opcode::LEPC})) return 2;
  if (opcode == Opcode::CS2R) return in.has("32") ? 1 : 2;
  if (opcode == Opcode::IMAD) return in.has("WIDE") ? 2 : 1;
  if (is_conversion(opcode)) return conversion_widths(in).result;
  if (opcode == Opcode::MOVM) return in.has("U4TO8") ? 2 : 1;
  if (opcode == Opcode::IMNMX) return has_any(in, {"S64", "U64"}) ? 2 : 1;
  if (any_of(opcode, {Opcode::FADD2, Opcode::FMUL2, Opcode::FFMA2})) return 2;
  return in.has("64") ? 2 : 1;
}

int source_width(const Instruction& in, std::size_t index) {
  const Opcode opcode = in.opcode;
  if (is_load_store(opcode)) return data_width(in);
  if (looks_up_texture(opcode)) {  // place 0: the first results; coordinates; level, derivatives
    if (source_place(in, index) == 0) return std::min(2, texture_components(in));
    return opcode == Opcode::TXD && source_place(in, index) == 2 ? 4 : 2;
  }
  if (any_of(opcode, {Opcode::DADD, Opcode::DMUL, Opcode::DFMA, Opcode::DSETP, Opcode::FADD2, Opcode::FMUL2,
                      Opcode::FFMA2, Opcode::BRX, Opcode::JMX, Opcode::RET, Opcode::CALL})) {
    return 2;
  }
  if (opcode == Opcode::IMAD) return has_any(in, {"WIDE", "HI"}) && source_place(in, index) == 2 ? 2 : 1;
  if (is_conversion(opcode)) return conversion_widths(in).source;
  if (any_of(opcode, {Opcode::ISETP, Opcode::IMNMX})) return has_any(in, {"S64", "U64"}) ? 2 : 1;
  if (opcode == Opcode::MATCH) return in.has("U64") ? 2 : 1;
  if (opcode == Opcode::BMOV || opcode == Opcode::ARRIVES) return 1;
  return in.has("64") ? 2 : 1;
}

}  // namespace

bool looks_up_texture(Opcode opcode) {
  return any_of(opcode, {Opcode::TEX, Opcode::TLD, Opcode::TLD4, Opcode::TXD});
}

bool compares_lanes(const Instruction& in) {
  if (in.opcode == Opcode::MATCH) return in.has("ANY");
  return in.opcode == Opcode::WARPSYNC && !in.operands.empty() &&
         in.operands[0].kind == OperandKind::register_ && in.operands[0].index != kRz;
}

bool barrier_register(const Instruction& in, std::size_t index) {
  return in.opcode == Opcode::BAR && index < in.operands.size() &&
         in.operands[index].kind == OperandKind::register_ && in.operands[index].index != kRz;
}

bool barrier_in_registers(const Instruction& in) {
  return barrier_register(in, 0) || barrier_register(in, 1);
}

int destination_operand(const Instruction& in) {
  if (any_of(in.opcode,
             {Opcode::ST,     Opcode::STG,  Opcode::STL,   Opcode::STS,   Opcode::STSM,      Opcode::STAS,
              Opcode::RED,    Opcode::REDG, Opcode::REDS,  Opcode::ISETP, Opcode::FSETP,     Opcode::DSETP,
              Opcode::HSETP2, Opcode::FCHK, Opcode::PLOP3, Opcode::R2P,   Opcode::NANOSLEEP, Opcode::WARPSYNC,
              Opcode::BAR,    Opcode::BRX,  Opcode::JMX,   Opcode::JMP,   Opcode::CALL,      Opcode::RET,
              Opcode::BRA,    Opcode::CCTL, Opcode::SUST,  Opcode::SURED, Opcode::REDAS})) {
    return -1;
  }
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    if (in.operands[i].kind == OperandKind::register_) return static_cast<int>(i);
    if (!is_predicate(in.operands[i]))
      return -1;  // a source, an address or a uniform destination comes first
  }
  return -1;
}

int register_width(const Instruction& in, std::size_t index) {
  const Operand& operand = in.operands[index];
  if (operand.kind == OperandKind::memory || operand.kind == OperandKind::constant)
    return address_width(in, operand);
  if (operand.kind != OperandKind::register_) return 0;
  const bool destination = static_cast<int>(index) == destination_operand(in);
  MatrixRegisters matrix;
  if (matrix_registers(in, matrix)) {
    if (destination) return matrix.d;
    const bool shared_a =
        in.operands.size() > 1 && in.operands[1].kind != OperandKind::register_;  // gdesc[] first
    switch (source_place(in, index) + (shared_a ? 1 : 0)) {
      case 0: return matrix.a;
      case 1: return matrix.b;
      case 2: return matrix.c;
      default: return 1;  // sparsity metadata, scale factors
    }
  }
  return destination ? destination_width(in) : source_width(in, index);
}

bool memory_form(const Instruction& in, MemoryForm& form) {
  struct Row {
    Opcode opcode;
    Space space;
    Access access;
  };
  static constexpr Row kRows[] = {
      {Opcode::LDG, Space::global, Access::load},
      {Opcode::STG, Space::global, Access::store},
      {Opcode::ATOMG, Space::global, Access::atomic},
      {Opcode::REDG, Space::global, Access::reduction},
      {Opcode::RED, Space::global, Access::reduction},
      {Opcode::LD, Space::generic, Access::load},
      {Opcode::ST, Space::generic, Access::store},
      {Opcode::ATOM, Space::generic, Access::atomic},
      {Opcode::LDL, Space::local, Access::load},
      {Opcode::STL, Space::local, Access::store},
      {Opcode::LDS, Space::shared, Access::load},
      {Opcode::STS, Space::shared, Access::store},
      {Opcode::ATOMS, Space::shared, Access::atomic},
      {Opcode::REDS, Space::shared, Access::reduction},
      {Opcode::LDSM, Space::shared, Access::matrix_load},
      {Opcode::STSM, Space::shared, Access::matrix_store},
      {Opcode::LDGSTS, Space::global, Access::async_copy},
      {Opcode::STAS, Space::shared, Access::store},
      {Opcode::REDAS, Space::shared, Access::store},
      {Opcode::SYNCS, Space::shared, Access::atomic},
      {Opcode::ARRIVES, Space::shared, Access::reduction},
      {Opcode::TEX, Space::global, Access::load},
      {Opcode::TLD, Space::global, Access::load},
      {Opcode::TLD4, Space::global, Access::load},
      {Opcode::TXD, Space::global, Access::load},
      {Opcode::SULD, Space::global, Access::load},
      {Opcode::SUST, Space::global, Access::store},
      {Opcode::SURED, Space::global, Access::reduction},
  };
  const Row* row =
      std::find_if(std::begin(kRows), std::end(kRows), [&](const Row& r) { return r.opcode == in.opcode; });
  const bool invalidates = in.opcode == Opcode::SYNCS && in.has("CCTL");
  if (row == std::end(kRows) || invalidates) return false;
  form = MemoryForm{};
  form.space = row->space;
  form.access = row->access;
  form.bytes = static_cast<std::uint8_t>(access_bytes(in));
  if (in.opcode == Opcode::SYNCS || in.opcode == Opcode::ARRIVES) form.bytes = 8;  // an mbarrier
  if (in.opcode == Opcode::LDSM || in.opcode == Opcode::STSM) {
    form.bytes = 16;
    form.matrices = static_cast<std::uint8_t>(matrix_count(in));
  }
  // A texel's width stands in no instruction: its first 4 bytes lie in the same sector as the rest.
  form.texture =
      looks_up_texture(in.opcode) || any_of(in.opcode, {Opcode::SULD, Opcode::SUST, Opcode::SURED});
  const bool two = any_of(in.opcode, {Opcode::LDGSTS, Opcode::SYNCS, Opcode::STAS, Opcode::REDAS}) ||
                   looks_up_texture(in.opcode);
  form.address_sets = two ? 2 : 1;
  form.uniform_address = !looks_up_texture(in.opcode);
  for (const Operand& operand : in.operands) {
    if (operand.kind == OperandKind::memory && operand.base >= 0 && operand.base != kRz)
      form.uniform_address = false;
  }
  // Scope SM (volatile between threads of a block) may still hit in L1.
  form.strong = in.has("MMIO") || (in.has("STRONG") && !in.has("SM"));
  if (in.has("POPC")) form.atomic = AtomicKind::increment;
  if (in.has("CAS")) form.atomic = AtomicKind::compare;
  if (in.has("CAST")) form.atomic = AtomicKind::attempt;
  if (form.access == Access::atomic || form.access == Access::reduction) form.data = atomic_data(in, form);
  return true;
}

RegisterUse register_use(const Instruction& in, int sm) {
  RegisterUse use;
  const bool constant_load = any_of(in.opcode, {Opcode::LDC, Opcode::ULDC, Opcode::LDCU});
  const auto range = [](int first, int count) {
    return first == kRz ? RegisterRange{}
                        : RegisterRange{static_cast<std::uint8_t>(first), static_cast<std::uint8_t>(count)};
  };
  const int destination = destination_operand(in);
  // As the reuse bits show, two-source half instructions read their second source through the third slot, and MOV its
  // only one through the second.
  const bool skips_second = any_of(in.opcode, {Opcode::HADD2, Opcode::HSET2, Opcode::HSETP2});
  const bool two_groups =
      (in.has("256") && any_of(in.opcode, {Opcode::LDG, Opcode::LD})) || looks_up_texture(in.opcode);
  static_cast<void>(sm);  // slots are counted alike on sm_80, sm_90 and sm_120
  for (std::size_t i = 0; i < in.operands.size(); ++i) {
    const Operand& operand = in.operands[i];
    if (operand.kind == OperandKind::constant && !constant_load) use.constant_operand = true;
    const int width = register_width(in, i);
    if (width == 0) continue;
    const int first = operand.kind == OperandKind::register_ ? operand.index : operand.base;
    if (static_cast<int>(i) == destination) {
      use.destination = range(first, width);
      continue;
    }
    if (two_groups && static_cast<int>(i) == destination + 1 && operand.kind == OperandKind::register_) {
      use.second_destination = range(first, width);
      continue;
    }
    int slot = source_place(in, i);
    if (skips_second && slot == 1) slot = 2;
    if (in.opcode == Opcode::MOV) slot = 1;
    if (slot >= static_cast<int>(use.sources.size())) continue;
    const auto at = static_cast<std::size_t>(slot);
    use.sources[at] = range(first, width);
    use.reuse[at] = operand.reuse;
  }
  return use;
}

}  // namespace foretrace::isa
