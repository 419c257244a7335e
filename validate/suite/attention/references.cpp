#include "validate/kernels/references.h"

#include <cmath>

#include "sim/frontend/launch/buffer_values.h"

namespace foretrace::references {
namespace {

constexpr std::size_t kHead = 64;  // floats of a head

double dot(const float* a, const float* b) {
  double sum = 0;
  for (std::size_t i = 0; i < kHead; ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

void attention_scores(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t sequence = count_of(arguments[3]);
  const auto scale = static_cast<double>(arguments[4].value<float>());
  const auto* q = arguments[0].elements<float>(grid.z * sequence * kHead);
  const auto* k = arguments[1].elements<float>(grid.z * sequence * kHead);
  auto* scores = arguments[2].elements<float>(grid.z * sequence * sequence);
  for (std::size_t head = 0; head < grid.z * sequence; head += sequence) {
    for (std::size_t query = 0; query < sequence; ++query) {
      float* row = scores + (head + query) * sequence;
      for (std::size_t key = 0; key < sequence; ++key) {
        row[key] =
            key > query
                ? -1e30f
                : static_cast<float>(scale * dot(q + (head + query) * kHead, k + (head + key) * kHead));
      }
    }
  }
}

void attention_softmax(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t rows = count_of(arguments[1]);
  const std::size_t columns = count_of(arguments[2]);
  auto* row = arguments[0].elements<float>(rows * columns);
  std::vector<double> power(columns);
  for (std::size_t i = 0; i < rows; ++i, row += columns) {
    const auto largest = static_cast<double>(*std::max_element(row, row + columns));
    double sum = 0;
    for (std::size_t k = 0; k < columns; ++k)
      sum += power[k] = std::exp(static_cast<double>(row[k]) - largest);
    for (std::size_t k = 0; k < columns; ++k) row[k] = static_cast<float>(power[k] / sum);
  }
}

void attention_values(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t sequence = count_of(arguments[3]);
  const auto* p = arguments[0].elements<float>(grid.z * sequence * sequence);
  const auto* v = arguments[1].elements<float>(grid.z * sequence * kHead);
  auto* out = arguments[2].elements<float>(grid.z * sequence * kHead);
  for (std::size_t head = 0; head < grid.z * sequence; head += sequence) {
    for (std::size_t query = 0; query < sequence; ++query) {
      double sum[kHead] = {};
      for (std::size_t key = 0; key <= query; ++key) {
        const auto weight = static_cast<double>(p[(head + query) * sequence + key]);
        for (std::size_t i = 0; i < kHead; ++i)
          sum[i] += weight * static_cast<double>(v[(head + key) * kHead + i]);
      }
      for (std::size_t i = 0; i < kHead; ++i) out[(head + query) * kHead + i] = static_cast<float>(sum[i]);
    }
  }
}

void attention_tiled(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t sequence = count_of(arguments[4]);
  const auto scale = static_cast<double>(arguments[5].value<float>());
  const std::size_t floats = grid.y * sequence * kHead;
  const auto* q = arguments[0].elements<float>(floats);
  const auto* k = arguments[1].elements<float>(floats);
  const auto* v = arguments[2].elements<float>(floats);
  auto* out = arguments[3].elements<float>(floats);
  std::vector<double> weight(sequence);
  for (std::size_t head = 0; head < grid.y * sequence; head += sequence) {
    for (std::size_t query = 0; query < sequence; ++query) {
      double largest = -HUGE_VAL;
      for (std::size_t key = 0; key <= query; ++key) {
        weight[key] = scale * dot(q + (head + query) * kHead, k + (head + key) * kHead);
        largest = std::max(largest, weight[key]);
      }
      double total = 0;
      double sum[kHead] = {};
      for (std::size_t key = 0; key <= query; ++key) {
        const double power = std::exp(weight[key] - largest);
        total += power;
        for (std::size_t i = 0; i < kHead; ++i)
          sum[i] += power * static_cast<double>(v[(head + key) * kHead + i]);
      }
      for (std::size_t i = 0; i < kHead; ++i)
        out[(head + query) * kHead + i] = static_cast<float>(sum[i] / total);
    }
  }
}

constexpr std::size_t kDecodeHead = 128;

// Both passes over the part's keys, where the kernel has a running maximum.
void decode_part(const Arguments& arguments, Dim3 grid, Dim3) {
  constexpr auto kType = frontend::ElementType::f16;
  need(arguments, 8);
  const std::size_t length = count_of(arguments[5]);
  const std::size_t part_length = count_of(arguments[6]);
  const auto scale = static_cast<double>(arguments[7].value<float>());
  const auto* query = arguments[0].elements<float>(grid.y * kDecodeHead);
  const auto* keys = arguments[1].elements<std::uint16_t>(grid.y * length * kDecodeHead);
  const auto* values = arguments[2].elements<std::uint16_t>(grid.y * length * kDecodeHead);
  auto* partial = arguments[3].elements<float>(std::size_t{grid.y} * grid.x * kDecodeHead);
  auto* scale_of = arguments[4].elements<float>(std::size_t{grid.y} * grid.x * 2);
  for (std::size_t place = 0; place < std::size_t{grid.y} * grid.x; ++place) {
    const std::size_t head = place / grid.x;
    const std::size_t first = place % grid.x * part_length;
    const std::size_t count = std::min(part_length, length - first);
    std::vector<double> score(count);
    for (std::size_t k = 0; k < count; ++k) {
      for (std::size_t i = 0; i < kDecodeHead; ++i) {
        score[k] += scale * static_cast<double>(query[head * kDecodeHead + i]) *
                    frontend::float_value(kType, keys[(head * length + first + k) * kDecodeHead + i]);
      }
    }
    const double most = *std::max_element(score.begin(), score.end());
    double total = 0;
    double sum[kDecodeHead] = {};
    for (std::size_t k = 0; k < count; ++k) {
      const double weight = std::exp(score[k] - most);
      total += weight;
      for (std::size_t i = 0; i < kDecodeHead; ++i) {
        sum[i] +=
            weight * frontend::float_value(kType, values[(head * length + first + k) * kDecodeHead + i]);
      }
    }
    for (std::size_t i = 0; i < kDecodeHead; ++i)
      partial[place * kDecodeHead + i] = static_cast<float>(sum[i]);
    scale_of[2 * place] = static_cast<float>(most);
    scale_of[2 * place + 1] = static_cast<float>(total);
  }
}

void decode_combine(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t parts = count_of(arguments[3]);
  const auto* partial = arguments[0].elements<float>(grid.x * parts * kDecodeHead);
  const auto* scale_of = arguments[1].elements<float>(grid.x * parts * 2);
  auto* out = arguments[2].elements<float>(grid.x * kDecodeHead);
  for (std::size_t head = 0; head < grid.x; ++head) {
    for (std::size_t i = 0; i < kDecodeHead; ++i) {
      double value = 0, total = 0;
      for (std::size_t p = head * parts; p < (head + 1) * parts; ++p) {
        // Scores are of the order of one: no maximum is needed in double precision.
        const double factor = std::exp(static_cast<double>(scale_of[2 * p]));
        total += factor * static_cast<double>(scale_of[2 * p + 1]);
        value += factor * static_cast<double>(partial[p * kDecodeHead + i]);
      }
      out[head * kDecodeHead + i] = static_cast<float>(value / total);
    }
  }
}

constexpr std::size_t kPageTokens = 16;
constexpr double kNoScore = -1e30;

// Four query heads share a key head, a part is 128 tokens.
void grouped_decode_split(const Arguments& arguments, Dim3 grid, Dim3) {
  constexpr std::size_t group = 4, part_tokens = 128;
  constexpr auto kType = frontend::ElementType::f16;
  need(arguments, 9);
  const std::size_t parts = grid.x, key_heads = grid.y, sequences = grid.z;
  const std::size_t most_pages = count_of(arguments[7]);
  const auto scale = static_cast<double>(arguments[8].value<float>());
  const std::size_t heads = sequences * key_heads * group;
  const auto* query = arguments[0].elements<std::uint16_t>(heads * kDecodeHead);
  const std::size_t cache = sequences * most_pages * kPageTokens * key_heads * kDecodeHead;
  const auto* keys = arguments[1].elements<std::uint16_t>(cache);
  const auto* values = arguments[2].elements<std::uint16_t>(cache);
  const auto* pages_of = arguments[3].elements<std::int32_t>(sequences * most_pages);
  const auto* length_of = arguments[4].elements<std::int32_t>(sequences);
  auto* partial = arguments[5].elements<float>(heads * parts * kDecodeHead);
  auto* statistics = arguments[6].elements<float>(heads * parts * 2);
  for (std::size_t place = 0; place < heads * parts; ++place) {
    const std::size_t head = place / parts, first = place % parts * part_tokens;
    const std::size_t key_head = head / group % key_heads, sequence = head / group / key_heads;
    const auto length = static_cast<std::size_t>(length_of[sequence]);
    const auto row = [&](std::size_t token) {
      const std::int32_t page = pages_of[sequence * most_pages + token / kPageTokens];
      const std::size_t at = static_cast<std::size_t>(page) * kPageTokens + token % kPageTokens;
      return (at * key_heads + key_head) * kDecodeHead;
    };
    std::vector<double> score;
    for (std::size_t token = first; token < std::min(first + part_tokens, length); ++token) {
      double sum = 0;
      for (std::size_t i = 0; i < kDecodeHead; ++i) {
        sum += frontend::float_value(kType, query[head * kDecodeHead + i]) *
               frontend::float_value(kType, keys[row(token) + i]);
      }
      score.push_back(sum * scale);
    }
    const double most = score.empty() ? kNoScore : *std::max_element(score.begin(), score.end());
    double total = 0;
    double sum[kDecodeHead] = {};
    for (std::size_t t = 0; t < score.size(); ++t) {
      const double weight = std::exp(score[t] - most);
      total += weight;
      for (std::size_t i = 0; i < kDecodeHead; ++i) {
        sum[i] += weight * frontend::float_value(kType, values[row(first + t) + i]);
      }
    }
    statistics[2 * place] = static_cast<float>(most);
    statistics[2 * place + 1] = static_cast<float>(total);
    if (score.empty()) continue;
    for (std::size_t i = 0; i < kDecodeHead; ++i)
      partial[place * kDecodeHead + i] = static_cast<float>(sum[i]);
  }
}

void grouped_decode_combine(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  const std::size_t parts = count_of(arguments[3]);
  const auto* partial = arguments[0].elements<float>(grid.x * parts * kDecodeHead);
  const auto* statistics = arguments[1].elements<float>(grid.x * parts * 2);
  auto* out = arguments[2].elements<std::uint16_t>(grid.x * kDecodeHead);
  for (std::size_t head = 0; head < grid.x; ++head) {
    for (std::size_t i = 0; i < kDecodeHead; ++i) {
      double value = 0, total = 0;
      for (std::size_t p = head * parts; p < (head + 1) * parts; ++p) {
        // A part without tokens has a factor of exp(-1e30), which is nothing.
        const double factor = std::exp(static_cast<double>(statistics[2 * p]));
        total += factor * static_cast<double>(statistics[2 * p + 1]);
        value += factor * static_cast<double>(partial[p * kDecodeHead + i]);
      }
      out[head * kDecodeHead + i] =
          static_cast<std::uint16_t>(frontend::float_bits(frontend::ElementType::f16, value / total));
    }
  }
}

const Registration kAttention{
    {"attention_scores", attention_scores},
    {"attention_softmax", attention_softmax},
    {"attention_values", attention_values},
    {"attention_tiled", attention_tiled},
    {"decode_part", decode_part},
    {"decode_combine", decode_combine},
    {"grouped_decode_split", grouped_decode_split},
    {"grouped_decode_combine", grouped_decode_combine},
};

}  // namespace
}  // namespace foretrace::references
