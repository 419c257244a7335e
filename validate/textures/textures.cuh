// What both programs ask with: textures of arrays, a launch per list of coordinates, results as raw data with an index.
#pragma once

#include <cuda_runtime.h>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>
#define CK(e)                                                   \
  do {                                                          \
    cudaError_t r_ = (e);                                       \
    if (r_) {                                                   \
      printf("%s line %d\n", cudaGetErrorString(r_), __LINE__); \
      exit(1);                                                  \
    }                                                           \
  } while (0)
static std::string out;
static FILE* idx;
static FILE* data;
static void save(const char* n, const void* p, size_t b) {
  fprintf(idx, "%s %ld %zu\n", n, ftell(data), b);
  fwrite(p, 1, b, data);
}
template <class T>
T* up(const std::vector<T>& v) {
  T* d;
  CK(cudaMalloc(&d, v.size() * sizeof(T)));
  CK(cudaMemcpy(d, v.data(), v.size() * sizeof(T), cudaMemcpyHostToDevice));
  return d;
}
struct Opt {
  cudaTextureAddressMode a = cudaAddressModeClamp;
  cudaTextureFilterMode f = cudaFilterModeLinear;
  bool norm = false;
  cudaTextureReadMode r = cudaReadModeElementType;
  int srgb = 0;
  float border = 0;
  cudaTextureFilterMode mf = cudaFilterModePoint;
  float maxl = 0, bias = 0;
};
static cudaTextureObject_t obj(cudaResourceDesc& r, const Opt& o) {
  cudaTextureDesc d = {};
  for (int i = 0; i < 3; i++) d.addressMode[i] = o.a;
  d.filterMode = o.f;
  d.normalizedCoords = o.norm;
  d.readMode = o.r;
  d.sRGB = o.srgb;
  for (int i = 0; i < 4; i++) d.borderColor[i] = o.border;
  d.mipmapFilterMode = o.mf;
  d.maxMipmapLevelClamp = o.maxl;
  d.mipmapLevelBias = o.bias;
  cudaTextureObject_t t;
  CK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  return t;
}
template <class T>
cudaTextureObject_t tex2(const std::vector<T>& v, int w, int h, Opt o) {
  cudaChannelFormatDesc c = cudaCreateChannelDesc<T>();
  cudaArray_t a;
  CK(cudaMallocArray(&a, &c, w, h, cudaArrayTextureGather));
  CK(cudaMemcpy2DToArray(a, 0, 0, v.data(), w * sizeof(T), w * sizeof(T), h, cudaMemcpyHostToDevice));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return obj(r, o);
}
template <class T>
cudaTextureObject_t tex3(const std::vector<T>& v, int w, int h, int dd, unsigned fl, Opt o) {
  cudaChannelFormatDesc c = cudaCreateChannelDesc<T>();
  cudaArray_t a;
  CK(cudaMalloc3DArray(&a, &c, make_cudaExtent(w, h, dd), fl));
  cudaMemcpy3DParms p = {};
  p.srcPtr = make_cudaPitchedPtr((void*)v.data(), w * sizeof(T), w, h);
  p.dstArray = a;
  p.extent = make_cudaExtent(w, h, dd);
  p.kind = cudaMemcpyHostToDevice;
  CK(cudaMemcpy3D(&p));
  cudaResourceDesc r = {};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return obj(r, o);
}
__global__ void k2(cudaTextureObject_t t, const float2* c, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = tex2D<float>(t, c[i].x, c[i].y);
}
__global__ void k1(cudaTextureObject_t t, const float* c, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = tex1D<float>(t, c[i]);
}
__global__ void k3(cudaTextureObject_t t, const float4* c, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = tex3D<float>(t, c[i].x, c[i].y, c[i].z);
}
__global__ void kc(cudaTextureObject_t t, const float4* c, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = texCubemap<float>(t, c[i].x, c[i].y, c[i].z);
}
__global__ void kl(cudaTextureObject_t t, const float4* c, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = tex2DLod<float>(t, c[i].x, c[i].y, c[i].z);
}
__global__ void kg(cudaTextureObject_t t, const float4* c, float* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = tex2DGrad<float>(t, .3f, .3f, make_float2(c[i].x, c[i].y), make_float2(c[i].z, c[i].w));
}
__global__ void kga(cudaTextureObject_t t, const float2* c, float4* o, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n) o[i] = tex2Dgather<float4>(t, c[i].x, c[i].y, 0);
}
template <class C, class O, class K>
void run(const char* n, K k, cudaTextureObject_t t, const std::vector<C>& c) {
  C* d = up(c);
  O* o;
  CK(cudaMalloc(&o, c.size() * sizeof(O)));
  k<<<(c.size() + 255) / 256, 256>>>(t, d, o, (int)c.size());
  CK(cudaDeviceSynchronize());
  std::vector<O> h(c.size());
  CK(cudaMemcpy(h.data(), o, h.size() * sizeof(O), cudaMemcpyDeviceToHost));
  save(n, h.data(), h.size() * sizeof(O));
  CK(cudaFree(d));
  CK(cudaFree(o));
}
static unsigned seed = 1;
static unsigned rnd() {
  seed = seed * 1664525u + 1013904223u;
  return seed >> 8;
}
static float uni() { return rnd() / 16777216.0f; }
