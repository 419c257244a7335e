// A lookup in a texture: which texels, with which weights.
//
// Models:  address modes; nearest texels; linear filters whose positions have 8 fraction bits, rounded to nearest, and weights that are multiples of 1/256; mip levels, nearest or
//          blended; layers and cube faces; gathering; derivatives (the longer one decides the level).
//          filters of integers that are read as floats give whole 65,535ths (an H100; signed: 92% of its answers, the others 1/32,767 off).
// Ignores: filtering across the faces of a cube; anisotropy. Weights of three dimensions are right to 1/256.
// Source:  CUDA C++ Programming Guide, "Texture Fetching"; fraction bits and weights: an H100's answers (validate/measurements/h100-sxm-texture-microbenchmarks.json).
#pragma once

#include <array>
#include <cstdint>
#include <functional>

#include "sim/emulate/texture/texel.h"

namespace foretrace::emulate {

enum class TextureShape : std::uint8_t { d1, d2, d3, cube };

/// Where a lane looks.
struct Lookup {
  TextureShape shape = TextureShape::d2;
  std::array<float, 3> at{};            ///< or, where `whole`, not looked at
  std::array<std::int32_t, 3> texel{};  ///< TLD: numbers of texels
  bool whole = false;
  std::uint32_t layer = 0;
  float level = 0;
  bool has_derivatives = false;
  std::array<float, 3> dx{}, dy{};  ///< of the coordinates
  int gather = -1;                  ///< component to gather of four texels; -1: none
};

/// What it found.
struct Sample {
  TexelWords words{};
  bool touched = false;  ///< any texel at all: not only border
  std::uint64_t first = 0,
                last = 0;    ///< addresses of the texels with the smallest and the largest coordinates
  std::uint32_t passes = 1;  ///< of the texture unit, as TextureSpec::interval counts them
};

/// Host memory of a texel's address; faults where there is none.
using TexelReader = std::function<const std::byte*(std::uint64_t address)>;

Sample look_up(const Texture& texture, const Lookup& lookup, const TexelReader& read);

}  // namespace foretrace::emulate
