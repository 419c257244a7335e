#include "sim/emulate/texture/texel.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

#include "sim/emulate/execute/number.h"
#include "sim/emulate/texture/srgb_table.h"

namespace foretrace::emulate {

namespace {

std::uint32_t component(const Image& image, const std::byte* from) {
  std::uint32_t value = 0;
  std::memcpy(&value, from, image.bits / 8u);
  if (image.kind != TexelKind::signed_integer || image.bits == 32) return value;
  return static_cast<std::uint32_t>(static_cast<std::int32_t>(value << (32 - image.bits)) >>
                                    (32 - image.bits));
}

float as_float(const Texture& texture, std::uint32_t value, int index) {
  const Image& image = texture.image;
  if (image.kind == TexelKind::floating)
    return image.bits == 16 ? half_to_float(static_cast<std::uint16_t>(value)) : std::bit_cast<float>(value);
  const double most = std::ldexp(1.0, image.bits - (image.kind == TexelKind::signed_integer ? 1 : 0)) - 1;
  if (image.kind == TexelKind::signed_integer) {
    return static_cast<float>(std::max(-1.0, static_cast<std::int32_t>(value) / most));
  }
  if (texture.sampler.srgb && image.bits == 8 && index < 3) return kSrgbUnit * kSrgbValues[value];
  return static_cast<float>(value / most);
}

}  // namespace

bool gives_floats(const Texture& texture) {
  return texture.image.kind == TexelKind::floating || texture.sampler.normalized_float;
}

TexelWords unpack_texel(const Texture& texture, const std::byte* from) {
  const Image& image = texture.image;
  const bool floats = gives_floats(texture);
  TexelWords words = {0, 0, 0, floats ? std::bit_cast<std::uint32_t>(1.0f) : 1u};
  for (std::uint32_t i = 0; i < image.components; ++i) {
    const std::uint32_t value = component(image, from + i * (image.bits / 8u));
    words[i] = floats ? std::bit_cast<std::uint32_t>(as_float(texture, value, static_cast<int>(i))) : value;
  }
  return words;
}

void pack_texel(const Image& image, const TexelWords& words, std::byte* to) {
  for (std::uint32_t i = 0; i < image.components; ++i) {
    std::uint32_t value = words[i];
    if (image.kind == TexelKind::floating && image.bits == 16) {
      value = float_to_half(std::bit_cast<float>(value));
    } else if (image.kind == TexelKind::unsigned_integer && image.bits < 32) {
      value = std::min(value, (1u << image.bits) - 1);
    } else if (image.kind == TexelKind::signed_integer && image.bits < 32) {
      const std::int32_t most = (1 << (image.bits - 1)) - 1;
      value = static_cast<std::uint32_t>(std::clamp(static_cast<std::int32_t>(value), -most - 1, most));
    }
    std::memcpy(to + i * (image.bits / 8u), &value, image.bits / 8u);
  }
}

}  // namespace foretrace::emulate
