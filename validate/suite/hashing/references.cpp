#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

constexpr std::uint32_t kEmpty = 0xffffffffu;

std::uint32_t mixed(std::uint32_t h) {
  h ^= h >> 16;
  h *= 0x85ebca6bu;
  h ^= h >> 13;
  h *= 0xc2b2ae35u;
  return h ^ h >> 16;
}

void hash_insert(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t n = count_of(arguments[4]);
  const auto mask = arguments[5].value<std::uint32_t>();
  const auto* keys = arguments[0].elements<std::uint32_t>(n);
  auto* table = arguments[1].elements<std::uint32_t>(std::size_t{mask} + 1);
  auto* values = arguments[2].elements<std::uint32_t>(std::size_t{mask} + 1);
  auto* steps = arguments[3].elements<std::uint32_t>(1);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t place = mixed(keys[i]) & mask;
    ++*steps;
    for (; table[place] != kEmpty; place = (place + 1) & mask) ++*steps;
    table[place] = keys[i];
    values[place] = keys[i] * 3u + 1u;
  }
}

void hash_probe(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t n = count_of(arguments[4]);
  const auto mask = arguments[5].value<std::uint32_t>();
  const auto* wanted = arguments[0].elements<std::uint32_t>(n);
  const auto* table = arguments[1].elements<std::uint32_t>(std::size_t{mask} + 1);
  const auto* values = arguments[2].elements<std::uint32_t>(std::size_t{mask} + 1);
  auto* found = arguments[3].elements<std::uint32_t>(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t place = mixed(wanted[i]) & mask;
    while (table[place] != wanted[i] && table[place] != kEmpty) place = (place + 1) & mask;
    found[i] = table[place] == kEmpty ? kEmpty : values[place];
  }
}

void hash_records(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  constexpr std::size_t kRecord = 64;
  const std::size_t n = count_of(arguments[2]);
  const auto* records = arguments[0].elements<std::uint8_t>(n * kRecord);
  auto* hashes = arguments[1].elements<std::uint32_t>(n);
  for (std::size_t i = 0; i < n; ++i) {
    std::uint32_t hash = 0x811c9dc5u;
    for (std::size_t b = 0; b < kRecord; ++b) hash = (hash ^ records[i * kRecord + b]) * 0x01000193u;
    hashes[i] = hash;
  }
}

const Registration kRegistered{
    {"hash_insert", hash_insert},
    {"hash_probe", hash_probe},
    {"hash_records", hash_records},
};

}  // namespace
}  // namespace foretrace::references
