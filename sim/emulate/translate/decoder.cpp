#include "sim/emulate/translate/decoder.h"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "model/units/error.h"

namespace foretrace::emulate {

using isa::Operand;
using isa::OperandKind;

std::uint32_t LiteralPool::place(std::initializer_list<std::uint32_t> words) {
  const std::vector<std::uint32_t> key(words);
  const auto [at, added] = placed_.try_emplace(key, static_cast<std::uint32_t>(values_.size()) * 32);
  if (added) values_.insert(values_.end(), key.begin(), key.end());
  return at->second;
}

std::uint32_t LiteralPool::constant(int bank, std::int64_t offset) const {
  if (bank < 0 || static_cast<std::size_t>(bank) >= banks_.size()) {
    throw Unsupported{fmt::format("constant bank {} is not there", bank)};
  }
  const std::vector<std::byte>& bytes = banks_[static_cast<std::size_t>(bank)];
  if (offset < 0 || static_cast<std::uint64_t>(offset) + 4 > bytes.size()) {
    throw Unsupported{fmt::format("constant bank {} has {} bytes", bank, bytes.size())};
  }
  std::uint32_t word;
  std::memcpy(&word, bytes.data() + offset, 4);
  return word;
}

std::uint32_t LiteralPool::place_constant(int bank, std::int64_t offset, int count) {
  std::vector<std::uint32_t> words;
  for (int i = 0; i < count; ++i) words.push_back(constant(bank, offset + 4 * i));
  const auto [at, added] =
      placed_constants_.try_emplace({bank, offset, count}, static_cast<std::uint32_t>(values_.size()) * 32);
  if (!added) return at->second;
  for (int i = 0; i < count; ++i) {
    bound_.push_back({static_cast<std::uint32_t>(values_.size()) * 32, static_cast<std::uint8_t>(bank),
                      static_cast<std::uint32_t>(offset + 4 * i)});
    values_.push_back(words[static_cast<std::size_t>(i)]);
  }
  return at->second;
}

LaneWords bind_literals(const Compiled& compiled, Banks banks) {
  LaneWords words(compiled.literals.size());
  std::memcpy(words.data(), compiled.literals.data(), compiled.literals.size() * sizeof(std::uint32_t));
  for (const BoundLiteral& literal : compiled.bound) {
    const std::vector<std::byte>& bank = banks[literal.bank];
    FORETRACE_ASSERT(std::size_t{literal.offset} + 4 <= bank.size(),
                     "a constant bank keeps its size from launch to launch");
    std::uint32_t word;
    std::memcpy(&word, bank.data() + literal.offset, sizeof word);
    std::fill_n(words.data() + literal.word, 32, word);
  }
  return words;
}

LaneWords LiteralPool::finish() const {
  LaneWords words(values_.size() * 32 + 4 * 32);
  for (std::size_t i = 0; i < values_.size(); ++i) {
    for (std::size_t l = 0; l < 32; ++l) words.data()[i * 32 + l] = values_[i];
  }
  return words;
}

Decoder::Decoder(const isa::Instruction& instruction, const isa::Program& program, const LaneTable& lanes,
                 LiteralPool& pool, MicroOp& op)
    : printed(instruction), program_(program), lanes_(lanes), pool_(pool), op_(op) {}

std::uint32_t Decoder::register_word(int index, bool destination) {
  if (index == isa::kRz) return destination ? kSinkWord : kZeroWord;
  return kFirstRegisterWord + static_cast<std::uint32_t>(index) * 32;
}
std::uint32_t Decoder::uniform_word(int index, bool destination) {
  if (index == isa::kUrz) return destination ? kSinkWord : kZeroWord;
  return kFirstUniformWord + static_cast<std::uint32_t>(index) * 32;
}

void Decoder::destination() {
  const Operand& operand = printed.next();
  if (operand.kind == OperandKind::register_) {
    op_.destination_file = File::registers;
    op_.destination = register_word(operand.index, true);
  } else if (operand.kind == OperandKind::uniform_register) {
    op_.destination_file = File::uniform;
    op_.destination = uniform_word(operand.index, true);
  } else {
    PrintedForm::refuse(fmt::format("'{}' is no register to write", operand.text));
  }
  if (operand.negate || operand.invert || operand.absolute || !operand.suffix.empty()) {
    PrintedForm::refuse(fmt::format("'{}' is no plain register to write", operand.text));
  }
}

std::uint8_t Decoder::predicate_output() {
  const Operand& operand = printed.next();
  if (operand.negate ||
      (operand.kind != OperandKind::predicate && operand.kind != OperandKind::uniform_predicate)) {
    PrintedForm::refuse(fmt::format("'{}' is no predicate to write", operand.text));
  }
  if (operand.index == isa::kPt) return kSinkSlot;
  return static_cast<std::uint8_t>(operand.index +
                                   (operand.kind == OperandKind::uniform_predicate ? kUniformSlot : 0));
}

void Decoder::predicate_outputs(int most) {
  if (most > 0 && printed.next_is_predicate()) op_.p_out = predicate_output();
  if (most > 1 && printed.next_is_predicate()) op_.q_out = predicate_output();
}

PredicateSource Decoder::predicate_input() {
  const Operand& operand = printed.next();
  if (operand.kind != OperandKind::predicate && operand.kind != OperandKind::uniform_predicate) {
    PrintedForm::refuse(fmt::format("'{}' is no predicate", operand.text));
  }
  const int base = operand.kind == OperandKind::uniform_predicate ? kUniformSlot : 0;
  return {static_cast<std::uint8_t>(operand.index + base), operand.negate ? ~0u : 0u};
}

Source Decoder::literal_source(std::uint32_t value) {
  Source s;
  s.file = File::literal;
  s.word = pool_.place({value});
  return s;
}

/// Where the operand's words are; the high word follows the low when wide. A double's 32-bit immediate is its high word.
Source Decoder::place(const Operand& operand, bool wide, bool is_double) {
  Source s;
  switch (operand.kind) {
    case OperandKind::register_:
      s.file = File::registers;
      s.word = register_word(operand.index, false);
      return s;
    case OperandKind::uniform_register:
      s.file = File::uniform;
      s.word = uniform_word(operand.index, false);
      return s;
    case OperandKind::immediate: {
      s.file = File::literal;
      const auto low = static_cast<std::uint32_t>(operand.value),
                 high = static_cast<std::uint32_t>(operand.value >> 32);
      if (is_double && !operand.is_float) PrintedForm::refuse(fmt::format("'{}' is no double", operand.text));
      s.word = wide ? pool_.place({low, high}) : pool_.place({low});
      return s;
    }
    case OperandKind::constant: {
      if (operand.base >= 0 || operand.uniform_base >= 0) {
        PrintedForm::refuse(fmt::format("'{}' is indexed", operand.text));
      }
      s.file = File::literal;
      s.word = pool_.place_constant(operand.bank, operand.offset, wide ? 2 : 1);
      return s;
    }
    default: PrintedForm::refuse(fmt::format("'{}' is not a value", operand.text));
  }
}

Source Decoder::source(Style style) {
  const Operand& operand = printed.next();
  Source s = place(operand, false, false);
  const bool changed = operand.negate || operand.invert || operand.absolute;
  const auto odd = [&] { PrintedForm::refuse(fmt::format("operand '{}'", operand.text)); };
  if (style != Style::half && !operand.suffix.empty()) odd();
  switch (style) {
    case Style::raw:
      if (changed) odd();
      break;
    case Style::integer:
      if (operand.absolute || (operand.negate && operand.invert)) odd();
      if (operand.negate) {
        s.xor_mask = ~0u;
        s.add = 1;
      } else if (operand.invert) {
        s.xor_mask = ~0u;
      }
      break;
    case Style::single:
      if (operand.invert) odd();
      if (operand.absolute) s.and_mask = 0x7fffffff;
      if (operand.negate) s.xor_mask = 0x80000000;
      break;
    case Style::half:
      if (operand.invert) odd();
      if (operand.absolute) s.and_mask = 0x7fff7fff;
      if (operand.negate) s.xor_mask = 0x80008000;
      if (operand.suffix == "H0_H0" || operand.suffix == "H0") {
        s.swizzle = 1;
      } else if (operand.suffix == "H1_H1" || operand.suffix == "H1") {
        s.swizzle = 2;
      } else if (operand.suffix == "H0_NH1") {  // the high half negated
        s.xor_mask ^= 0x80000000;
      } else if (!operand.suffix.empty() && operand.suffix != "H1_H0") {
        odd();
      }
      break;
  }
  return s;
}

Source Decoder::sign_source() { return place(printed.next(), false, false); }
Source Decoder::wide_sign_source() { return place(printed.next(), true, false); }

Source Decoder::wide_integer() {
  const Operand& operand = printed.next();
  Source s = place(operand, true, false);
  if (operand.absolute || !operand.suffix.empty())
    PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
  if (operand.negate) {
    s.xor_mask = ~0u;
    s.add = 1;
  } else if (operand.invert) {
    s.xor_mask = ~0u;
  }
  return s;
}

Source Decoder::wide_double() {
  const Operand& operand = printed.next();
  Source s = place(operand, true, true);
  if (operand.invert || !operand.suffix.empty())
    PrintedForm::refuse(fmt::format("operand '{}'", operand.text));
  if (operand.absolute) s.and_mask = 0x7fffffff;
  if (operand.negate) s.xor_mask = 0x80000000;
  return s;
}

void Decoder::lane(LaneOp which) { lane(lanes_.op[static_cast<int>(which)]); }
void Decoder::lane(LaneFunction function) {
  op_.kind = Kind::lane;
  op_.lane = function;
}
void Decoder::warp(WarpFunction function) {
  op_.kind = Kind::warp;
  op_.warp = function;
}

void Decoder::guard() {
  op_.guard.slot = static_cast<std::uint8_t>(printed.instruction().guard +
                                             (printed.instruction().guard_uniform ? kUniformSlot : 0));
  op_.guard.invert = printed.instruction().guard_negate ? ~0u : 0u;
}

void Decoder::finish() {
  printed.refuse_rest();
  const auto idle = [](const Source& s) {
    return s.and_mask == ~0u && s.xor_mask == 0 && s.add == 0 && s.swizzle == 0 && !s.sign_only;
  };
  op_.plain = idle(op_.a) && idle(op_.b) && idle(op_.c);
}

}  // namespace foretrace::emulate
