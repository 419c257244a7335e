#include "sim/frontend/launch/tensor_argument.h"

#include <fmt/format.h>

#include <charconv>
#include <set>
#include <system_error>

namespace foretrace::frontend {
namespace {

constexpr std::string_view kForm =
    "tmap:TYPE:of=NAME[+BYTES]:dims=AxB..:box=CxD.. (or lower=..:upper=..:channels=N:pixels=N)"
    "[:strides=BYTESxBYTES..][:element_strides=AxB..][:swizzle=32B|64B|128B][:interleave=16B|32B]"
    "[:promotion=64B|128B|256B][:fill=nan|zero]";
constexpr std::string_view kTypes = "u8 u16 u32 s32 u64 s64 f16 f32 f64 bf16 f32_ftz tf32 tf32_ftz";

bool is_type(std::string_view name) {
  std::string_view rest = kTypes;
  while (!rest.empty()) {
    const std::size_t blank = rest.find(' ');
    if (rest.substr(0, blank) == name) return true;
    rest = blank == std::string_view::npos ? std::string_view() : rest.substr(blank + 1);
  }
  return false;
}

bool parse_number(std::string_view text, std::int64_t& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size();
}

/// "64x128".
bool parse_list(std::string_view text, std::vector<std::int64_t>& numbers) {
  for (;;) {
    const std::size_t cross = text.find('x');
    std::int64_t number = 0;
    if (!parse_number(text.substr(0, cross), number)) return false;
    numbers.push_back(number);
    if (cross == std::string_view::npos) return true;
    text.remove_prefix(cross + 1);
  }
}

/// "128B", one of the sizes.
bool parse_bytes(std::string_view text, std::initializer_list<int> sizes, int& bytes) {
  for (const int size : sizes) {
    if (text == fmt::format("{}B", size)) {
      bytes = size;
      return true;
    }
  }
  return text == "none";
}

bool parse_buffer(std::string_view text, std::string& buffer, std::uint64_t& offset) {
  const std::size_t plus = text.find('+');
  buffer = std::string(text.substr(0, plus));
  std::int64_t bytes = 0;
  if (plus != std::string_view::npos && (!parse_number(text.substr(plus + 1), bytes) || bytes < 0))
    return false;
  offset = static_cast<std::uint64_t>(bytes);
  return !buffer.empty();
}

bool parse_option(std::string_view key, std::string_view value, TensorArgument& t, std::string& buffer,
                  std::uint64_t& offset) {
  if (key == "of") return parse_buffer(value, buffer, offset);
  if (key == "dims") return parse_list(value, t.dims);
  if (key == "strides") return parse_list(value, t.strides);
  if (key == "box") return parse_list(value, t.box);
  if (key == "element_strides") return parse_list(value, t.element_strides);
  if (key == "lower") return parse_list(value, t.lower);
  if (key == "upper") return parse_list(value, t.upper);
  if (key == "channels") return parse_number(value, t.channels);
  if (key == "pixels") return parse_number(value, t.pixels);
  if (key == "swizzle") return parse_bytes(value, {32, 64, 128}, t.swizzle_bytes);
  if (key == "interleave") return parse_bytes(value, {16, 32}, t.interleave_bytes);
  if (key == "promotion") return parse_bytes(value, {64, 128, 256}, t.promotion_bytes);
  t.nan_fill = value == "nan";
  return key == "fill" && (value == "nan" || value == "zero");
}

/// Each list has as many numbers as it must.
std::string check_lists(const TensorArgument& t) {
  const std::size_t rank = t.dims.size();
  if (rank < 1 || rank > 5) return "expected 1 to 5 dims";
  if (!t.strides.empty() && t.strides.size() != rank - 1)
    return fmt::format("expected {} strides, of dimension 1 and on", rank - 1);
  if (!t.element_strides.empty() && t.element_strides.size() != rank)
    return fmt::format("expected {} element_strides", rank);
  const bool corners = !t.lower.empty() || !t.upper.empty() || t.channels != 0 || t.pixels != 0;
  if (!t.box.empty()) {
    if (corners) return "a box, or the corners, channels and pixels of im2col; not both";
    return t.box.size() == rank ? "" : fmt::format("expected {} numbers of box", rank);
  }
  if (!corners) return fmt::format("expected {}", kForm);
  if (rank < 3 || t.lower.size() != rank - 2 || t.upper.size() != rank - 2)
    return "im2col takes 3 to 5 dims, and lower and upper of two fewer";
  return "";
}

}  // namespace

std::string parse_tensor(std::string_view text, TensorArgument& tensor, std::string& buffer,
                         std::uint64_t& offset) {
  const std::size_t colon = text.find(':');
  tensor.type = std::string(text.substr(0, colon));
  if (!is_type(tensor.type))
    return fmt::format("'{}' is no type of a tensor, expected one of {}", tensor.type, kTypes);
  std::set<std::string_view> seen;
  while (text.find(':') != std::string_view::npos) {
    text.remove_prefix(text.find(':') + 1);
    const std::string_view field = text.substr(0, text.find(':'));
    const std::size_t equals = field.find('=');
    const std::string_view key = field.substr(0, equals);
    if (equals == std::string_view::npos ||
        !parse_option(key, field.substr(equals + 1), tensor, buffer, offset))
      return fmt::format("'{}' is no option of a tensor map, expected {}", field, kForm);
    if (!seen.insert(key).second) return fmt::format("{} is given twice", key);
  }
  if (buffer.empty()) return fmt::format("expected {}", kForm);
  return check_lists(tensor);
}

}  // namespace foretrace::frontend
