#include "model/isa/parse.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>

#include "model/isa/encoding.h"
#include "model/units/error.h"

namespace foretrace::isa {
namespace {

bool starts_with(std::string_view text, std::string_view prefix) {
  return text.substr(0, prefix.size()) == prefix;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

/// Decimal digits only, at most three: register and predicate numbers.
std::optional<std::uint8_t> small_number(std::string_view text) {
  unsigned value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size() || value > 255)
    return std::nullopt;
  return static_cast<std::uint8_t>(value);
}

/// "0x1f", "-0x8".
std::optional<std::int64_t> hexadecimal(std::string_view text) {
  bool negative = false;
  if (starts_with(text, "-") || starts_with(text, "+")) {
    negative = text.front() == '-';
    text.remove_prefix(1);
  }
  if (!starts_with(text, "0x")) return std::nullopt;
  text.remove_prefix(2);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return static_cast<std::int64_t>(negative ? ~value + 1 : value);
}

/// A number with a decimal point, exponent or no base prefix: how nvdisasm prints floats.
bool looks_like_float(std::string_view text) {
  if (starts_with(text, "-") || starts_with(text, "+")) text.remove_prefix(1);
  if (text == "INF" || text == "QNAN" || text == "SNAN") return true;
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool digits = !text.empty() && text.front() >= '0' && text.front() <= '9';
  return digits && error != std::errc::invalid_argument && end == text.data() + text.size();
}

/// A number of which one half is meant, as F2FP's scales are ("4.57369e-41.H0"): without the half.
std::optional<std::string_view> half_of_float(std::string_view text) {
  if (!text.ends_with(".H0") && !text.ends_with(".H1")) return std::nullopt;
  text.remove_suffix(3);
  if (!looks_like_float(text)) return std::nullopt;
  return text;
}

/// What is said of an instruction that is not executed beyond its name: Triton and CUTLASS make every product for sm_100 with these.
std::string_view about_unknown(std::string_view base) {
  const bool tcgen05 = starts_with(base, "UTC") || base == "LDTM" || base == "STTM" || base == "UVIRTCOUNT";
  return tcgen05 ? ": tcgen05 and tensor memory are not executed" : "";
}

/// A register-like token: prefix letter(s) and a number, or the prefix and the name of the constant one ("RZ", "UPT").
std::optional<std::uint8_t> numbered(std::string_view text, std::string_view prefix,
                                     std::string_view constant_name, int constant_index) {
  if (!constant_name.empty() && text == constant_name) return static_cast<std::uint8_t>(constant_index);
  if (!starts_with(text, prefix)) return std::nullopt;
  return small_number(text.substr(prefix.size()));
}

std::optional<std::uint8_t> general_register(std::string_view text) { return numbered(text, "R", "RZ", kRz); }
std::optional<std::uint8_t> uniform_register(std::string_view text) {
  return numbered(text, "UR", "URZ", kUrz);
}

struct NotUnderstood {
  std::string what;
};

class Parser {
 public:
  Parser(Instruction& instruction, const Labels& labels) : out_(instruction), labels_(labels) {}

  void parse(std::string_view text) {
    text = trimmed(text);
    while (!text.empty() && (text.back() == ';' || text.back() == ' ')) text.remove_suffix(1);
    if (const auto comment = text.find("(*"); comment != std::string_view::npos)
      text = trimmed(text.substr(0, comment));
    set_text(text);
    text = guard(text);
    const auto blank = text.find(' ');
    mnemonic(text.substr(0, blank));
    if (blank != std::string_view::npos) operands(trimmed(text.substr(blank)));
    join_half_pairs();
  }

 private:
  [[noreturn]] static void fail(std::string what) { throw NotUnderstood{std::move(what)}; }

  void set_text(std::string_view text) {
    // One blank after the guard, whatever nvdisasm aligned it with.
    const auto blank = text.find(' ');
    if (starts_with(text, "@") && blank != std::string_view::npos) {
      out_.text = fmt::format("{} {}", text.substr(0, blank), trimmed(text.substr(blank)));
    } else {
      out_.text = std::string(text);
    }
  }

  std::string_view guard(std::string_view text) {
    if (!starts_with(text, "@")) return text;
    const auto blank = text.find(' ');
    if (blank == std::string_view::npos) fail("a guard stands before an instruction");
    std::string_view name = text.substr(1, blank - 1);
    if (starts_with(name, "!")) {
      out_.guard_negate = true;
      name.remove_prefix(1);
    }
    if (const auto predicate = numbered(name, "P", "PT", kPt)) {
      out_.guard = *predicate;
    } else if (const auto uniform = numbered(name, "UP", "UPT", kPt)) {
      out_.guard = *uniform;
      out_.guard_uniform = true;
    } else {
      fail(fmt::format("guard '{}' is not a predicate", name));
    }
    return trimmed(text.substr(blank));
  }

  void mnemonic(std::string_view token) {
    auto dot = token.find('.');
    const std::string_view base = token.substr(0, dot);
    if (!opcode_from_name(base, out_.opcode))
      fail(fmt::format("unknown instruction {}{}", base, about_unknown(base)));
    while (dot != std::string_view::npos) {
      const auto next = token.find('.', dot + 1);
      out_.modifiers.emplace_back(
          token.substr(dot + 1, next == std::string_view::npos ? next : next - dot - 1));
      dot = next;
    }
  }

  /// Splits at commas, and at blanks before a second operand ("R6 `(k)", "R4 -0xe0"), outside brackets.
  void operands(std::string_view text) {
    std::size_t start = 0;
    int depth = 0;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const char c = i < text.size() ? text[i] : ',';
      if (c == '[' || c == '{' || c == '(') ++depth;
      if (c == ']' || c == '}' || c == ')') --depth;
      if (depth != 0 || (c != ',' && c != ' ')) continue;
      if (c == ' ') {
        const std::string_view rest = trimmed(text.substr(i));
        const bool joined = rest.empty() || starts_with(rest, ",") || starts_with(rest, "[") || i == start;
        if (joined) continue;  // "+INF ,", "c[0x0] [0x168]", ", R1"
      }
      operand(trimmed(text.substr(start, i - start)));
      start = i + 1;
    }
    if (depth != 0) fail("brackets do not match");
  }

  void operand(std::string_view token) {
    if (token.empty()) fail("an operand is missing");
    Operand operand;
    operand.text = std::string(token);
    std::string_view core = prefixes(token, operand);
    if (!(simple(core, operand) || constant(core, operand) || memory(core, operand) ||
          other(core, operand))) {
      fail(fmt::format("operand '{}' has a form that is not understood", token));
    }
    out_.operands.push_back(std::move(operand));
  }

  std::string_view prefixes(std::string_view token, Operand& operand) const {
    // A minus sign of a number belongs to the number.
    const bool number =
        hexadecimal(token).has_value() || looks_like_float(token) || half_of_float(token).has_value();
    while (!number && !token.empty()) {
      if (token.front() == '-' || token.front() == '!') {
        operand.negate = true;
      } else if (token.front() == '~') {
        operand.invert = true;
      } else {
        break;
      }
      token.remove_prefix(1);
    }
    if (starts_with(token, "|")) {
      operand.absolute = true;
      token.remove_prefix(1);
    }
    return token;
  }

  /// What follows the operand's name: ".reuse", ".64", and anything else into `suffix`.
  void suffixes(std::string_view text, Operand& operand) const {
    if (operand.absolute) {
      if (!starts_with(text, "|")) fail(fmt::format("operand '{}' lacks its closing bar", operand.text));
      text.remove_prefix(1);
    }
    while (!text.empty()) {
      if (text.front() != '.')
        fail(fmt::format("operand '{}' has a form that is not understood", operand.text));
      const auto next = text.find('.', 1);
      const std::string_view part = text.substr(1, next == std::string_view::npos ? next : next - 1);
      if (part.empty()) fail(fmt::format("operand '{}' has an empty suffix", operand.text));
      if (part == "reuse") {
        operand.reuse = true;
      } else if (part == "64") {
        operand.wide = true;
      } else {
        if (!operand.suffix.empty()) operand.suffix += '.';
        operand.suffix += part;
      }
      text = next == std::string_view::npos ? std::string_view{} : text.substr(next);
    }
  }

  /// Registers, predicates, barriers, scoreboards and numbers.
  bool simple(std::string_view core, Operand& operand) const {
    if (const auto integer = hexadecimal(core)) {
      operand.kind = OperandKind::immediate;
      operand.value = static_cast<std::uint64_t>(*integer);
      return true;
    }
    const auto half = half_of_float(core);
    if (half || looks_like_float(core)) {
      operand.kind = OperandKind::immediate;
      operand.is_float = true;
      if (half) suffixes(core.substr(half->size()), operand);
      return true;
    }
    if (starts_with(core, "SR")) {
      const bool named =
          core == "SRZ" || starts_with(core, "SR_") || small_number(core.substr(2)).has_value();
      if (!named) return false;
      operand.kind = OperandKind::special_register;
      std::uint32_t index = 0;
      if (special_register_from_name(core, index)) operand.value = index;
      return true;
    }
    const auto end = core.find_first_of(".|");
    const std::string_view name = core.substr(0, end);
    const std::string_view rest = end == std::string_view::npos ? std::string_view{} : core.substr(end);
    struct Form {
      OperandKind kind;
      std::string_view prefix, constant_name;
      int constant_index;
    };
    static constexpr Form kForms[] = {
        {OperandKind::register_, "R", "RZ", kRz},       {OperandKind::uniform_register, "UR", "URZ", kUrz},
        {OperandKind::predicate, "P", "PT", kPt},       {OperandKind::uniform_predicate, "UP", "UPT", kPt},
        {OperandKind::convergence_barrier, "B", "", 0}, {OperandKind::scoreboard, "SB", "", 0},
    };
    for (const Form& form : kForms) {
      const auto index = numbered(name, form.prefix, form.constant_name, form.constant_index);
      if (!index) continue;
      operand.kind = form.kind;
      operand.index = *index;
      suffixes(rest, operand);
      return true;
    }
    return false;
  }

  /// Terms of an address, joined by '+': "R2.64", "UR4", "0x10", "-0x4".
  void address(std::string_view terms, Operand& operand) const {
    while (!terms.empty()) {
      const auto plus = terms.find('+');
      const std::string_view term = trimmed(terms.substr(0, plus));
      terms = plus == std::string_view::npos ? std::string_view{} : terms.substr(plus + 1);
      if (const auto integer = hexadecimal(term)) {
        operand.offset += *integer;
        continue;
      }
      const auto dot = term.find('.');
      const std::string_view name = term.substr(0, dot);
      const std::string_view suffix =
          dot == std::string_view::npos ? std::string_view{} : term.substr(dot + 1);
      if (const auto index = general_register(name); index && operand.base < 0) {
        operand.base = *index;
        operand.base_suffix = std::string(suffix);
        operand.wide = suffix == "64";
        static constexpr std::string_view kKnown[] = {"", "64", "U32", "X4", "X8", "X16"};
        bool known = false;
        for (const std::string_view k : kKnown) known = known || suffix == k;
        if (!known) fail(fmt::format("address register '{}' has a form that is not understood", term));
      } else if (const auto uniform = uniform_register(name);
                 uniform && operand.uniform_base < 0 && suffix.empty()) {
        operand.uniform_base = *uniform;
      } else {
        fail(fmt::format("address term '{}' is not understood", term));
      }
    }
  }

  bool constant(std::string_view core, Operand& operand) const {
    if (!starts_with(core, "c[")) return false;
    const auto close = core.find(']');
    const auto bank = hexadecimal(core.substr(2, close == std::string_view::npos ? 0 : close - 2));
    if (!bank || *bank < 0 || *bank > 31) return false;
    core = trimmed(core.substr(close + 1));
    const auto end = core.find(']');
    if (!starts_with(core, "[") || end == std::string_view::npos) return false;
    operand.kind = OperandKind::constant;
    operand.bank = static_cast<std::int16_t>(*bank);
    address(core.substr(1, end - 1), operand);
    // The upper half of a bank is written with a sign by some forms (ULDC): the field has 16 bits and no register is added.
    if (operand.base < 0 && operand.uniform_base < 0 && operand.offset < 0 && operand.offset >= -0x8000)
      operand.offset += 0x10000;
    suffixes(core.substr(end + 1), operand);
    return true;
  }

  bool memory(std::string_view core, Operand& operand) const {
    const bool described = starts_with(core, "desc[");
    if (!described && !starts_with(core, "[")) return false;
    operand.kind = OperandKind::memory;
    if (described) {
      const auto close = core.find(']');
      const auto index = uniform_register(core.substr(5, close == std::string_view::npos ? 0 : close - 5));
      if (!index) return false;
      operand.descriptor = *index;
      core = trimmed(core.substr(close + 1));
      if (core.empty()) {  // a cache policy alone, last operand of a bulk copy
        operand.kind = OperandKind::other;
        return true;
      }
    }
    const auto end = core.find(']');
    if (!starts_with(core, "[") || end == std::string_view::npos || end + 1 != core.size()) return false;
    address(core.substr(1, end - 1), operand);
    return true;
  }

  bool other(std::string_view core, Operand& operand) const {
    if (starts_with(core, "`(") && core.back() == ')') {
      const std::string name(core.substr(2, core.size() - 3));
      const auto found = labels_.find(name);
      if (found == labels_.end()) {
        fail(fmt::format(
            "the code address '{}' lies outside this kernel's section; build without -G and -rdc", name));
      }
      operand.kind = OperandKind::label;
      operand.value = found->second;
      return true;
    }
    if (starts_with(core, "{") && core.back() == '}')
      return scoreboards(core.substr(1, core.size() - 2), operand);
    if (core.find('@') != std::string_view::npos) {
      fail(fmt::format("operand '{}' needs a linker; build without -G and -rdc", operand.text));
    }
    operand.kind = OperandKind::other;
    static constexpr std::string_view kNames[] = {
        "PR",      "UPR",      "gsb0",     "Rpc.LO",   "Rpc.HI",     "MACTIVE",
        "MEXITED", "MATEXIT",  "MKILL",    "1D",       "2D",         "3D",
        "CUBE",    "ARRAY_1D", "ARRAY_2D", "ARRAY_3D", "ARRAY_CUBE", "TEX_HEADER_DIMENSION"};
    for (const std::string_view name : kNames) {
      if (core == name) return true;
    }
    // gdesc[UR8]: the matrix descriptors of a warpgroup MMA stand in the uniform registers from UR8 on.
    // ".tnspA", ".negB" and the like follow.
    if (starts_with(core, "gdesc[")) {
      const auto close = core.find(']');
      if (close == std::string_view::npos) return false;
      const auto index = uniform_register(core.substr(6, close - 6));
      if (!index) return false;
      operand.index = *index;
      suffixes(core.substr(close + 1), operand);
      return true;
    }
    return false;
  }

  /// "2,1" -> mask 0b110.
  bool scoreboards(std::string_view list, Operand& operand) const {
    operand.kind = OperandKind::scoreboard_list;
    while (!list.empty()) {
      const auto comma = list.find(',');
      const auto index = small_number(trimmed(list.substr(0, comma)));
      if (!index || *index >= kScoreboards) return false;
      operand.value |= std::uint64_t{1} << *index;
      list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    }
    return true;
  }

  /// Gives floats their bits; two halves become one operand.
  void join_half_pairs() {
    const FloatFormat format = float_format(out_);
    const bool pairs = format == FloatFormat::f16x2 || format == FloatFormat::bf16x2;
    for (std::size_t i = 0; i < out_.operands.size(); ++i) {
      Operand& first = out_.operands[i];
      if (first.kind != OperandKind::immediate || !first.is_float) continue;
      if (format == FloatFormat::none)
        fail(fmt::format("'{}' is a float where none is known to stand", first.text));
      if (!pairs) {
        first.value = float_bits(half_of_float(first.text).value_or(first.text), format);
        continue;
      }
      if (i + 1 >= out_.operands.size() || !out_.operands[i + 1].is_float)
        fail("half immediates come in pairs");
      const Operand second = out_.operands[i + 1];
      first.value = float_bits(first.text, format) << 16 | float_bits(second.text, format);
      first.text += ", " + second.text;
      out_.operands.erase(out_.operands.begin() + static_cast<std::ptrdiff_t>(i) + 1);
    }
  }

  Instruction& out_;
  const Labels& labels_;
};

void make_opaque(Instruction& instruction, std::string why) {
  instruction.opcode = Opcode::opaque;
  instruction.modifiers.clear();
  instruction.operands.clear();
  instruction.opaque = std::move(why);
}

}  // namespace

Instruction parse_text(std::string_view text, std::uint32_t offset, const Labels& labels,
                       std::string_view where) {
  Instruction instruction;
  instruction.offset = offset;
  try {
    Parser(instruction, labels).parse(text);
  } catch (const NotUnderstood& reason) {
    throw InputError(
        fmt::format("{}, offset 0x{:x}: '{}': {}", where, offset, instruction.text, reason.what));
  }
  return instruction;
}

Instruction parse_instruction(const Word& word, std::string_view text, std::uint32_t offset, int sm,
                              const Labels& labels) {
  Instruction instruction;
  instruction.offset = offset;
  instruction.word = word;
  instruction.control = control_bits(word);
  try {
    Parser(instruction, labels).parse(text);
  } catch (const NotUnderstood& reason) {
    make_opaque(instruction, reason.what);
    return instruction;
  }
  if (std::string disagreement = settle_with_word(instruction, sm); !disagreement.empty())
    make_opaque(instruction, std::move(disagreement));
  return instruction;
}

}  // namespace foretrace::isa
