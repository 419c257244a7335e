#include "validate/kernels/references.h"

#include <cmath>

namespace foretrace::references {
namespace {

// Every operation is rounded to float where the kernel's is; products that the kernel adds are fused here, too.

struct Vector {
  float x = 0, y = 0, z = 0;
};

float dot(const Vector& a, const Vector& b) { return std::fma(a.z, b.z, std::fma(a.y, b.y, a.x * b.x)); }

/// from + distance direction
Vector moved(const Vector& from, float distance, const Vector& direction) {
  return {std::fma(distance, direction.x, from.x), std::fma(distance, direction.y, from.y),
          std::fma(distance, direction.z, from.z)};
}

Vector times(const Vector& a, float factor) { return {a.x * factor, a.y * factor, a.z * factor}; }

struct Sphere {
  Vector centre;
  float radius = 0;

  /// The distance at which a ray enters, or -1.
  float entered(const Vector& origin, const Vector& direction) const {
    const Vector to{centre.x - origin.x, centre.y - origin.y, centre.z - origin.z};
    const float near = dot(to, direction);
    const float square = std::fma(near, near, -std::fma(-radius, radius, dot(to, to)));
    return square <= 0 || near <= 0 ? -1.0f : near - std::sqrt(square);
  }
};

Vector colour_of(const std::vector<Sphere>& heap, Vector direction, int bounces) {
  const Vector light{0.48f, 0.8f, -0.36f};
  Vector origin, colour, weight{1, 1, 1};
  for (int bounce = 0; bounce <= bounces; ++bounce) {
    const Sphere* hit = nullptr;
    float nearest = 1e30f;
    for (const Sphere& sphere : heap) {
      const float distance = sphere.entered(origin, direction);
      if (distance > 1e-3f && distance < nearest) {
        nearest = distance;
        hit = &sphere;
      }
    }
    if (hit == nullptr) return moved(colour, std::fma(0.4f, direction.y, 0.6f), weight);
    origin = moved(origin, nearest, direction);
    const Vector outwards{origin.x - hit->centre.x, origin.y - hit->centre.y, origin.z - hit->centre.z};
    const Vector normal = times(outwards, 1.0f / hit->radius);
    const bool is_dark = std::any_of(heap.begin(), heap.end(), [&](const Sphere& sphere) {
      return sphere.entered(origin, light) > 1e-3f;
    });
    const float facing = dot(normal, light);
    const float lit = std::fma(0.5f, is_dark || facing < 0 ? 0.0f : facing, 0.1f);
    const auto kind = (hit - heap.data()) % 3;
    const Vector own{kind == 0 ? 0.9f : 0.3f, kind == 1 ? 0.9f : 0.3f, kind == 2 ? 0.9f : 0.3f};
    const Vector seen{weight.x * own.x, weight.y * own.y, weight.z * own.z};
    colour = moved(colour, lit, seen);
    weight = times(seen, 0.5f);
    direction = moved(direction, -2.0f * dot(direction, normal), normal);
  }
  return colour;
}

void sphere_tracing(const Arguments& arguments, Dim3, Dim3) {
  need(arguments, 6);
  const std::size_t count = count_of(arguments[1]);
  const auto width = arguments[3].value<std::int32_t>();
  const auto height = arguments[4].value<std::int32_t>();
  const auto* numbers = arguments[0].elements<float>(4 * count);
  auto* image = arguments[2].elements<std::uint8_t>(4 * count_of(arguments[3]) * count_of(arguments[4]));
  std::vector<Sphere> heap(count);
  for (std::size_t i = 0; i < count; ++i, numbers += 4) {
    heap[i].centre = {std::fma(numbers[0], 8.0f, -4.0f), std::fma(numbers[1], 5.0f, -2.5f),
                      std::fma(numbers[2], 6.0f, 4.0f)};
    heap[i].radius = std::fma(numbers[3], 0.6f, 0.3f);
  }
  for (std::int32_t y = 0; y < height; ++y) {
    for (std::int32_t x = 0; x < width; ++x, image += 4) {
      const auto share = [&](std::int32_t n) { return static_cast<float>(n) / static_cast<float>(width); };
      const Vector through{share(2 * x - width), share(height - 2 * y), 1};
      const Vector direction = times(through, 1.0f / std::sqrt(dot(through, through)));
      const Vector colour = colour_of(heap, direction, arguments[5].value<std::int32_t>());
      const auto byte = [](float value) {
        return static_cast<std::uint8_t>(std::clamp(value, 0.0f, 1.0f) * 255.0f);
      };
      image[0] = byte(colour.x);
      image[1] = byte(colour.y);
      image[2] = byte(colour.z);
      image[3] = 255;
    }
  }
}

const Registration kRendering{{"sphere_tracing", sphere_tracing}};

}  // namespace
}  // namespace foretrace::references
