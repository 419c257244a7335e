// Asks a device how fast an SM's texture unit answers; writes cycles. Usage: throughput FOLDER
#include "textures.cuh"

template <int M>
__device__ float look(cudaTextureObject_t t, float x, float y) {
  if (M == 0) return tex2D<float>(t, x, y);
  if (M == 1) {
    float4 v = tex2D<float4>(t, x, y);
    return v.x + v.y + v.z + v.w;
  }
  if (M == 2) return tex3D<float>(t, x, y, .7f);
  if (M == 3) return tex1Dfetch<float>(t, (int)x);
  if (M == 4) {
    float4 v = tex1Dfetch<float4>(t, (int)x);
    return v.x + v.y + v.z + v.w;
  }
  if (M == 5) {
    float2 v = tex2D<float2>(t, x, y);
    return v.x + v.y;
  }
  if (M == 6) {
    float2 v = tex1Dfetch<float2>(t, (int)x);
    return v.x + v.y;
  }
  return 0;
}
template <int M>
__global__ void thr(cudaTextureObject_t t, float* o, long long* c, int n, float dx, float step) {
  float x = threadIdx.x % 32 * dx + .3f, y = threadIdx.x / 32 * .25f + .3f, s = 0;
#pragma unroll 1
  for (int i = 0; i < 16; i++) {
    s += look<M>(t, x, y);
    x += step;
  }
  __syncthreads();
  long long a = clock64();
#pragma unroll 8
  for (int i = 0; i < n; i++) {
    s += look<M>(t, x, y);
    x += step;
  }
  __syncthreads();
  long long b = clock64();
  o[blockIdx.x * blockDim.x + threadIdx.x] = s;
  if (threadIdx.x == 0) c[blockIdx.x] = b - a;
}
__global__ void base(float* o, long long* c, int n, float step, const float* p) {
  float x = threadIdx.x % 32, s = 0;
  __syncthreads();
  long long a = clock64();
#pragma unroll 8
  for (int i = 0; i < n; i++) {
    s += __ldg(p + (int)x);
    x += step;
  }
  __syncthreads();
  long long b = clock64();
  o[threadIdx.x] = s;
  if (threadIdx.x == 0) c[0] = b - a;
}
__global__ void ldchain(const int* p, int* o, long long* c, int n) {
  int x = threadIdx.x & 0;
  long long a = clock64();
#pragma unroll 8
  for (int i = 0; i < n; i++) x = p[x];
  long long b = clock64();
  o[threadIdx.x] = x;
  if (threadIdx.x == 0) c[0] = b - a;
}
__global__ void fchain(cudaTextureObject_t t, int* o, long long* c, int n) {
  int x = threadIdx.x & 0;
  long long a = clock64();
#pragma unroll 8
  for (int i = 0; i < n; i++) x = tex1Dfetch<int>(t, x);
  long long b = clock64();
  o[threadIdx.x] = x;
  if (threadIdx.x == 0) c[0] = b - a;
}
__global__ void sthr(cudaSurfaceObject_t s, int* o, long long* c, int n, int w, int step) {
  int x = threadIdx.x % 32 * 4, y = threadIdx.x / 32, t = 0;
  __syncthreads();
  long long a = clock64();
#pragma unroll 8
  for (int i = 0; i < n; i++) {
    if (w)
      surf2Dwrite(i, s, x, y & 63);
    else
      t += surf2Dread<int>(s, x, y & 63);
    y += step;
  }
  __syncthreads();
  long long b = clock64();
  o[threadIdx.x] = t;
  if (threadIdx.x == 0) c[0] = b - a;
}
static FILE* tm_;
template <int M>
void times(const char* n, cudaTextureObject_t t) {
  float* o;
  long long *c, h;
  CK(cudaMalloc(&o, 1 << 20));
  CK(cudaMalloc(&c, 4096));
  for (float dx : {0.f, 1.f, 0.37f})
    for (int w : {1, 2, 4, 8, 16, 32})
      for (int q = 0; q < 2; q++) {
        thr<M><<<1, 32 * w>>>(t, o, c, 256, dx, .0625f);
        CK(cudaMemcpy(&h, c, 8, cudaMemcpyDeviceToHost));
        if (q) fprintf(tm_, "%s dx %.2f warps %d cycles_per_warp_instruction %.3f\n", n, dx, w, h / 256. / w);
      }
  CK(cudaFree(o));
  CK(cudaFree(c));
}
int main(int, char** v) {
  out = v[1];
  tm_ = fopen((out + "/tex_throughput.txt").c_str(), "w");
  data = idx = tm_;
  std::vector<float> z(4096, 0.f);
  std::vector<float2> z2(4096, make_float2(0, 0));
  std::vector<float4> z4(4096, make_float4(0, 0, 0, 0));
  Opt pt;
  pt.f = cudaFilterModePoint;
  times<0>("tex2d_point", tex2(z, 64, 64, pt));
  times<0>("tex2d_linear", tex2(z, 64, 64, {}));
  times<5>("tex2d_float2_point", tex2(z2, 64, 64, pt));
  times<5>("tex2d_float2_linear", tex2(z2, 64, 64, {}));
  times<1>("tex2d_float4_point", tex2(z4, 64, 64, pt));
  times<1>("tex2d_float4_linear", tex2(z4, 64, 64, {}));
  {
    std::vector<uchar4> u(4096, make_uchar4(0, 0, 0, 0));
    Opt o;
    o.r = cudaReadModeNormalizedFloat;
    times<1>("tex2d_uchar4_linear", tex2(u, 64, 64, o));
    o.f = cudaFilterModePoint;
    times<1>("tex2d_uchar4_point", tex2(u, 64, 64, o));
  }
  {
    std::vector<ushort4> u(4096, make_ushort4(0, 0, 0, 0));
    Opt o;
    o.r = cudaReadModeNormalizedFloat;
    times<1>("tex2d_ushort4_linear", tex2(u, 64, 64, o));
  }
  times<2>("tex3d_linear", tex3(z, 16, 16, 16, 0, {}));
  times<2>("tex3d_point", tex3(z, 16, 16, 16, 0, pt));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeLinear;
  r.res.linear.devPtr = up(z);
  r.res.linear.desc = cudaCreateChannelDesc<float>();
  r.res.linear.sizeInBytes = 16384;
  times<3>("tex1dfetch", obj(r, pt));
  r.res.linear.devPtr = up(z2);
  r.res.linear.desc = cudaCreateChannelDesc<float2>();
  r.res.linear.sizeInBytes = 32768;
  times<6>("tex1dfetch2", obj(r, pt));
  r.res.linear.devPtr = up(z4);
  r.res.linear.desc = cudaCreateChannelDesc<float4>();
  r.res.linear.sizeInBytes = 65536;
  times<4>("tex1dfetch4", obj(r, pt));
  float* o;
  long long *c, h;
  CK(cudaMalloc(&o, 1 << 20));
  CK(cudaMalloc(&c, 4096));
  float* p = up(z);
  for (int w : {1, 2, 4, 8, 16, 32}) {
    base<<<1, 32 * w>>>(o, c, 256, .0625f, p);
    CK(cudaMemcpy(&h, c, 8, cudaMemcpyDeviceToHost));
    fprintf(tm_, "ldg warps %d cycles_per_warp_instruction %.3f\n", w, h / 256. / w);
  }
  std::vector<int> zi(4096, 0);
  int* pi = up(zi);
  for (int t : {1, 32}) {
    ldchain<<<1, t>>>(pi, (int*)o, c, 256);
    CK(cudaMemcpy(&h, c, 8, cudaMemcpyDeviceToHost));
    ldchain<<<1, t>>>(pi, (int*)o, c, 256);
    CK(cudaMemcpy(&h, c, 8, cudaMemcpyDeviceToHost));
    fprintf(tm_, "ldg_chain threads %d %.2f\n", t, h / 256.);
    r.res.linear.devPtr = pi;
    r.res.linear.desc = cudaCreateChannelDesc<int>();
    r.res.linear.sizeInBytes = 16384;
    auto x = obj(r, pt);
    for (int q = 0; q < 2; q++) {
      fchain<<<1, t>>>(x, (int*)o, c, 256);
      CK(cudaMemcpy(&h, c, 8, cudaMemcpyDeviceToHost));
    }
    fprintf(tm_, "tex1dfetch_chain threads %d %.2f\n", t, h / 256.);
  }
  cudaChannelFormatDesc f = cudaCreateChannelDesc<int>();
  cudaArray_t a;
  CK(cudaMallocArray(&a, &f, 64, 64, cudaArraySurfaceLoadStore));
  CK(cudaMemcpy2DToArray(a, 0, 0, zi.data(), 256, 256, 64, cudaMemcpyHostToDevice));
  r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  cudaSurfaceObject_t s;
  CK(cudaCreateSurfaceObject(&s, &r));
  for (int st : {0, 1})
    for (int w = 0; w < 2; w++)
      for (int k : {1, 4, 8, 16, 32}) {
        sthr<<<1, 32 * k>>>(s, (int*)o, c, 256, w, st);
        CK(cudaMemcpy(&h, c, 8, cudaMemcpyDeviceToHost));
        fprintf(tm_, "surf2d%s step %d warps %d cycles_per_warp_instruction %.3f\n", w ? "write" : "read", st,
                k, h / 256. / k);
      }
  CK(cudaDeviceSynchronize());
  fclose(tm_);
  puts("done");
}
