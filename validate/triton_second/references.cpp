// What the kernels of kernels.py should have computed; products/references.cpp has those of products.py.
#include <numeric>

#include "validate/triton_second/numbers.h"

namespace foretrace::references::triton_second {
namespace {

void rope(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const Doubles cosines = read(kF32, arguments[2]), sines = read(kF32, arguments[3]);
  const std::size_t half = cosines.size() / grid.x;
  for (const ArgumentView& argument : {arguments[0], arguments[1]}) {
    Doubles x = read(kF16, argument);
    const std::size_t width = x.size() / grid.x;
    for (std::size_t at = 0; at < x.size(); ++at) {
      if (at % (2 * half) >= half) continue;
      const std::size_t angle = at / width * half + at % half;
      const double left = x[at], right = x[at + half];
      x[at] = left * cosines[angle] - right * sines[angle];
      x[at + half] = right * cosines[angle] + left * sines[angle];
    }
    write(kF16, argument, x);
  }
}

void swiglu(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const Doubles a = read(kF16, arguments[0]), b = read(kF16, arguments[1]);
  Doubles out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) out[i] = a[i] * sigmoid(a[i]) * b[i];
  write(kF16, arguments[2], out);
}

void swiglu_backward(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const Doubles grad = read(kBF16, arguments[0]), a = read(kBF16, arguments[1]),
                b = read(kBF16, arguments[2]);
  Doubles da(a.size()), db(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double s = sigmoid(a[i]);
    db[i] = grad[i] * a[i] * s;
    da[i] = grad[i] * b[i] * s * (1 + a[i] * (1 - s));
  }
  write(kBF16, arguments[3], da);
  write(kBF16, arguments[4], db);
}

/// The logarithm of the sum of exponentials.
double log_sum(const double* x, std::size_t count) {
  const double most = *std::max_element(x, x + count);
  double sum = 0;
  for (std::size_t i = 0; i < count; ++i) sum += std::exp(x[i] - most);
  return most + std::log(sum);
}

void cross_entropy(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 7);
  const std::size_t columns = count_of(arguments[4]);
  const Doubles x = read(kBF16, arguments[0]);
  const auto target = indices(arguments[1]);
  Doubles loss(grid.x), lse(grid.x);
  for (std::size_t row = 0; row < grid.x; ++row) {
    lse[row] = log_sum(&x[row * columns], columns);
    loss[row] = lse[row] - x[row * columns + target[row]];
  }
  write(kF32, arguments[2], loss);
  write(kF32, arguments[3], lse);
}

void cross_entropy_gradient(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 8);
  const std::size_t columns = count_of(arguments[4]);
  const double scale = number(arguments[5]);
  const Doubles x = read(kBF16, arguments[0]);
  const auto target = indices(arguments[1]);
  Doubles loss(grid.x), grad(x.size());
  for (std::size_t row = 0; row < grid.x; ++row) {
    const double* line = &x[row * columns];
    const double lse = log_sum(line, columns);
    loss[row] = (lse - line[target[row]]) * scale;
    for (std::size_t i = 0; i < columns; ++i)
      grad[row * columns + i] = (std::exp(line[i] - lse) - (i == target[row] ? 1 : 0)) * scale;
  }
  write(kBF16, arguments[2], grad);
  write(kF32, arguments[3], loss);
}

void layer_norm_backward(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 13);
  const std::size_t rows = count_of(arguments[8]), columns = count_of(arguments[9]),
                    each = count_of(arguments[10]);
  const Doubles dy = read(kF16, arguments[0]), x = read(kF16, arguments[1]),
                weight = read(kF32, arguments[2]), mean = read(kF32, arguments[3]),
                rstd = read(kF32, arguments[4]);
  Doubles dx(x.size()), dw(grid.x * columns), db(grid.x * columns);
  for (std::size_t row = 0; row < rows; ++row) {
    double c1 = 0, c2 = 0;
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t at = row * columns + i, part = row / each * columns + i;
      const double hat = (x[at] - mean[row]) * rstd[row];
      c1 += hat * weight[i] * dy[at] / static_cast<double>(columns);
      c2 += weight[i] * dy[at] / static_cast<double>(columns);
      dw[part] += dy[at] * hat;
      db[part] += dy[at];
    }
    for (std::size_t i = 0; i < columns; ++i) {
      const std::size_t at = row * columns + i;
      const double hat = (x[at] - mean[row]) * rstd[row];
      dx[at] = (weight[i] * dy[at] - hat * c1 - c2) * rstd[row];
    }
  }
  write(kF16, arguments[5], dx);
  write(kF32, arguments[6], dw);
  write(kF32, arguments[7], db);
}

void column_mean(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t rows = count_of(arguments[2]), columns = count_of(arguments[3]);
  const Doubles x = read(kF32, arguments[0]);
  Doubles out(columns);
  for (std::size_t i = 0; i < rows * columns; ++i) out[i % columns] += x[i] / static_cast<double>(rows);
  write(kF32, arguments[1], out);
}

void group_norm(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 10);
  const std::size_t each = count_of(arguments[4]), area = count_of(arguments[5]),
                    groups = count_of(arguments[6]);
  const std::size_t size = each * area;
  const Doubles x = read(kF16, arguments[0]), weight = read(kF32, arguments[1]),
                bias = read(kF32, arguments[2]);
  Doubles out(x.size());
  for (std::size_t base = 0; base < x.size(); base += size) {
    double mean = 0, square = 0;
    for (std::size_t i = 0; i < size; ++i) mean += x[base + i] / static_cast<double>(size);
    for (std::size_t i = 0; i < size; ++i) square += (x[base + i] - mean) * (x[base + i] - mean);
    const double scale = 1 / std::sqrt(square / static_cast<double>(size) + number(arguments[7]));
    for (std::size_t i = 0; i < size; ++i) {
      const std::size_t channel = base / size % groups * each + i / area;
      out[base + i] = (x[base + i] - mean) * scale * weight[channel] + bias[channel];
    }
  }
  write(kF16, arguments[3], out);
}

void batch_norm_stats(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 9);
  const std::size_t channels = count_of(arguments[4]), area = count_of(arguments[5]);
  const Doubles x = read(kF32, arguments[0]);
  const double count = static_cast<double>(x.size() / channels);
  Doubles mean(channels), square(channels);
  for (std::size_t i = 0; i < x.size(); ++i) mean[i / area % channels] += x[i] / count;
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double off = x[i] - mean[i / area % channels];
    square[i / area % channels] += off * off / count;
  }
  for (double& value : square) value = 1 / std::sqrt(value + number(arguments[6]));
  write(kF32, arguments[1], mean);
  write(kF32, arguments[2], square);
}

void add_rms_norm(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t columns = count_of(arguments[4]);
  const Doubles x = read(kBF16, arguments[0]), weight = read(kBF16, arguments[2]);
  Doubles sum = read(kBF16, arguments[1]), out(x.size());
  for (std::size_t base = 0; base < x.size(); base += columns) {
    double square = 0;
    for (std::size_t i = base; i < base + columns; ++i) {
      sum[i] += x[i];
      square += sum[i] * sum[i];
    }
    const double scale = 1 / std::sqrt(square / static_cast<double>(columns) + number(arguments[5]));
    for (std::size_t i = 0; i < columns; ++i) out[base + i] = sum[base + i] * scale * weight[i];
  }
  write(kBF16, arguments[1], sum);
  write(kBF16, arguments[3], out);
}

/// The nearest e4m3 number of one that is at most 448.
std::uint8_t e4m3_bits(double value) {
  const double size = std::fabs(value);
  const int exponent = size < std::ldexp(1, -6) ? -6 : std::ilogb(size);
  const int steps = static_cast<int>(std::nearbyint(std::ldexp(size, 3 - exponent)));
  const int bits = (exponent + 6) * 8 + steps;  // a ninth step carries into the exponent
  return static_cast<std::uint8_t>(bits | (std::signbit(value) ? 0x80 : 0));
}

void quantise_rows(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t columns = count_of(arguments[3]);
  const Doubles x = read(kBF16, arguments[0]);
  auto* out = arguments[1].elements<std::uint8_t>(x.size());
  Doubles scales(grid.x);
  for (std::size_t row = 0; row < grid.x; ++row) {
    double most = 1e-10;
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) most = std::max(most, std::fabs(x[i]));
    scales[row] = most / 448;
    for (std::size_t i = row * columns; i < (row + 1) * columns; ++i) out[i] = e4m3_bits(x[i] / scales[row]);
  }
  write(kF32, arguments[2], scales);
}

void moe_topk(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  constexpr std::size_t kExperts = 64, kBest = 8;
  const Doubles x = read(kF32, arguments[0]);
  const std::size_t rows = grid.x * 16;
  auto* ids = arguments[2].elements<std::int32_t>(rows * kBest);
  Doubles weights(rows * kBest);
  for (std::size_t row = 0; row < rows; ++row) {
    const double* line = &x[row * kExperts];
    std::vector<std::int32_t> order(kExperts);
    std::iota(order.begin(), order.end(), 0);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::int32_t a, std::int32_t b) { return line[a] > line[b]; });
    double sum = 0;
    for (std::size_t i = 0; i < kBest; ++i) sum += std::exp(line[order[i]] - line[order[0]]);
    for (std::size_t i = 0; i < kBest; ++i) {
      ids[row * kBest + i] = order[i];
      weights[row * kBest + i] = std::exp(line[order[i]] - line[order[0]]) / sum;
    }
  }
  write(kF32, arguments[1], weights);
}

void sort_rows(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 4);
  Doubles x = read(kF32, arguments[0]);
  const auto columns = static_cast<std::ptrdiff_t>(x.size() / grid.x);
  for (auto row = x.begin(); row != x.end(); row += columns)
    std::sort(row, row + columns, std::greater<double>());
  write(kF32, arguments[1], x);
}

void histogram(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  auto* out = arguments[1].elements<std::int32_t>(256);
  for (const std::size_t value : indices(arguments[0])) ++out[value];
}

void recurrence(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const Doubles a = read(kF32, arguments[0]), b = read(kF32, arguments[1]);
  Doubles out(a.size());
  for (std::size_t i = 0; i < a.size(); ++i)
    out[i] = i % (a.size() / grid.x) == 0 ? b[i] : a[i] * out[i - 1] + b[i];
  write(kF32, arguments[2], out);
}

void segment_sum(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const Doubles x = read(kF32, arguments[0]);
  const auto begins = indices(arguments[1]);
  const std::size_t width = arguments[2].bytes / sizeof(float) / grid.x;
  Doubles out(grid.x * width);
  for (std::size_t segment = 0; segment < grid.x; ++segment) {
    for (std::size_t i = begins[segment] * width; i < begins[segment + 1] * width; ++i)
      out[segment * width + i % width] += x[i];
  }
  write(kF32, arguments[2], out);
}

void stencil(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t height = count_of(arguments[3]), width = count_of(arguments[4]);
  const Doubles x = read(kF32, arguments[0]), weight = read(kF32, arguments[1]);
  Doubles out(x.size());
  for (std::size_t at = 0; at < x.size(); ++at) {
    for (std::size_t i = 0; i < 3; ++i) {
      for (std::size_t j = 0; j < 3; ++j) {
        const std::size_t row = at / width + i - 1, column = at % width + j - 1;  // -1 is beyond all
        if (row < height && column < width) out[at] += weight[i * 3 + j] * x[row * width + column];
      }
    }
  }
  write(kF32, arguments[2], out);
}

void max_pool(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 9);
  const std::size_t height = count_of(arguments[2]), width = count_of(arguments[3]),
                    p = count_of(arguments[4]), q = count_of(arguments[5]), n = count_of(arguments[6]);
  const Doubles x = read(kF32, arguments[0]);
  Doubles out(n, -1e9);
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t tap = 0; tap < 9; ++tap) {
      const std::size_t h = 2 * (i / q % p) + tap / 3 - 1, w = 2 * (i % q) + tap % 3 - 1;
      if (h < height && w < width) out[i] = std::max(out[i], x[(i / q / p * height + h) * width + w]);
    }
  }
  write(kF32, arguments[1], out);
}

void causal_conv(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t length = count_of(arguments[4]), d = count_of(arguments[5]);
  const Doubles x = read(kBF16, arguments[0]), weight = read(kBF16, arguments[1]),
                bias = read(kBF16, arguments[2]);
  Doubles out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t channel = i % d, t = i / d % length;
    double sum = bias[channel];
    for (std::size_t k = 0; k < 4; ++k) {
      if (t + k >= 3) sum += x[i + k * d - 3 * d] * weight[k * d + channel];
    }
    out[i] = sum * sigmoid(sum);
  }
  write(kBF16, arguments[3], out);
}

void selective_scan(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 11);
  constexpr std::size_t kStates = 16;
  const std::size_t length = count_of(arguments[7]), d = count_of(arguments[8]);
  const Doubles x = read(kF32, arguments[0]), dt = read(kF32, arguments[1]), a = read(kF32, arguments[2]),
                b = read(kF32, arguments[3]), c = read(kF32, arguments[4]), skip = read(kF32, arguments[5]);
  Doubles out(x.size());
  for (std::size_t line = 0; line < grid.y * d; ++line) {
    const std::size_t channel = line % d;
    double h[kStates] = {};
    for (std::size_t t = line / d * length; t < (line / d + 1) * length; ++t) {
      const std::size_t at = t * d + channel;
      out[at] = skip[channel] * x[at];
      for (std::size_t n = 0; n < kStates; ++n) {
        h[n] = h[n] * std::exp(dt[at] * a[channel * kStates + n]) + dt[at] * x[at] * b[t * kStates + n];
        out[at] += h[n] * c[t * kStates + n];
      }
    }
  }
  write(kF32, arguments[6], out);
}

void state_update(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 13);
  constexpr std::size_t kStates = 16;
  const std::size_t d = count_of(arguments[10]);
  Doubles state = read(kF32, arguments[0]);
  const Doubles x = read(kBF16, arguments[1]), dt = read(kBF16, arguments[2]),
                bias = read(kF32, arguments[3]), a = read(kF32, arguments[4]), b = read(kBF16, arguments[5]),
                c = read(kBF16, arguments[6]), skip = read(kF32, arguments[7]), z = read(kBF16, arguments[8]);
  Doubles out(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t channel = i % d, batch = i / d;
    const double step = std::log1p(std::exp(dt[i] + bias[channel]));
    double y = x[i] * skip[channel];
    for (std::size_t n = 0; n < kStates; ++n) {
      double& h = state[i * kStates + n];
      h = h * std::exp(step * a[channel * kStates + n]) + b[batch * kStates + n] * step * x[i];
      y += h * c[batch * kStates + n];
    }
    out[i] = y * z[i] * sigmoid(z[i]);
  }
  write(kF32, arguments[0], state);
  write(kBF16, arguments[9], out);
}

void adamw(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 15);
  double of[7];  // lr, beta1, beta2, eps, decay, correct1, correct2
  for (std::size_t i = 0; i < 7; ++i) of[i] = number(arguments[6 + i]);
  Doubles p = read(kF32, arguments[0]), m = read(kF32, arguments[2]), v = read(kF32, arguments[3]);
  const Doubles g = read(kBF16, arguments[1]);
  for (std::size_t i = 0; i < p.size(); ++i) {
    m[i] = of[1] * m[i] + (1 - of[1]) * g[i];
    v[i] = of[2] * v[i] + (1 - of[2]) * g[i] * g[i];
    p[i] = p[i] * (1 - of[0] * of[4]) - of[0] * (m[i] / of[5]) / (std::sqrt(v[i] / of[6]) + of[3]);
  }
  write(kF32, arguments[0], p);
  write(kF32, arguments[2], m);
  write(kF32, arguments[3], v);
  write(kBF16, arguments[4], p);
}

void embedding_backward(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t columns = count_of(arguments[3]);
  const Doubles grad = read(kBF16, arguments[0]);
  const auto index = indices(arguments[1]);
  Doubles table = read(kF32, arguments[2]);
  for (std::size_t i = 0; i < grad.size(); ++i) table[index[i / columns] * columns + i % columns] += grad[i];
  write(kF32, arguments[2], table);
}

void scatter_rows(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 6);
  const std::size_t columns = count_of(arguments[3]);
  const auto index = indices(arguments[1]);
  const auto* x = arguments[0].elements<std::uint16_t>(grid.x * columns);
  auto* out = arguments[2].elements<std::uint16_t>(index.size() * columns);
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto* row = x + i / (index.size() / grid.x) * columns;
    std::copy(row, row + columns, out + index[i] * columns);
  }
}

void combine_rows(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 7);
  const std::size_t columns = count_of(arguments[4]);
  const Doubles x = read(kBF16, arguments[0]), weights = read(kF32, arguments[2]);
  const auto index = indices(arguments[1]);
  Doubles out(grid.x * columns);
  for (std::size_t i = 0; i < index.size(); ++i) {
    double* to = &out[i / (index.size() / grid.x) * columns];
    for (std::size_t col = 0; col < columns; ++col) to[col] += weights[i] * x[index[i] * columns + col];
  }
  write(kBF16, arguments[3], out);
}

void argmax_rows(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const std::size_t columns = count_of(arguments[2]);
  const Doubles x = read(kF16, arguments[0]);
  auto* out = arguments[1].elements<std::int32_t>(grid.x);
  for (std::size_t row = 0; row < grid.x; ++row) {
    const double* line = &x[row * columns];
    out[row] = static_cast<std::int32_t>(std::max_element(line, line + columns) - line);
  }
}

/// Philox4x32-10 of the counter {counter, 0, 0, 0} and the key {seed, 0}, in place: Salmon et al., SC11.
void philox(std::uint32_t counter, std::uint32_t seed, std::uint32_t c[4]) {
  std::uint32_t key[2] = {seed, 0};
  c[0] = counter;
  c[1] = c[2] = c[3] = 0;
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t left = std::uint64_t{0xD2511F53} * c[0], right = std::uint64_t{0xCD9E8D57} * c[2];
    const std::uint32_t next[4] = {
        static_cast<std::uint32_t>(right >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(right),
        static_cast<std::uint32_t>(left >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(left)};
    std::copy(next, next + 4, c);
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
}

void dropout_residual(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 8);
  const float p = arguments[4].value<float>();
  const auto seed = static_cast<std::uint32_t>(count_of(arguments[5]));
  const Doubles x = read(kBF16, arguments[0]), residual = read(kBF16, arguments[1]);
  const std::size_t block = x.size() / grid.x / 4;
  Doubles out(x.size());
  for (std::size_t call = 0; call < x.size() / 4; ++call) {
    std::uint32_t words[4];
    philox(static_cast<std::uint32_t>(call), seed, words);
    for (std::size_t k = 0; k < 4; ++k) {
      const std::size_t at = call / block * block * 4 + k * block + call % block;
      const auto word = static_cast<std::int32_t>(words[k]);
      const float uniform = static_cast<float>(word < 0 ? -word - 1 : word) * 4.6566127342e-10f;
      out[at] = (uniform > p ? x[at] / (1 - static_cast<double>(p)) : 0) + residual[at];
    }
  }
  write(kBF16, arguments[2], out);
}

const Registration kTritonSecond{
    {"triton2_rope", rope},
    {"triton2_swiglu", swiglu},
    {"triton2_swiglu_backward", swiglu_backward},
    {"triton2_cross_entropy", cross_entropy},
    {"triton2_cross_entropy_gradient", cross_entropy_gradient},
    {"triton2_layer_norm_backward", layer_norm_backward},
    {"triton2_column_mean", column_mean},
    {"triton2_group_norm", group_norm},
    {"triton2_batch_norm_stats", batch_norm_stats},
    {"triton2_add_rms_norm", add_rms_norm},
    {"triton2_quantise_rows", quantise_rows},
    {"triton2_moe_topk", moe_topk},
    {"triton2_sort_rows", sort_rows},
    {"triton2_histogram", histogram},
    {"triton2_recurrence", recurrence},
    {"triton2_segment_sum", segment_sum},
    {"triton2_stencil", stencil},
    {"triton2_max_pool", max_pool},
    {"triton2_causal_conv", causal_conv},
    {"triton2_selective_scan", selective_scan},
    {"triton2_state_update", state_update},
    {"triton2_adamw", adamw},
    {"triton2_embedding_backward", embedding_backward},
    {"triton2_scatter_rows", scatter_rows},
    {"triton2_combine_rows", combine_rows},
    {"triton2_argmax_rows", argmax_rows},
    {"triton2_dropout_residual", dropout_residual},
};

}  // namespace
}  // namespace foretrace::references::triton_second
