// What the kernels of products.py should have computed.
#include "validate/triton_second/numbers.h"

namespace foretrace::references::triton_second {
namespace {

/// e4m3, finite numbers alone.
double e4m3_value(std::uint8_t bits) {
  const int exponent = bits >> 3 & 15, fraction = bits & 7;
  const double size = exponent == 0 ? std::ldexp(fraction, -9) : std::ldexp(8 + fraction, exponent - 10);
  return (bits & 0x80) != 0 ? -size : size;
}

void gelu_linear(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 9);
  const std::size_t m = count_of(arguments[4]), n = count_of(arguments[5]), k = count_of(arguments[6]);
  const Doubles a = read(kF16, arguments[0]), b = read(kF16, arguments[1]), bias = read(kF16, arguments[2]);
  Doubles c(m * n);
  multiply(a.data(), b.data(), c.data(), m, n, k);
  for (std::size_t i = 0; i < m * n; ++i) {
    const double x = c[i] + bias[i % n];
    c[i] = 0.5 * x * (1 + std::tanh(0.7978845608 * (x + 0.044715 * x * x * x)));
  }
  write(kF16, arguments[3], c);
}

/// b is N x K; the strides that are 1 are no arguments.
void matmul_nt(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 10);
  const std::size_t m = count_of(arguments[3]), n = count_of(arguments[4]), k = count_of(arguments[5]);
  const Doubles a = read(kBF16, arguments[0]), b = transposed(read(kBF16, arguments[1]).data(), n, k);
  Doubles c(m * n);
  multiply(a.data(), b.data(), c.data(), m, n, k);
  write(kBF16, arguments[2], c);
}

/// a is K x M.
void matmul_tn(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 10);
  const std::size_t m = count_of(arguments[3]), n = count_of(arguments[4]), k = count_of(arguments[5]);
  const Doubles a = transposed(read(kF16, arguments[0]).data(), k, m), b = read(kF16, arguments[1]);
  Doubles c(m * n);
  multiply(a.data(), b.data(), c.data(), m, n, k);
  write(kF32, arguments[2], c);
}

void batched_matmul(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 8);
  const std::size_t m = count_of(arguments[3]), n = count_of(arguments[4]), k = count_of(arguments[5]);
  const Doubles a = read(kF16, arguments[0]), b = read(kF16, arguments[1]);
  Doubles c(grid.z * m * n);
  for (std::size_t batch = 0; batch < grid.z; ++batch) {
    const Doubles right = transposed(&b[batch * n * k], n, k);
    multiply(&a[batch * m * k], right.data(), &c[batch * m * n], m, n, k);
  }
  write(kF16, arguments[2], c);
}

void matmul(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t m = count_of(arguments[3]), n = count_of(arguments[4]), k = count_of(arguments[5]);
  const Doubles a = read(kF16, arguments[0]), b = read(kF16, arguments[1]);
  Doubles c(m * n);
  multiply(a.data(), b.data(), c.data(), m, n, k);
  write(kF16, arguments[2], c);
}

void walking_groups(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 9);
  const std::size_t groups = count_of(arguments[4]), n = count_of(arguments[5]), k = count_of(arguments[6]);
  const Doubles a = read(kF16, arguments[0]), b = read(kF16, arguments[1]);
  const auto begins = indices(arguments[3]);
  Doubles c(a.size() / k * n);
  for (std::size_t group = 0; group < groups; ++group) {
    const std::size_t begin = begins[group];
    multiply(&a[begin * k], &b[group * k * n], &c[begin * n], begins[group + 1] - begin, n, k);
  }
  write(kF16, arguments[2], c);
}

void int8_linear(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 9);
  const std::size_t m = count_of(arguments[4]), n = count_of(arguments[5]), k = count_of(arguments[6]);
  const Doubles x = read(kF16, arguments[0]), scales = read(kF32, arguments[2]);
  const auto* weight = arguments[1].elements<std::int8_t>(k * n);
  const Doubles b(weight, weight + k * n);
  Doubles out(m * n);
  multiply(x.data(), b.data(), out.data(), m, n, k);
  for (std::size_t i = 0; i < m * n; ++i) out[i] *= scales[i % n];
  write(kF16, arguments[3], out);
}

void int4_linear(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 9);
  constexpr std::size_t kGroup = 128;
  const std::size_t m = count_of(arguments[4]), n = count_of(arguments[5]), k = count_of(arguments[6]);
  const Doubles x = read(kF16, arguments[0]), scales = read(kF16, arguments[2]);
  const auto* packed = arguments[1].elements<std::uint32_t>(k / 8 * n);
  Doubles b(k * n), out(m * n);
  for (std::size_t i = 0; i < k; ++i) {
    for (std::size_t col = 0; col < n; ++col) {
      const auto four = static_cast<int>(packed[i / 8 * n + col] >> (i % 8 * 4) & 15);
      const double exact = (four - 8) * scales[i / kGroup * n + col];
      b[i * n + col] = frontend::float_value(kF16, frontend::float_bits(kF16, exact));
    }
  }
  multiply(x.data(), b.data(), out.data(), m, n, k);
  write(kF16, arguments[3], out);
}

void fp8_blocks(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 10);
  constexpr std::size_t kBlock = 128;
  const std::size_t m = count_of(arguments[5]), n = count_of(arguments[6]), k = count_of(arguments[7]);
  const auto *left = arguments[0].elements<std::uint8_t>(m * k),
             *right = arguments[1].elements<std::uint8_t>(n * k);
  const Doubles a_scales = read(kF32, arguments[2]), b_scales = read(kF32, arguments[3]);
  Doubles a(m * k), b(n * k), c(m * n);
  for (std::size_t i = 0; i < m * k; ++i) a[i] = e4m3_value(left[i]) * a_scales[i / kBlock];
  for (std::size_t i = 0; i < n * k; ++i)
    b[i] = e4m3_value(right[i]) * b_scales[i / k / kBlock * (k / kBlock) + i % k / kBlock];
  multiply(a.data(), transposed(b.data(), n, k).data(), c.data(), m, n, k);
  write(kBF16, arguments[4], c);
}

void conv2d(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 7);
  const std::size_t height = count_of(arguments[3]), width = count_of(arguments[4]);
  const Doubles x = read(kF16, arguments[0]), weight = read(kF16, arguments[1]);
  const std::size_t outputs = arguments[2].bytes / 2;
  // Channels in and out: x has P C elements, out P O, weight 9 C O; P is a whole number of images.
  std::size_t channels = 1;
  while (channels * channels * 9 * outputs < weight.size() * x.size()) ++channels;
  const std::size_t pixels = x.size() / channels, columns = outputs / pixels;
  Doubles out(outputs);
  for (std::size_t pixel = 0; pixel < pixels; ++pixel) {
    const std::size_t image = pixel / (height * width), p = pixel / width % height, q = pixel % width;
    for (std::size_t tap = 0; tap < 9; ++tap) {
      const std::size_t h = p + tap / 3 - 1, w = q + tap % 3 - 1;  // -1 is beyond all
      if (h >= height || w >= width) continue;
      multiply(&x[((image * height + h) * width + w) * channels], &weight[tap * channels * columns],
               &out[pixel * columns], 1, columns, channels);
    }
  }
  write(kF16, arguments[2], out);
}

/// One row of attention over keys [begin, end), `stride` numbers apart; writes the result, returns the logarithm of the sum.
double attend(const double* q, const double* k, const double* v, std::size_t begin, std::size_t end,
              std::size_t stride, std::size_t d, double scale, double* out) {
  Doubles scores(end - begin);
  for (std::size_t j = begin; j < end; ++j) {
    double sum = 0;
    for (std::size_t i = 0; i < d; ++i) sum += q[i] * k[j * stride + i];
    scores[j - begin] = sum * scale;
  }
  const double most = *std::max_element(scores.begin(), scores.end());
  double total = 0;
  for (double& score : scores) total += score = std::exp(score - most);
  std::fill(out, out + d, 0.0);
  for (std::size_t j = begin; j < end; ++j) {
    for (std::size_t i = 0; i < d; ++i) out[i] += scores[j - begin] / total * v[j * stride + i];
  }
  return most + std::log(total);
}

void attention_gqa(ElementType type, const Arguments& arguments, Dim3 grid) {
  need(arguments, 9);
  const std::size_t n = count_of(arguments[6]);
  const Doubles q = read(type, arguments[0]), k = read(type, arguments[1]), v = read(type, arguments[2]);
  const std::size_t d = q.size() / (grid.y * n), share = q.size() / k.size();
  Doubles out(q.size()), lse(grid.y * n);
  for (std::size_t line = 0; line < grid.y * n; ++line) {
    const std::size_t base = line / n / share * n * d;
    lse[line] = attend(&q[line * d], &k[base], &v[base], 0, line % n + 1, d, d, number(arguments[5]),
                       &out[line * d]) /
                std::log(2.0);
  }
  write(type, arguments[3], out);
  write(kF32, arguments[4], lse);
}
void attention_gqa_f16(const Arguments& arguments, Dim3 grid, Dim3) { attention_gqa(kF16, arguments, grid); }
void attention_gqa_bf16(const Arguments& arguments, Dim3 grid, Dim3) {
  attention_gqa(kBF16, arguments, grid);
}

void attention_window(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 8);
  constexpr std::size_t kWindow = 256;
  const std::size_t n = count_of(arguments[5]);
  const Doubles q = read(kF16, arguments[0]), k = read(kF16, arguments[1]), v = read(kF16, arguments[2]);
  const std::size_t d = q.size() / (grid.y * n);
  Doubles out(q.size());
  for (std::size_t line = 0; line < grid.y * n; ++line) {
    const std::size_t base = line / n * n * d, end = line % n + 1, begin = end - std::min(end, kWindow);
    attend(&q[line * d], &k[base], &v[base], begin, end, d, d, number(arguments[4]), &out[line * d]);
  }
  write(kF16, arguments[3], out);
}

void attention_backward(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 12);
  const std::size_t n = count_of(arguments[9]);
  const double scale = number(arguments[8]);
  const Doubles q = read(kF16, arguments[0]), k = read(kF16, arguments[1]), v = read(kF16, arguments[2]),
                grads = read(kF16, arguments[3]), lse = read(kF32, arguments[6]),
                delta = read(kF32, arguments[7]);
  const std::size_t d = q.size() / (grid.y * n);
  Doubles dk(q.size()), dv(q.size());
  for (std::size_t line = 0; line < grid.y * n; ++line) {
    for (std::size_t row = line; row < (line / n + 1) * n; ++row) {
      double score = 0, through = 0;
      for (std::size_t i = 0; i < d; ++i) {
        score += q[row * d + i] * k[line * d + i];
        through += grads[row * d + i] * v[line * d + i];
      }
      const double p = std::exp2(score * scale / std::log(2.0) - lse[row]);
      const double ds = p * (through - delta[row]) * scale;
      for (std::size_t i = 0; i < d; ++i) {
        dv[line * d + i] += p * grads[row * d + i];
        dk[line * d + i] += ds * q[row * d + i];
      }
    }
  }
  write(kF16, arguments[4], dk);
  write(kF16, arguments[5], dv);
}

/// One query a head; the grid's second dimension is the parts of the keys, which are batch x N x heads x D.
void decode(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 9);
  constexpr std::size_t kHeads = 8, kShare = 8;
  const std::size_t n = count_of(arguments[6]), splits = grid.y, length = (n + splits - 1) / splits;
  const Doubles q = read(kF16, arguments[0]), k = read(kF16, arguments[1]), v = read(kF16, arguments[2]);
  const std::size_t lines = grid.x * kShare, d = q.size() / lines;
  Doubles parts(lines * splits * d), lse(lines * splits);
  for (std::size_t at = 0; at < lines * splits; ++at) {
    const std::size_t line = at / splits, head = line / kShare, begin = at % splits * length;
    const std::size_t base = (head / kHeads * n * kHeads + head % kHeads) * d;
    lse[at] = attend(&q[line * d], &k[base], &v[base], begin, std::min(n, begin + length), kHeads * d, d,
                     number(arguments[5]), &parts[at * d]);
  }
  write(kF32, arguments[3], parts);
  write(kF32, arguments[4], lse);
}

void decode_combine(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 5);
  const Doubles parts = read(kF32, arguments[0]), lse = read(kF32, arguments[1]);
  const std::size_t d = parts.size() / lse.size(), splits = lse.size() / grid.x;
  Doubles out(grid.x * d);
  for (std::size_t head = 0; head < grid.x; ++head) {
    double total = 0;
    for (std::size_t at = head * splits; at < (head + 1) * splits; ++at) total += std::exp(lse[at]);
    for (std::size_t at = head * splits; at < (head + 1) * splits; ++at) {
      for (std::size_t i = 0; i < d; ++i) out[head * d + i] += std::exp(lse[at]) / total * parts[at * d + i];
    }
  }
  write(kF16, arguments[2], out);
}

/// A tensor map is five parameters: itself, two dimensions, two strides.
void tensor_map_matmul(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 23);
  const std::size_t m = count_of(arguments[18]), n = count_of(arguments[19]), k = count_of(arguments[20]);
  const Doubles a = read(kF16, arguments[0]), b = transposed(read(kF16, arguments[1]).data(), n, k);
  Doubles c(m * n);
  multiply(a.data(), b.data(), c.data(), m, n, k);
  write(kF16, arguments[2], c);
}

void tensor_map_attention(const Arguments& arguments, Dim3 grid, Dim3) {
  need(arguments, 28);
  const std::size_t n = count_of(arguments[25]);
  const Doubles q = read(kF16, arguments[0]), k = read(kF16, arguments[1]), v = read(kF16, arguments[2]);
  const std::size_t d = q.size() / (grid.y * n);
  Doubles out(q.size());
  for (std::size_t line = 0; line < grid.y * n; ++line) {
    const std::size_t base = line / n * n * d;
    attend(&q[line * d], &k[base], &v[base], 0, n, d, d, number(arguments[24]), &out[line * d]);
  }
  write(kF16, arguments[3], out);
}

const Registration kTritonSecondProducts{
    {"triton2_gelu_linear", gelu_linear},
    {"triton2_matmul_nt", matmul_nt},
    {"triton2_matmul_tn", matmul_tn},
    {"triton2_batched_matmul", batched_matmul},
    {"triton2_matmul", matmul},
    {"triton2_walking_groups", walking_groups},
    {"triton2_int8_linear", int8_linear},
    {"triton2_int4_linear", int4_linear},
    {"triton2_fp8_blocks", fp8_blocks},
    {"triton2_conv2d", conv2d},
    {"triton2_attention_gqa_f16", attention_gqa_f16},
    {"triton2_attention_gqa_bf16", attention_gqa_bf16},
    {"triton2_attention_window", attention_window},
    {"triton2_attention_backward", attention_backward},
    {"triton2_decode", decode},
    {"triton2_decode_combine", decode_combine},
    {"triton2_tensor_map_matmul", tensor_map_matmul},
    {"triton2_tensor_map_attention", tensor_map_attention},
};

}  // namespace
}  // namespace foretrace::references::triton_second
