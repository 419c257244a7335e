#include "sim/frontend/launch/argument.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <fstream>
#include <iterator>
#include <limits>
#include <optional>
#include <system_error>

#include "model/units/error.h"

namespace foretrace::frontend {
namespace {

constexpr std::string_view kTypeList = "i8 u8 i16 u16 i32 u32 i64 u64 f16 bf16 f32 f64";
constexpr std::string_view kBufferForm =
    "buf:TYPE:COUNT[:zero|iota|uniform|perm|cycle|value=V|range=LO..HI|skew=LO..HI|ramp=STEP|jitter=STEP|"
    "band=D..W|"
    "file=PATH][:seed=N][:name=NAME]";
constexpr std::uint64_t kLargestBuffer = std::uint64_t{1} << 40;  // bytes, beyond any GPU's memory
constexpr std::size_t kLargestStruct = 65536;                     // bytes, the size of a constant bank

std::optional<std::uint64_t> parse_number(std::string_view text) {
  int base = 10;
  if (text.size() > 2 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
    base = 16;
    text.remove_prefix(2);
  }
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::optional<std::uint64_t> multiply(std::uint64_t a, std::uint64_t b) {
  if (b != 0 && a > std::numeric_limits<std::uint64_t>::max() / b) return std::nullopt;
  return a * b;
}

/// 1000, 2^24, 1024*1024, 3*2^20.
std::optional<std::uint64_t> parse_count(std::string_view text) {
  std::optional<std::uint64_t> product = 1;
  while (product) {
    const std::size_t star = text.find('*');
    const std::string_view factor = text.substr(0, star);
    const std::size_t caret = factor.find('^');
    const auto base = parse_number(factor.substr(0, caret));
    const auto power =
        caret == std::string_view::npos ? std::uint64_t{1} : parse_number(factor.substr(caret + 1));
    if (!base || !power || *power > 63) return std::nullopt;
    for (std::uint64_t i = 0; product && i < *power; ++i) product = multiply(*product, *base);
    if (star == std::string_view::npos) break;
    text.remove_prefix(star + 1);
  }
  return product;
}

/// The bits of an integer of `type` written in decimal or as 0x..., or nothing if it does not fit.
std::optional<std::uint64_t> integer_bits(ElementType type, std::string_view text) {
  const values::TypeInfo& info = type_info(type);
  const bool negative = !text.empty() && text[0] == '-';
  const auto magnitude = parse_number(negative ? text.substr(1) : text);
  if (!magnitude) return std::nullopt;
  const std::uint64_t all = std::numeric_limits<std::uint64_t>::max() >> (64 - info.bytes * 8);
  const std::uint64_t largest = info.is_signed ? all >> 1 : all;
  if (negative) {
    const std::uint64_t smallest = info.is_signed ? largest + 1 : 0;
    return *magnitude <= smallest ? std::optional(values::cut(type, 0 - *magnitude)) : std::nullopt;
  }
  return *magnitude <= largest ? std::optional(*magnitude) : std::nullopt;
}

/// The bits of a number of `type`; floats are rounded to nearest even and must not overflow to infinity, which
/// is written inf.
std::optional<std::uint64_t> number_bits(ElementType type, std::string_view text) {
  if (!type_info(type).is_float) return integer_bits(type, text);
  const char* const end_of_text = text.data() + text.size();
  double number = 0;
  if (type == ElementType::f32) {  // straight to float: by way of double it would be rounded twice
    float narrow = 0;
    const auto [end, error] = std::from_chars(text.data(), end_of_text, narrow);
    if (error != std::errc() || end != end_of_text) return std::nullopt;
    number = static_cast<double>(narrow);
  } else {
    const auto [end, error] = std::from_chars(text.data(), end_of_text, number);
    if (error != std::errc() || end != end_of_text) return std::nullopt;
  }
  const std::uint64_t bits = float_bits(type, number);
  if (std::isfinite(number) && !std::isfinite(float_value(type, bits))) return std::nullopt;
  return bits;
}

std::vector<std::uint8_t> little_endian(ElementType type, std::uint64_t bits) {
  std::vector<std::uint8_t> bytes(element_bytes(type));
  for (auto& byte : bytes) {
    byte = static_cast<std::uint8_t>(bits);
    bits >>= 8;
  }
  return bytes;
}

std::string quoted_type_error(std::string_view name) {
  return fmt::format("'{}' is no element type, expected one of {}", name, kTypeList);
}

/// Reads one form. `where` stands before every message: "argument 3 'buf:f32:x'".
class Parser {
 public:
  Parser(std::string where, std::filesystem::path directory, std::uint64_t default_seed)
      : where_(std::move(where)), directory_(std::move(directory)), default_seed_(default_seed) {}

  Argument parse(std::string_view text) {
    Argument argument;
    argument.text = std::string(text);
    const std::size_t colon = text.find(':');
    const std::string_view word = text.substr(0, colon);
    const std::string_view rest =
        colon == std::string_view::npos ? std::string_view() : text.substr(colon + 1);
    if (word == "buf") {
      parse_buffer(rest, argument);
    } else if (word == "val") {
      parse_value(rest, argument);
    } else if (word == "ref") {
      parse_reference(rest, argument);
    } else if (word == "bytes") {
      parse_bytes(rest, argument);
    } else if (word == "tmap") {
      argument.kind = ArgumentKind::tensor_map;
      const std::string problem = parse_tensor(rest, argument.tensor, argument.name, argument.offset);
      if (!problem.empty()) fail(problem);
    } else if (text != "null") {
      fail(
          "expected buf:TYPE:COUNT..., val:TYPE:V, ref:NAME[+BYTES], null, bytes:HEX, bytes:@FILE or "
          "tmap:TYPE:...");
    }
    return argument;
  }

 private:
  [[noreturn]] void fail(std::string_view message) const {
    throw InputError(fmt::format("{}: {}", where_, message));
  }

  ElementType parse_type(std::string_view name) const {
    ElementType type = ElementType::u8;
    if (!element_type_from_name(name, type)) fail(quoted_type_error(name));
    return type;
  }

  void parse_buffer(std::string_view text, Argument& argument) {
    argument.kind = ArgumentKind::buffer;
    std::vector<std::string_view> fields;
    for (;;) {
      const std::size_t colon = text.find(':');
      fields.push_back(text.substr(0, colon));
      if (colon == std::string_view::npos) break;
      text.remove_prefix(colon + 1);
    }
    if (fields.size() < 2) fail(fmt::format("expected {}", kBufferForm));
    argument.type = parse_type(fields[0]);
    const auto count = parse_count(fields[1]);
    if (!count || *count == 0) {
      fail(
          fmt::format("'{}' is no element count, expected a number of at least 1 such as 1000, 2^24 or "
                      "1024*1024",
                      fields[1]));
    }
    if (*count > kLargestBuffer / element_bytes(argument.type)) {
      fail(fmt::format("a buffer of {} elements is over 2^40 bytes", *count));
    }
    argument.count = *count;
    argument.generator.seed = default_seed_;
    for (std::size_t i = 2; i < fields.size(); ++i) parse_option(fields[i], argument);
    check_generator(argument);
  }

  void parse_option(std::string_view field, Argument& argument) {
    const std::size_t equals = field.find('=');
    const std::string_view key = field.substr(0, equals);
    const bool has_value = equals != std::string_view::npos;
    const std::string_view value = has_value ? field.substr(equals + 1) : std::string_view();
    if (key == "seed" && has_value) {
      once(has_seed_, "seed");
      const auto seed = parse_number(value);
      if (!seed) fail(fmt::format("'{}' is no seed, expected a number below 2^64", value));
      argument.generator.seed = *seed;
    } else if (key == "name" && has_value) {
      once(has_name_, "name");
      if (!is_identifier(value)) fail(fmt::format("'{}' is no buffer name, expected a C identifier", value));
      argument.name = std::string(value);
    } else {
      GeneratorKind kind = GeneratorKind::zero;
      const bool known = generator_from_name(key, kind);
      const bool takes_value = has_parameters(kind);
      if (!known || takes_value != has_value) {
        fail(fmt::format("'{}' is no option of a buffer, expected {}", field, kBufferForm));
      }
      once(has_generator_, "contents");
      argument.generator.kind = kind;
      if (takes_value) parse_contents(value, argument);
    }
  }

  static bool has_parameters(GeneratorKind kind) {
    return kind != GeneratorKind::zero && kind != GeneratorKind::iota && kind != GeneratorKind::uniform &&
           kind != GeneratorKind::perm && kind != GeneratorKind::cycle;
  }

  void once(bool& seen, std::string_view what) const {
    if (seen) fail(fmt::format("the buffer's {} is given twice", what));
    seen = true;
  }

  void parse_contents(std::string_view value, Argument& argument) {
    const GeneratorKind kind = argument.generator.kind;
    if (kind == GeneratorKind::value || kind == GeneratorKind::ramp || kind == GeneratorKind::jitter) {
      argument.generator.low_bits = number(argument.type, value);
    } else if (kind == GeneratorKind::range || kind == GeneratorKind::skew) {
      parse_range(value, argument);
    } else if (kind == GeneratorKind::band) {
      const std::size_t dots = value.find("..");
      if (dots == std::string_view::npos) fail(fmt::format("'{}' is no band, expected band=D..W", value));
      argument.generator.low_bits = number(argument.type, value.substr(0, dots));
      argument.generator.high_bits = number(argument.type, value.substr(dots + 2));
    } else {
      argument.file = directory_ / std::filesystem::path(value);
      std::error_code error;
      const auto size = std::filesystem::file_size(argument.file, error);
      if (error) fail(fmt::format("cannot read '{}': {}", argument.file.string(), error.message()));
      if (size != argument.buffer_bytes()) {
        fail(fmt::format("'{}' holds {} bytes, expected the buffer's {}", argument.file.string(), size,
                         argument.buffer_bytes()));
      }
    }
  }

  void parse_range(std::string_view value, Argument& argument) {
    const std::size_t dots = value.find("..");
    if (dots == std::string_view::npos) fail(fmt::format("'{}' is no range, expected range=LO..HI", value));
    const ElementType type = argument.type;
    const std::uint64_t low = number(type, value.substr(0, dots));
    const std::uint64_t high = number(type, value.substr(dots + 2));
    argument.generator.low_bits = low;
    argument.generator.high_bits = high;
    bool ordered = false;
    if (type_info(type).is_float) {
      const double span = float_value(type, high) - float_value(type, low);
      if (!std::isfinite(span)) fail(fmt::format("the range '{}' is not finite", value));
      ordered = span > 0;
    } else if (type_info(type).is_signed) {
      ordered = static_cast<std::int64_t>(values::extend(type, low)) <
                static_cast<std::int64_t>(values::extend(type, high));
    } else {
      ordered = low < high;
    }
    if (!ordered) fail(fmt::format("the range '{}' is empty, expected LO < HI", value));
  }

  void check_generator(const Argument& argument) const {
    const Generator& generator = argument.generator;
    const GeneratorKind kind = generator.kind;
    if (kind == GeneratorKind::perm || kind == GeneratorKind::cycle) check_permutation(argument);
    const bool steps = kind == GeneratorKind::ramp || kind == GeneratorKind::jitter;
    const bool is_band = kind == GeneratorKind::band;
    if (!steps && !is_band && kind != GeneratorKind::cycle && kind != GeneratorKind::skew) return;
    const values::TypeInfo& info = type_info(argument.type);
    if (info.is_float) {
      fail(fmt::format("{} makes indices, expected an integer type", generator_name(kind)));
    }
    if (!steps && !is_band) return;
    const std::uint64_t largest =
        std::numeric_limits<std::uint64_t>::max() >> (64 - info.bytes * 8 + (info.is_signed ? 1u : 0u));
    const std::uint64_t low = generator.low_bits;
    const std::uint64_t high = generator.high_bits;
    if (low == 0 || low > largest || (is_band && (high == 0 || high > largest))) {
      fail(fmt::format("{} needs numbers of at least 1", generator_name(kind)));
    }
    const bool fits =
        is_band ? (argument.count - 1) / low <= largest - (high - 1) : low <= largest / argument.count;
    if (!fits) {
      fail(fmt::format("the largest element that {} could make does not fit {}", generator_name(kind),
                       info.name));
    }
  }

  void check_permutation(const Argument& argument) const {
    const values::TypeInfo& info = type_info(argument.type);
    const unsigned bits =
        info.is_float ? static_cast<unsigned>(info.significand) : info.bytes * 8 - (info.is_signed ? 1u : 0u);
    if (bits < 64 && argument.count > std::uint64_t{1} << bits) {
      fail(fmt::format("a permutation of {} elements does not fit {}, which holds 0..2^{} exactly",
                       argument.count, info.name, bits));
    }
  }

  std::uint64_t number(ElementType type, std::string_view text) const {
    const auto bits = number_bits(type, text);
    if (!bits) fail(fmt::format("'{}' is no number that fits {}", text, element_type_name(type)));
    return *bits;
  }

  void parse_value(std::string_view text, Argument& argument) const {
    argument.kind = ArgumentKind::value;
    const std::size_t colon = text.find(':');
    if (colon == std::string_view::npos) fail("expected val:TYPE:V");
    argument.type = parse_type(text.substr(0, colon));
    argument.bytes = little_endian(argument.type, number(argument.type, text.substr(colon + 1)));
  }

  void parse_reference(std::string_view text, Argument& argument) const {
    argument.kind = ArgumentKind::reference;
    const std::size_t plus = text.find('+');
    argument.name = std::string(text.substr(0, plus));
    if (!is_identifier(argument.name)) fail("expected ref:NAME[+BYTES], NAME a C identifier");
    if (plus == std::string_view::npos) return;
    const auto offset = parse_number(text.substr(plus + 1));
    if (!offset) { fail(fmt::format("'{}' is no offset, expected ref:NAME[+BYTES]", text.substr(plus + 1))); }
    argument.offset = *offset;
  }

  void parse_bytes(std::string_view text, Argument& argument) const {
    argument.kind = ArgumentKind::bytes;
    if (!text.empty() && text[0] == '@') {
      const std::filesystem::path path = directory_ / std::filesystem::path(text.substr(1));
      std::error_code error;
      const auto size = std::filesystem::file_size(path, error);
      if (error) fail(fmt::format("cannot read '{}': {}", path.string(), error.message()));
      if (size == 0 || size > kLargestStruct) {
        fail(fmt::format("'{}' holds {} bytes, expected 1 to {}", path.string(), size, kLargestStruct));
      }
      std::ifstream file(path, std::ios::binary);
      argument.bytes.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
      if (argument.bytes.size() != size) fail(fmt::format("cannot read '{}'", path.string()));
      return;
    }
    const bool right_size = !text.empty() && text.size() % 2 == 0 && text.size() / 2 <= kLargestStruct;
    for (std::size_t i = 0; right_size && i < text.size(); i += 2) {
      std::uint8_t byte = 0;
      const char* const first = text.data() + i;
      if (const auto [end, error] = std::from_chars(first, first + 2, byte, 16);
          error != std::errc() || end != first + 2) {
        break;
      }
      argument.bytes.push_back(byte);
    }
    if (!right_size || argument.bytes.size() != text.size() / 2) {
      fail(
          fmt::format("expected bytes:HEX, two hexadecimal digits for each of 1 to {} bytes, or "
                      "bytes:@FILE",
                      kLargestStruct));
    }
  }

  std::string where_;
  std::filesystem::path directory_;
  std::uint64_t default_seed_;
  bool has_seed_ = false;
  bool has_name_ = false;
  bool has_generator_ = false;
};

}  // namespace

std::size_t Argument::parameter_bytes() const {
  constexpr std::size_t kTensorMapBytes = 128;
  if (kind == ArgumentKind::tensor_map) return kTensorMapBytes;
  return kind == ArgumentKind::value || kind == ArgumentKind::bytes ? bytes.size() : 8;
}

bool is_identifier(std::string_view text) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !text.empty() && is_letter(text[0]) && std::all_of(text.begin(), text.end(), [&](char c) {
    return is_letter(c) || (c >= '0' && c <= '9');
  });
}

Argument parse_argument(std::string_view text, std::size_t position, const std::filesystem::path& directory) {
  return Parser(fmt::format("argument {} '{}'", position + 1, text), directory, position + 1).parse(text);
}

Symbol parse_symbol(std::string_view text, std::size_t position, const std::filesystem::path& directory) {
  const std::string where = fmt::format("symbol {} '{}'", position + 1, text);
  const std::size_t equals = text.find('=');
  Symbol symbol;
  symbol.name = std::string(text.substr(0, equals));
  // A variable may stand in a namespace.
  std::string_view rest = symbol.name;
  bool is_name = equals != std::string_view::npos;
  while (is_name) {
    const std::size_t colons = rest.find("::");
    is_name = is_identifier(rest.substr(0, colons));
    if (colons == std::string_view::npos) break;
    rest.remove_prefix(colons + 2);
  }
  if (!is_name) throw InputError(fmt::format("{}: expected NAME=FORM, NAME a variable's name", where));
  symbol.contents = Parser(where, directory, 1001 + position).parse(text.substr(equals + 1));
  if (symbol.contents.kind == ArgumentKind::buffer && !symbol.contents.name.empty()) {
    throw InputError(
        fmt::format("{}: a symbol's contents have the symbol's name, name= is for buffers", where));
  }
  return symbol;
}

}  // namespace foretrace::frontend
