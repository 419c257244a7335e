#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

/// The first 32 bits behind the point of a root: FIPS 180-4, sections 4.2.2 and 5.3.3.
std::uint32_t fraction(double root) {
  return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0);
}

std::uint32_t rotated(std::uint32_t x, unsigned by) { return x >> by | x << (32 - by); }

void sha256(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t count = count_of(arguments[2]);
  const std::size_t blocks = count_of(arguments[3]);
  const auto* bytes = arguments[0].elements<std::uint8_t>(count * blocks * 64);
  auto* digest = arguments[1].elements<std::uint32_t>(count * 8);
  std::uint32_t constants[64];
  std::uint32_t start[8];
  for (std::uint32_t number = 2, found = 0; found < 64; ++number) {
    bool is_prime = true;
    for (std::uint32_t i = 2; i * i <= number; ++i) is_prime = is_prime && number % i != 0;
    if (!is_prime) continue;
    if (found < 8) start[found] = fraction(std::sqrt(static_cast<double>(number)));
    constants[found++] = fraction(std::cbrt(static_cast<double>(number)));
  }
  for (std::size_t message = 0; message < count; ++message, digest += 8) {
    std::copy(start, start + 8, digest);
    for (std::size_t block = 0; block < blocks; ++block, bytes += 64) {
      std::uint32_t w[64];
      for (std::size_t t = 0; t < 16; ++t) {
        w[t] = 0;
        for (std::size_t k = 0; k < 4; ++k) w[t] = w[t] << 8 | bytes[4 * t + k];
      }
      for (std::size_t t = 16; t < 64; ++t) {
        const std::uint32_t early = w[t - 15], late = w[t - 2];
        w[t] = w[t - 16] + (rotated(early, 7) ^ rotated(early, 18) ^ early >> 3) + w[t - 7] +
               (rotated(late, 17) ^ rotated(late, 19) ^ late >> 10);
      }
      std::uint32_t s[8];
      std::copy(digest, digest + 8, s);
      for (std::size_t t = 0; t < 64; ++t) {
        const std::uint32_t first = s[7] + (rotated(s[4], 6) ^ rotated(s[4], 11) ^ rotated(s[4], 25)) +
                                    ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants[t] + w[t];
        const std::uint32_t second = (rotated(s[0], 2) ^ rotated(s[0], 13) ^ rotated(s[0], 22)) +
                                     ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
        std::copy_backward(s, s + 7, s + 8);
        s[4] += first;
        s[0] = first + second;
      }
      for (std::size_t i = 0; i < 8; ++i) digest[i] += s[i];
    }
  }
}

const Registration kCrypto{{"sha256", sha256}};

}  // namespace
}  // namespace foretrace::references
