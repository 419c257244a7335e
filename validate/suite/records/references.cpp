#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

/// The fields of a record are what its buffer has for each element of the source.
void record_fields(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t count = count_of(arguments[2]);
  const std::size_t fields = arguments[1].bytes / sizeof(float) / count;
  const auto* source = arguments[0].elements<float>(count);
  auto* records = arguments[1].elements<float>(count * fields);
  for (std::size_t i = 0; i < count; ++i) {
    float value = source[i];
    for (std::size_t f = 0; f < fields; ++f) {
      records[i * fields + f] = value;
      value = std::fma(value, 0.5f, source[i]);
    }
  }
}

constexpr std::size_t kBodyBytes = 40;

template <typename T>
void put(std::uint8_t* place, T value) {
  std::memcpy(place, &value, sizeof value);
}

template <typename T>
T get(const std::uint8_t* place) {
  T value;
  std::memcpy(&value, place, sizeof value);
  return value;
}

void body_fill(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t count = count_of(arguments[2]);
  const auto* seeds = arguments[0].elements<std::uint32_t>(count);
  auto* body = arguments[1].elements<std::uint8_t>(count * kBodyBytes);
  for (std::size_t i = 0; i < count; ++i, body += kBodyBytes) {
    const std::uint32_t s = seeds[i];
    put(body, static_cast<double>(s & 0xffff));
    put(body + 8, static_cast<double>(s >> 16));
    put(body + 16, static_cast<double>(s >> 8 & 0xffff) * 0.5);
    put(body + 24, static_cast<float>(s & 0xff) * 0.25f);
    put(body + 28, static_cast<std::int32_t>(i));
    put(body + 32, static_cast<std::int16_t>(s >> 7));
    put(body + 34, static_cast<std::uint8_t>(s >> 3));
    put(body + 35, static_cast<std::uint8_t>(s >> 11));
    put(body + 36, s ^ 0x5a5a5a5au);
  }
}

void body_move(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t count = count_of(arguments[1]);
  const double step = arguments[2].value<double>();
  auto* body = arguments[0].elements<std::uint8_t>(count * kBodyBytes);
  for (std::size_t i = 0; i < count; ++i, body += kBodyBytes) {
    const double weight = static_cast<double>(get<float>(body + 24)) * step;
    put(body, get<double>(body) + weight);
    put(body + 8, get<double>(body + 8) - weight);
    put(body + 36, get<std::uint32_t>(body + 36) + body[34]);
    put(body + 32, static_cast<std::int16_t>(get<std::int16_t>(body + 32) + body[35]));
  }
}

void statistics_push(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t count = count_of(arguments[2]);
  const auto* samples = arguments[0].elements<float>(count);
  auto* one = arguments[1].elements<float>(count * 5);
  for (std::size_t i = 0; i < count; ++i, one += 5) {
    const float x = samples[i];
    one[0] = std::fma(x - one[0], 0.25f, one[0]);
    one[2] = std::fmin(one[2], x);
    one[3] = std::fmax(one[3], x);
    one[4] = x;
  }
}

void sphere_grow(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t count = count_of(arguments[2]);
  const auto* amounts = arguments[0].elements<float>(count);
  auto* one = arguments[1].elements<float>(count * 7);
  for (std::size_t i = 0; i < count; ++i, one += 7) {
    const float a = amounts[i], red = one[4];
    one[0] = a;
    one[1] = a * 2;
    one[2] = a * 4;
    one[3] += a;
    one[4] = red * 0.5f;
    one[5] = red * 0.25f;
    one[6] = one[3] * 0.125f;
  }
}

const Registration kRegistered{
    {"record_fields", record_fields},     {"body_fill", body_fill},     {"body_move", body_move},
    {"statistics_push", statistics_push}, {"sphere_grow", sphere_grow},
};

}  // namespace
}  // namespace foretrace::references
