// Running statistics in an array of structures: some fields of a record are read and others written, five or seven floats a
// record. statistics_push changes four of five fields; sphere_grow writes all of seven, two of them read before.

struct Statistics {
  float mean, weight, least, most, last;
};

__global__ void statistics_push(const float* __restrict__ samples, Statistics* __restrict__ all, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float x = samples[i];
    Statistics* one = all + i;
    one->mean = fmaf(x - one->mean, 0.25f, one->mean);
    one->least = fminf(one->least, x);
    one->most = fmaxf(one->most, x);
    one->last = x;
  }
}

struct Sphere {
  float x, y, z, radius, red, green, blue;
};

__global__ void sphere_grow(const float* __restrict__ amounts, Sphere* __restrict__ spheres, int count) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x) {
    const float a = amounts[i];
    Sphere* one = spheres + i;
    const float radius = one->radius + a;
    const float red = one->red;
    one->x = a;
    one->y = a * 2.0f;
    one->z = a * 4.0f;
    one->radius = radius;
    one->red = red * 0.5f;
    one->green = red * 0.25f;
    one->blue = radius * 0.125f;
  }
}
