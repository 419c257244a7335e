// Mirrors and light: a ray a pixel through a heap of shiny spheres, a thread a ray. The nearest sphere is looked for
// among all (in shared memory), a second ray asks whether something stands between the point and the light, and the
// ray goes on in the mirrored direction until it misses everything or has bounced often enough. Every operation is
// written as it is rounded, so that silhouettes are the reference's.

struct Vec3 {
  float x, y, z;
};

__device__ __forceinline__ float dot(const Vec3& a, const Vec3& b) {
  return fmaf(a.z, b.z, fmaf(a.y, b.y, a.x * b.x));
}

// a + t b
__device__ __forceinline__ Vec3 along(const Vec3& a, float t, const Vec3& b) {
  return {fmaf(t, b.x, a.x), fmaf(t, b.y, a.y), fmaf(t, b.z, a.z)};
}

__device__ __forceinline__ Vec3 scaled(const Vec3& a, float s) { return {a.x * s, a.y * s, a.z * s}; }

__constant__ float kLight[3] = {0.48f, 0.8f, -0.36f};

// The distance at which a ray enters a sphere, or -1.
__device__ __forceinline__ float enter(const Vec3& origin, const Vec3& direction, const float4& sphere) {
  const Vec3 to = {sphere.x - origin.x, sphere.y - origin.y, sphere.z - origin.z};
  const float b = dot(to, direction);
  const float outside = fmaf(-sphere.w, sphere.w, dot(to, to));
  const float square = fmaf(b, b, -outside);
  if (square <= 0.0f || b <= 0.0f) return -1.0f;
  return b - sqrtf(square);
}

__global__ void sphere_tracing(const float4* __restrict__ spheres, int count, uchar4* __restrict__ image,
                               int width, int height, int bounces) {
  extern __shared__ float4 heap[];  // centre and radius
  const int thread = threadIdx.y * blockDim.x + threadIdx.x;
  for (int i = thread; i < count; i += blockDim.x * blockDim.y) {
    const float4 s = spheres[i];  // numbers from 0 to 1
    heap[i] = make_float4(fmaf(s.x, 8.0f, -4.0f), fmaf(s.y, 5.0f, -2.5f), fmaf(s.z, 6.0f, 4.0f),
                          fmaf(s.w, 0.6f, 0.3f));
  }
  __syncthreads();

  const int px = blockIdx.x * blockDim.x + threadIdx.x;
  const int py = blockIdx.y * blockDim.y + threadIdx.y;
  if (px >= width || py >= height) return;

  const Vec3 light = {kLight[0], kLight[1], kLight[2]};
  Vec3 origin = {0.0f, 0.0f, 0.0f};
  Vec3 direction = {static_cast<float>(2 * px - width) / width, static_cast<float>(height - 2 * py) / width,
                    1.0f};
  direction = scaled(direction, 1.0f / sqrtf(dot(direction, direction)));

  Vec3 colour = {0.0f, 0.0f, 0.0f};
  Vec3 weight = {1.0f, 1.0f, 1.0f};
  for (int bounce = 0; bounce <= bounces; ++bounce) {
    float nearest = 1e30f;
    int hit = -1;
    for (int i = 0; i < count; ++i) {
      const float t = enter(origin, direction, heap[i]);
      if (t > 1e-3f && t < nearest) {
        nearest = t;
        hit = i;
      }
    }
    if (hit < 0) {
      const float sky = fmaf(0.4f, direction.y, 0.6f);
      colour = along(colour, sky, weight);
      break;
    }
    const float4 sphere = heap[hit];
    origin = along(origin, nearest, direction);
    Vec3 normal = {origin.x - sphere.x, origin.y - sphere.y, origin.z - sphere.z};
    normal = scaled(normal, 1.0f / sphere.w);

    float shade = dot(normal, light);
    if (shade > 0.0f) {
      for (int i = 0; i < count; ++i) {
        if (enter(origin, light, heap[i]) > 1e-3f) {
          shade = 0.0f;
          break;
        }
      }
    } else {
      shade = 0.0f;
    }
    const Vec3 own = {hit % 3 == 0 ? 0.9f : 0.3f, hit % 3 == 1 ? 0.9f : 0.3f, hit % 3 == 2 ? 0.9f : 0.3f};
    const float lit = fmaf(0.5f, shade, 0.1f);
    const Vec3 seen = {weight.x * own.x, weight.y * own.y, weight.z * own.z};
    colour = along(colour, lit, seen);
    weight = scaled(seen, 0.5f);
    direction = along(direction, -2.0f * dot(direction, normal), normal);
  }
  const auto byte = [](float value) {
    return static_cast<unsigned char>(static_cast<int>(fminf(fmaxf(value, 0.0f), 1.0f) * 255.0f));
  };
  image[py * width + px] = make_uchar4(byte(colour.x), byte(colour.y), byte(colour.z), 255);
}
