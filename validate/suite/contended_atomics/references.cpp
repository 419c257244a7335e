#include "validate/kernels/references.h"

namespace foretrace::references {
namespace {

void mixed_atomics(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t count = count_of(arguments[2]);
  const std::uint32_t mask = arguments[3].value<std::uint32_t>();
  const auto* items = arguments[0].elements<std::uint32_t>(count);
  auto* slots = arguments[1].elements<std::uint32_t>(6 * (std::size_t{mask} + 1));
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint32_t x = items[i];
    std::uint32_t* slot = slots + std::size_t{6} * (x >> 20 & mask);
    const auto is_less = [](std::uint32_t a, std::uint32_t b) {
      return static_cast<std::int32_t>(a) < static_cast<std::int32_t>(b);
    };
    slot[0] += x & 0xff;
    slot[1] = is_less(x << 4, slot[1]) ? x << 4 : slot[1];
    slot[2] = is_less(slot[2], x << 8) ? x << 8 : slot[2];
    slot[3] |= 1u << (x & 31);
    slot[4] &= ~(1u << (x >> 5 & 31));
    slot[5] ^= x;
  }
}

void tickets(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t count = count_of(arguments[3]);
  const std::uint32_t mask = arguments[4].value<std::uint32_t>();
  const auto* items = arguments[0].elements<std::uint32_t>(count);
  auto* counters = arguments[1].elements<std::uint32_t>(std::size_t{mask} + 1);
  auto* sums = arguments[2].elements<std::uint64_t>(std::size_t{mask} + 1);
  for (std::size_t i = 0; i < count; ++i) {
    const std::size_t slot = items[i] & mask;
    sums[slot] += counters[slot]++;
  }
}

void clipped_sums(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t count = count_of(arguments[2]);
  const std::uint32_t mask = arguments[3].value<std::uint32_t>();
  const std::uint32_t limit = arguments[4].value<std::uint32_t>();
  const auto* items = arguments[0].elements<std::uint32_t>(count);
  auto* sums = arguments[1].elements<std::uint32_t>(8 * (std::size_t{mask} + 1));
  for (std::size_t i = 0; i < count; ++i) {
    std::uint32_t& sum = sums[std::size_t{8} * (items[i] & mask)];
    sum = std::min(sum + (items[i] >> 24) + 1, limit);
  }
}

/// The order of what is kept depends on who comes first; how many there are and their total do not.
void keep_small(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t count = count_of(arguments[4]);
  const std::uint32_t threshold = arguments[5].value<std::uint32_t>();
  const auto* items = arguments[0].elements<std::uint32_t>(count);
  auto* length = arguments[2].elements<std::uint32_t>(1);
  auto* total = arguments[3].elements<std::uint64_t>(1);
  for (std::size_t i = 0; i < count; ++i) {
    if (items[i] >= threshold) continue;
    ++*length;
    *total += items[i] >> 16;
  }
}

void count_groups(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t count = count_of(arguments[2]);
  const std::uint32_t mask = arguments[3].value<std::uint32_t>();
  const auto* items = arguments[0].elements<std::uint32_t>(count);
  auto* counters = arguments[1].elements<std::uint32_t>(std::size_t{mask} + 1);
  for (std::size_t i = 0; i < count; ++i) ++counters[items[i] & mask];
}

void shared_bins(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t count = count_of(arguments[2]);
  const std::size_t size = count_of(arguments[3]);
  const auto* keys = arguments[0].elements<std::uint16_t>(count);
  auto* bins = arguments[1].elements<std::uint32_t>(size);
  for (std::size_t i = 0; i < count; ++i) {
    if (keys[i] >= size) throw std::invalid_argument("shared_bins: a key beyond the bins");
    ++bins[keys[i]];
  }
}

void double_sums(const Arguments& arguments, Dim3, Dim3) {
  if (arguments.size() != 4) need(arguments, 5);
  const std::size_t count = count_of(arguments[3]);
  const std::size_t size = arguments[2].bytes / sizeof(double);
  const auto* keys = arguments[0].elements<std::uint32_t>(count);
  const auto* values = arguments[1].elements<double>(count);
  auto* sums = arguments[2].elements<double>(size);
  for (std::size_t i = 0; i < count; ++i) {
    if (keys[i] >= size) throw std::invalid_argument("double_sums: a key beyond the sums");
    sums[keys[i]] += values[i];
  }
}

const Registration kRegistered{
    {"mixed_atomics", mixed_atomics}, {"tickets", tickets},           {"clipped_sums", clipped_sums},
    {"keep_small", keep_small},       {"count_groups", count_groups}, {"shared_bins", shared_bins},
    {"double_sums", double_sums},
};

}  // namespace
}  // namespace foretrace::references
