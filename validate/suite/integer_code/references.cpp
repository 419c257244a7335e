#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

std::uint32_t left(std::uint32_t x, unsigned by) { return x << by | x >> (32 - by); }
std::uint32_t right(std::uint32_t x, unsigned by) { return x >> by | x << (32 - by); }

void quarter(std::uint32_t* s, std::size_t a, std::size_t b, std::size_t c, std::size_t d) {
  constexpr unsigned kTurns[2][2] = {{16, 12}, {8, 7}};
  for (const auto& by : kTurns) {
    s[a] += s[b];
    s[d] = left(s[d] ^ s[a], by[0]);
    s[c] += s[d];
    s[b] = left(s[b] ^ s[c], by[1]);
  }
}

void chacha_stream(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t blocks = count_of(arguments[2]);
  const std::uint32_t nonce = arguments[3].value<std::uint32_t>();
  const auto* key = arguments[0].elements<std::uint32_t>(8);
  auto* data = arguments[1].elements<std::uint32_t>(16 * blocks);
  for (std::size_t block = 0; block < blocks; ++block, data += 16) {
    std::uint32_t start[16];
    const char* text = "expand 32-byte k";
    for (std::size_t i = 0; i < 4; ++i) std::memcpy(&start[i], text + 4 * i, 4);
    std::copy(key, key + 8, start + 4);
    start[12] = static_cast<std::uint32_t>(block);
    for (std::uint32_t i = 0; i < 3; ++i) start[13 + i] = nonce + i;
    std::uint32_t s[16];
    std::copy(start, start + 16, s);
    for (int round = 0; round < 10; ++round) {
      for (std::size_t c = 0; c < 4; ++c) quarter(s, c, c + 4, c + 8, c + 12);
      for (std::size_t c = 0; c < 4; ++c) quarter(s, c, (c + 1) % 4 + 4, (c + 2) % 4 + 8, (c + 3) % 4 + 12);
    }
    for (std::size_t i = 0; i < 16; ++i) data[i] ^= s[i] + start[i];
  }
}

constexpr std::uint64_t kPrime[] = {0x9e3779b185ebca87u, 0xc2b2ae3d27d4eb4fu, 0x165667b19e3779f9u,
                                    0x85ebca77c2b2ae63u};

std::uint64_t turned(std::uint64_t x, unsigned by) { return x << by | x >> (64 - by); }

std::uint64_t stepped(std::uint64_t sum, std::uint64_t lane) {
  return turned(sum + lane * kPrime[1], 31) * kPrime[0];
}

void xx_records(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t count = count_of(arguments[2]);
  const std::size_t stripes = count_of(arguments[3]);
  const std::uint64_t seed = arguments[4].value<std::uint64_t>();
  const auto* data = arguments[0].elements<std::uint64_t>(count * stripes * 4);
  auto* hashes = arguments[1].elements<std::uint64_t>(count);
  constexpr unsigned kTurn[] = {1, 7, 12, 18};
  for (std::size_t record = 0; record < count; ++record) {
    std::uint64_t sums[4] = {seed + kPrime[0] + kPrime[1], seed + kPrime[1], seed, seed - kPrime[0]};
    for (std::size_t i = 0; i < 4 * stripes; ++i) sums[i % 4] = stepped(sums[i % 4], *data++);
    std::uint64_t hash = 0;
    for (std::size_t i = 0; i < 4; ++i) hash += turned(sums[i], kTurn[i]);
    for (const std::uint64_t sum : sums) hash = (hash ^ stepped(0, sum)) * kPrime[0] + kPrime[3];
    hash += stripes * 32;
    hash = (hash ^ hash >> 33) * kPrime[1];
    hash = (hash ^ hash >> 29) * kPrime[2];
    hashes[record] = hash ^ hash >> 32;
  }
}

std::uint8_t product(std::uint8_t factor, std::uint8_t x) {
  const auto twice = static_cast<std::uint8_t>(x << 1 ^ (x >> 7) * 0x1b);
  return static_cast<std::uint8_t>((factor & 1 ? x : 0) ^ (factor & 2 ? twice : 0));
}

/// The cipher by its definition: substitute, shift rows, mix columns, add the key; the last round mixes nothing.
void aes_tables(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t count = count_of(arguments[3]);
  const auto* substitution = arguments[0].elements<std::uint8_t>(256);
  const auto* keys = arguments[1].elements<std::uint8_t>(11 * 16);
  auto* state = arguments[2].elements<std::uint8_t>(16 * count);
  constexpr std::uint8_t kMix[] = {2, 3, 1, 1};
  for (std::size_t i = 0; i < count; ++i, state += 16) {
    for (std::size_t at = 0; at < 16; ++at) state[at] ^= keys[at];
    for (std::size_t round = 1; round <= 10; ++round) {
      std::uint8_t moved[16];
      for (std::size_t at = 0; at < 16; ++at) moved[at] = substitution[state[(at + 4 * (at % 4)) % 16]];
      for (std::size_t at = 0; at < 16; ++at) {
        std::uint8_t mixed = 0;
        for (std::size_t r = 0; r < 4; ++r)
          mixed ^= product(kMix[(r + 4 - at % 4) % 4], moved[at / 4 * 4 + r]);
        state[at] = (round < 10 ? mixed : moved[at]) ^ keys[round * 16 + at];
      }
    }
  }
}

void crc_straight(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t count = count_of(arguments[2]);
  const auto* data = arguments[0].elements<std::uint8_t>(64 * count);
  auto* checksums = arguments[1].elements<std::uint32_t>(count);
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t crc = ~0u;
    for (std::size_t byte = 0; byte < 64; ++byte) {
      crc ^= data[64 * i + byte];
      for (int bit = 0; bit < 8; ++bit) crc = (crc & 1) != 0 ? crc >> 1 ^ 0xedb88320u : crc >> 1;
    }
    checksums[i] = ~crc;
  }
}

/// The first 32 bits behind the point of the roots of the primes: FIPS 180-4, sections 4.2.2 and 5.3.3.
struct ShaConstants {
  std::uint32_t round[64], start[8];
  ShaConstants() {
    const auto fraction = [](double root) {
      return static_cast<std::uint32_t>((root - std::floor(root)) * 4294967296.0);
    };
    std::size_t found = 0;
    for (int number = 2; found < 64; ++number) {
      bool is_prime = true;
      for (int i = 2; i * i <= number; ++i) is_prime = is_prime && number % i != 0;
      if (!is_prime) continue;
      if (found < 8) start[found] = fraction(std::sqrt(static_cast<double>(number)));
      round[found++] = fraction(std::cbrt(static_cast<double>(number)));
    }
  }
};

void compress(const ShaConstants& constants, const std::uint32_t* block, std::uint32_t* digest) {
  std::uint32_t w[64], s[8];
  std::copy(block, block + 16, w);
  std::copy(constants.start, constants.start + 8, s);
  for (std::size_t t = 0; t < 64; ++t) {
    if (t >= 16) {
      const std::uint32_t early = w[t - 15], late = w[t - 2];
      w[t] = w[t - 16] + w[t - 7] + (right(early, 7) ^ right(early, 18) ^ early >> 3) +
             (right(late, 17) ^ right(late, 19) ^ late >> 10);
    }
    const std::uint32_t first = s[7] + (right(s[4], 6) ^ right(s[4], 11) ^ right(s[4], 25)) +
                                ((s[4] & s[5]) ^ (~s[4] & s[6])) + constants.round[t] + w[t];
    const std::uint32_t second = (right(s[0], 2) ^ right(s[0], 13) ^ right(s[0], 22)) +
                                 ((s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]));
    std::copy_backward(s, s + 7, s + 8);
    s[4] += first;
    s[0] = first + second;
  }
  for (std::size_t i = 0; i < 8; ++i) digest[i] = constants.start[i] + s[i];
}

void sha_nonce(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const ShaConstants constants;
  const std::size_t count = count_of(arguments[3]);
  const auto* header = arguments[0].elements<std::uint32_t>(16);
  auto* first_words = arguments[1].elements<std::uint32_t>(count);
  auto* least = arguments[2].elements<std::uint32_t>(1);
  for (std::size_t nonce = 0; nonce < count; ++nonce) {
    std::uint32_t block[16], second[16] = {}, digest[8];
    std::copy(header, header + 16, block);
    block[3] = static_cast<std::uint32_t>(nonce);
    compress(constants, block, second);
    second[8] = 0x80000000u;
    second[15] = 256;
    compress(constants, second, digest);
    first_words[nonce] = digest[0];
    *least = std::min(*least, digest[0]);
  }
}

const Registration kRegistered{
    {"chacha_stream", chacha_stream}, {"xx_records", xx_records}, {"aes_tables", aes_tables},
    {"crc_straight", crc_straight},   {"sha_nonce", sha_nonce},
};

}  // namespace
}  // namespace foretrace::references
