#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

std::uint32_t substitution(std::uint32_t i) {
  i &= 255;
  return (i + 1) * 0x9e3779b1u ^ (i * 0x85ebca6bu + 0x27d4eb2fu) >> 5;
}

std::uint32_t turned(std::uint32_t x, unsigned by) { return by == 0 ? x : x << by | x >> (32 - by); }

void table_cipher(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t count = count_of(arguments[2]);
  const std::size_t rounds = count_of(arguments[3]);
  const auto* in = arguments[0].elements<std::uint32_t>(4 * count);
  auto* out = arguments[1].elements<std::uint32_t>(4 * count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t key = arguments[4].value<std::uint32_t>();
    std::uint32_t s[4];
    std::copy(in + 4 * i, in + 4 * i + 4, s);
    for (std::size_t round = 0; round < rounds; ++round) {
      std::uint32_t next[4];
      for (unsigned w = 0; w < 4; ++w) {
        next[w] = key + w;
        for (unsigned byte = 0; byte < 4; ++byte) {
          next[w] ^= turned(substitution(s[(w + byte) % 4] >> (8 * byte)), 8 * byte);
        }
      }
      std::copy(next, next + 4, s);
      key = key * 1664525u + 1013904223u;
    }
    std::copy(s, s + 4, out + 4 * i);
  }
}

float book_entry(int i) { return static_cast<float>(i * 37 % 256 - 128) / 64.0f; }

void decode_bytes(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = 4 * count_of(arguments[2]);
  const auto* codes = arguments[0].elements<std::uint8_t>(n);
  auto* out = arguments[1].elements<float>(n);
  const float scale = arguments[3].value<float>();
  for (std::size_t i = 0; i < n; ++i) out[i] = book_entry(codes[i]) * scale;
}

void decode_nibbles(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t words = count_of(arguments[2]);
  const auto* codes = arguments[0].elements<std::uint32_t>(words);
  auto* out = arguments[1].elements<float>(8 * words);
  const float scale = arguments[3].value<float>();
  for (std::size_t i = 0; i < 8 * words; ++i) {
    out[i] = book_entry(static_cast<int>(codes[i / 8] >> (4 * (i % 8)) & 15)) * scale;
  }
}

void parameter_curve(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t count = count_of(arguments[3]);
  const std::size_t steps = count_of(arguments[4]);
  const auto* curve = arguments[0].elements<float>(962);
  const auto* in = arguments[1].elements<float>(count);
  auto* out = arguments[2].elements<float>(count);
  for (std::size_t i = 0; i < count; ++i) {
    float x = in[i];
    for (std::size_t step = 0; step < steps; ++step) {
      const float place = std::fma(x, curve[960], curve[961]);
      const int k = std::clamp(static_cast<int>(place), 0, 479);
      x = std::fma(place - static_cast<float>(k), curve[2 * k + 1], curve[2 * k]);
    }
    out[i] = x;
  }
}

const Registration kRegistered{
    {"table_cipher", table_cipher},
    {"decode_bytes", decode_bytes},
    {"decode_nibbles", decode_nibbles},
    {"parameter_curve", parameter_curve},
};

}  // namespace
}  // namespace foretrace::references
