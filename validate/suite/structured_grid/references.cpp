#include "validate/kernels/references.h"

#include <cmath>
#include <complex>

namespace foretrace::references {
namespace {

void hotspot_layers(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 14);
  const std::size_t nx = count_of(arguments[4]), ny = count_of(arguments[5]), nz = count_of(arguments[6]);
  const std::size_t plane = nx * ny;
  const auto* power = arguments[0].elements<float>(plane * nz);
  const auto* in = arguments[1].elements<float>(plane * nz);
  auto* out = arguments[2].elements<float>(plane * nz);
  const double per_capacity = arguments[3].value<float>();
  double weights[7];  // east, west, north, south, top, bottom, centre
  for (std::size_t i = 0; i < 7; ++i) weights[i] = arguments[7 + i].value<float>();
  for (std::size_t z = 0; z < nz; ++z) {
    for (std::size_t y = 0; y < ny; ++y) {
      for (std::size_t x = 0; x < nx; ++x) {
        const std::size_t at = z * plane + y * nx + x;
        const double near[7] = {in[x + 1 < nx ? at + 1 : at],
                                in[x > 0 ? at - 1 : at],
                                in[y > 0 ? at - nx : at],
                                in[y + 1 < ny ? at + nx : at],
                                in[z + 1 < nz ? at + plane : at],
                                in[z > 0 ? at - plane : at],
                                in[at]};
        double sum = per_capacity * power[at] + weights[4] * 80.0;
        for (std::size_t i = 0; i < 7; ++i) sum += weights[i] * near[i];
        out[at] = static_cast<float>(sum);
      }
    }
  }
}

struct Vector {
  double x, y, z;
};

Vector operator-(const Vector& a, const Vector& b) { return {a.x - b.x, a.y - b.y, a.z - b.z}; }
Vector operator+(const Vector& a, const Vector& b) { return {a.x + b.x, a.y + b.y, a.z + b.z}; }

/// The determinant of three rows: a . (b x c).
double triple(const Vector& a, const Vector& b, const Vector& c) {
  return a.x * (b.y * c.z - b.z * c.y) + b.x * (a.z * c.y - a.y * c.z) + c.x * (a.y * b.z - a.z * b.y);
}

void element_volumes(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 8);
  const std::size_t elements = count_of(arguments[7]);
  const std::size_t nodes = arguments[0].bytes / sizeof(double);
  const auto* x = arguments[0].elements<double>(nodes);
  const auto* y = arguments[1].elements<double>(nodes);
  const auto* z = arguments[2].elements<double>(nodes);
  const auto* corners = arguments[3].elements<std::int32_t>(8 * elements);
  const auto* mass = arguments[4].elements<double>(elements);
  auto* volume = arguments[5].elements<double>(elements);
  auto* shares = arguments[6].elements<double>(8 * elements);
  for (std::size_t e = 0; e < elements; ++e) {
    Vector p[8];
    for (std::size_t k = 0; k < 8; ++k) {
      const auto node = static_cast<std::size_t>(corners[k * elements + e]);
      p[k] = {x[node], y[node], z[node]};
    }
    const double v = triple((p[3] - p[1]) + (p[7] - p[2]), p[6] - p[3], p[2] - p[0]) +
                     triple((p[4] - p[3]) + (p[5] - p[7]), p[6] - p[4], p[7] - p[0]) +
                     triple((p[1] - p[4]) + (p[2] - p[5]), p[6] - p[1], p[5] - p[0]);
    volume[e] = v / 12;
    const double pressure = mass[e] * std::sqrt(mass[e] + v * v);
    for (std::size_t k = 0; k < 8; ++k) {
      shares[k * elements + e] = pressure * (p[k].x - 0.25 * (p[k].y + p[k].z));
    }
  }
}

void node_sums(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 5);
  const std::size_t nodes = count_of(arguments[4]);
  const auto* shares = static_cast<const double*>(arguments[0].data);
  const auto* first = arguments[1].elements<std::int32_t>(nodes + 1);
  const auto* list = static_cast<const std::int32_t*>(arguments[2].data);
  auto* force = arguments[3].elements<double>(nodes);
  for (std::size_t n = 0; n < nodes; ++n) {
    double sum = 0;
    for (std::int32_t i = first[n]; i < first[n + 1]; ++i) sum += shares[list[i]];
    force[n] = sum;
  }
}

void su3_multiply(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 4);
  const std::size_t sites = count_of(arguments[3]);
  const auto* a = arguments[0].elements<float>(72 * sites);
  const auto* b = arguments[1].elements<float>(72);
  auto* c = arguments[2].elements<float>(72 * sites);
  const auto number = [](const float* from, std::size_t i) {
    return std::complex<double>(from[2 * i], from[2 * i + 1]);
  };
  for (std::size_t matrix = 0; matrix < 4 * sites; ++matrix) {
    for (std::size_t k = 0; k < 3; ++k) {
      for (std::size_t l = 0; l < 3; ++l) {
        std::complex<double> sum = 0;
        for (std::size_t m = 0; m < 3; ++m) {
          sum += number(a, 9 * matrix + 3 * k + m) * number(b, 9 * (matrix % 4) + 3 * m + l);
        }
        float* to = c + 2 * (9 * matrix + 3 * k + l);
        to[0] = static_cast<float>(sum.real());
        to[1] = static_cast<float>(sum.imag());
      }
    }
  }
}

const Registration kRegistered{
    {"hotspot_layers", hotspot_layers},
    {"element_volumes", element_volumes},
    {"node_sums", node_sums},
    {"su3_multiply", su3_multiply},
};

}  // namespace
}  // namespace foretrace::references
