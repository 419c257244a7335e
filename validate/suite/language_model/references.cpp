#include "validate/kernels/references.h"

#include <cmath>
#include <limits>

#include "sim/frontend/launch/buffer_values.h"

namespace foretrace::references {
namespace {

double wide(std::uint16_t bits) { return frontend::float_value(frontend::ElementType::bf16, bits); }

std::uint16_t narrow(double value) {
  return static_cast<std::uint16_t>(frontend::float_bits(frontend::ElementType::bf16, value));
}

void rope_rotate(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 7);
  const std::size_t half = count_of(arguments[4]);
  const auto* positions = arguments[0].elements<std::int32_t>(grid.x);
  const auto* table = static_cast<const float*>(arguments[3].data);
  for (std::size_t which = 0; which < 2; ++which) {
    const std::size_t heads = count_of(arguments[5 + which]);
    auto* head = arguments[1 + which].elements<std::uint16_t>(grid.x * heads * 2 * half);
    for (std::size_t i = 0; i < grid.x * heads; ++i, head += 2 * half) {
      const float* turn = table + static_cast<std::size_t>(positions[i / heads]) * 2 * half;
      for (std::size_t k = 0; k < half; ++k) {
        const double x = wide(head[k]), y = wide(head[k + half]);
        head[k] = narrow(x * turn[k] - y * turn[k + half]);
        head[k + half] = narrow(y * turn[k] + x * turn[k + half]);
      }
    }
  }
}

void quantize_blocks(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t n = count_of(arguments[3]);
  const auto* x = arguments[0].elements<float>(n);
  auto* q = arguments[1].elements<std::int8_t>(n);
  auto* scale_sum = arguments[2].elements<float>(n / 16);
  for (std::size_t block = 0; block < n / 32; ++block, x += 32, q += 32) {
    float most = 0;
    double sum = 0;
    for (std::size_t i = 0; i < 32; ++i) {
      most = std::max(most, std::fabs(x[i]));
      sum += x[i];
    }
    const float d = most / 127.0f;
    for (std::size_t i = 0; i < 32; ++i) {
      q[i] = static_cast<std::int8_t>(most == 0 ? 0.0f : std::round(x[i] / d));
    }
    scale_sum[2 * block] = d;
    scale_sum[2 * block + 1] = static_cast<float>(sum);
  }
}

/// A row's blocks: weight k of a block less 8, times the quantized number; the eights come off by the sum of the numbers as
/// they were, a quarter of it for each of the four words.
void quant_matvec(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t blocks = count_of(arguments[5]);
  const auto* weights = arguments[0].elements<std::uint8_t>(16 * grid.x * blocks);
  const auto* scales = arguments[1].elements<std::uint16_t>(grid.x * blocks);
  const auto* q = arguments[2].elements<std::int8_t>(32 * blocks);
  const auto* scale_sum = arguments[3].elements<float>(2 * blocks);
  auto* y = arguments[4].elements<float>(grid.x);
  for (std::size_t row = 0; row < grid.x; ++row) {
    double sum = 0;
    for (std::size_t b = 0; b < blocks; ++b, weights += 16, ++scales) {
      int dot = 0;
      for (std::size_t k = 0; k < 16; ++k) {
        dot += (weights[k] & 15) * q[32 * b + k] + (weights[k] >> 4) * q[32 * b + 16 + k];
      }
      sum += frontend::float_value(frontend::ElementType::f16, *scales) *
             (static_cast<double>(scale_sum[2 * b]) * dot - 8.0 * scale_sum[2 * b + 1]);
    }
    y[row] = static_cast<float>(sum);
  }
}

void fused_classifier(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t vocabulary = count_of(arguments[4]), padded = count_of(arguments[5]);
  auto* logits = arguments[0].elements<std::uint16_t>(grid.x * padded);
  auto* losses = arguments[1].elements<float>(grid.x);
  const auto* targets = arguments[2].elements<std::int32_t>(grid.x);
  const double dloss = arguments[3].value<float>();
  std::vector<double> powers(vocabulary);
  for (std::size_t row = 0; row < grid.x; ++row, logits += padded) {
    double most = -std::numeric_limits<double>::infinity(), sum = 0;
    for (std::size_t i = 0; i < vocabulary; ++i) most = std::max(most, wide(logits[i]));
    for (std::size_t i = 0; i < vocabulary; ++i) {
      powers[i] = std::exp(wide(logits[i]) - most);
      sum += powers[i];
    }
    const auto target = static_cast<std::size_t>(targets[row]);
    losses[row] = static_cast<float>(losses[row] - std::log(powers[target] / sum));
    for (std::size_t i = 0; i < vocabulary; ++i) {
      logits[i] = narrow((powers[i] / sum - (i == target ? 1.0 : 0.0)) * dloss);
    }
  }
}

void layernorm_backward(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 10);
  const std::size_t rows = count_of(arguments[8]), width = count_of(arguments[9]);
  auto* dinp = arguments[0].elements<float>(rows * width);
  auto* dweight = arguments[1].elements<float>(width);
  auto* dbias = arguments[2].elements<float>(width);
  const auto* dout = arguments[3].elements<float>(rows * width);
  const auto* inp = arguments[4].elements<float>(rows * width);
  const auto* weight = arguments[5].elements<float>(width);
  const auto* mean = arguments[6].elements<float>(rows);
  const auto* rstd = arguments[7].elements<float>(rows);
  std::vector<double> weights(width), biases(width), norm(width);
  for (std::size_t row = 0; row < rows; ++row, dinp += width, dout += width, inp += width) {
    double sum = 0, product = 0;
    for (std::size_t i = 0; i < width; ++i) {
      norm[i] = (static_cast<double>(inp[i]) - mean[row]) * rstd[row];
      const double d = static_cast<double>(weight[i]) * dout[i];
      sum += d;
      product += d * norm[i];
      biases[i] += dout[i];
      weights[i] += norm[i] * dout[i];
    }
    sum /= static_cast<double>(width);
    product /= static_cast<double>(width);
    for (std::size_t i = 0; i < width; ++i) {
      const double d = static_cast<double>(weight[i]) * dout[i] - sum - norm[i] * product;
      dinp[i] = static_cast<float>(dinp[i] + d * rstd[row]);
    }
  }
  for (std::size_t i = 0; i < width; ++i) {
    dweight[i] = static_cast<float>(dweight[i] + weights[i]);
    dbias[i] = static_cast<float>(dbias[i] + biases[i]);
  }
}

void expert_choose(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t tokens = count_of(arguments[3]), k = count_of(arguments[4]);
  const auto* logits = arguments[0].elements<float>(64 * tokens);
  auto* chosen = arguments[1].elements<std::int32_t>(k * tokens);
  auto* weights = arguments[2].elements<float>(k * tokens);
  for (std::size_t token = 0; token < tokens; ++token, logits += 64) {
    std::vector<std::int32_t> order(64);
    for (std::size_t e = 0; e < 64; ++e) order[e] = static_cast<std::int32_t>(e);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return logits[a] > logits[b]; });
    double sum = 0;
    for (std::size_t e = 0; e < 64; ++e) sum += std::exp(static_cast<double>(logits[e]));
    for (std::size_t pick = 0; pick < k; ++pick) {
      *chosen++ = order[pick];
      *weights++ = static_cast<float>(std::exp(static_cast<double>(logits[order[pick]])) / sum);
    }
  }
}

void expert_counts(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 3);
  const std::size_t n = count_of(arguments[2]);
  const auto* chosen = arguments[0].elements<std::int32_t>(n);
  auto* first = arguments[1].elements<std::int32_t>(65);
  std::int32_t sum = 0;
  for (std::int32_t e = 0; e < 64; ++e) {
    first[e] = sum;
    sum += (static_cast<std::int32_t>(std::count(chosen, chosen + n, e)) + 15) / 16 * 16;
  }
  first[64] = sum;
}

void group_norm(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 8);
  const std::size_t channels = count_of(arguments[4]), pixels = 4 * count_of(arguments[5]);
  const std::size_t groups = count_of(arguments[6]), count = channels * pixels;
  const auto* in = arguments[0].elements<float>(grid.x * count);
  const auto* gamma = arguments[1].elements<float>(groups * channels);
  const auto* beta = arguments[2].elements<float>(groups * channels);
  auto* out = arguments[3].elements<float>(grid.x * count);
  const double epsilon = arguments[7].value<float>();
  for (std::size_t b = 0; b < grid.x; ++b, in += count, out += count) {
    double sum = 0, squares = 0;
    for (std::size_t i = 0; i < count; ++i) sum += in[i];
    const double mean = sum / static_cast<double>(count);
    for (std::size_t i = 0; i < count; ++i) squares += (in[i] - mean) * (in[i] - mean);
    const double scale = 1 / std::sqrt(squares / static_cast<double>(count) + epsilon);
    for (std::size_t i = 0; i < count; ++i) {
      const std::size_t channel = b % groups * channels + i / pixels;
      out[i] = static_cast<float>((in[i] - mean) * scale * gamma[channel] + beta[channel]);
    }
  }
}

void selective_scan(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 9);
  constexpr std::size_t kStates = 16;
  const std::size_t channels = count_of(arguments[7]), steps = count_of(arguments[8]);
  const std::size_t all = grid.y * steps * channels;
  const auto* u = arguments[0].elements<float>(all);
  const auto* delta = arguments[1].elements<float>(all);
  const auto* a = arguments[2].elements<float>(channels * kStates);
  const auto* b = arguments[3].elements<float>(grid.y * steps * kStates);
  const auto* c = arguments[4].elements<float>(grid.y * steps * kStates);
  const auto* d = arguments[5].elements<float>(channels);
  auto* y = arguments[6].elements<float>(all);
  for (std::size_t batch = 0; batch < grid.y; ++batch) {
    for (std::size_t channel = 0; channel < channels; ++channel) {
      double decay[kStates], state[kStates] = {};
      for (std::size_t n = 0; n < kStates; ++n)
        decay[n] = -std::exp(static_cast<double>(a[channel * kStates + n]));
      for (std::size_t t = batch * steps; t < (batch + 1) * steps; ++t) {
        const std::size_t at = t * channels + channel;
        const double x = u[at], dt = std::log1p(std::exp(static_cast<double>(delta[at])));
        double sum = d[channel] * x;
        for (std::size_t n = 0; n < kStates; ++n) {
          state[n] = std::exp(dt * decay[n]) * state[n] + dt * b[t * kStates + n] * x;
          sum += state[n] * c[t * kStates + n];
        }
        y[at] = static_cast<float>(sum);
      }
    }
  }
}

const Registration kRegistered{
    {"rope_rotate", rope_rotate},
    {"quantize_blocks", quantize_blocks},
    {"quant_matvec", quant_matvec},
    {"fused_classifier", fused_classifier},
    {"layernorm_backward", layernorm_backward},
    {"expert_choose", expert_choose},
    {"expert_counts", expert_counts},
    {"group_norm", group_norm},
    {"selective_scan", selective_scan},
};

}  // namespace
}  // namespace foretrace::references
