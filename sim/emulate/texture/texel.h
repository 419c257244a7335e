// One texel as the four words that an instruction gets, and back.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "sim/emulate/texture/texture.h"

namespace foretrace::emulate {

/// Integers, or the bits of floats.
using TexelWords = std::array<std::uint32_t, 4>;

/// Whether lookups give floats: of floating texels, and of integers that are read as floats.
bool gives_floats(const Texture& texture);
/// `from`: Image::texel_bytes() of them. What a texel has not is 0, 0 and 1.
TexelWords unpack_texel(const Texture& texture, const std::byte* from);
/// The words of a formatted store: integers are clamped to the component's range, floats rounded to nearest even.
void pack_texel(const Image& image, const TexelWords& words, std::byte* to);

}  // namespace foretrace::emulate
