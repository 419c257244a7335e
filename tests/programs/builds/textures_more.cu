// Bindless textures: a table of objects in device memory, mip maps, layers, cubes, 3-D arrays, half and normalised texels, surfaces.
#include <cuda_fp16.h>
#include <cuda_runtime.h>
#include <cmath>
#include <vector>
#include "check.h"
__global__ void table(const cudaTextureObject_t* objects, float* out) {
  out[threadIdx.x] = tex2D<float>(objects[threadIdx.x], 1.5f, 2.5f);
}
__global__ void volume(cudaTextureObject_t t, float* out, int n) {
  int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  out[(z * n + y) * n + x] = tex3D<float>(t, x + 0.5f, y + 0.5f, z + 0.5f);
}
__global__ void layers(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2DLayered<float>(t, 0.5f, 0.5f, threadIdx.x);
}
__global__ void cube(cudaTextureObject_t t, float* out) {
  float3 towards[6] = {{1, 0, 0}, {-1, 0, 0}, {0, 1, 0}, {0, -1, 0}, {0, 0, 1}, {0, 0, -1}};
  float3 d = towards[threadIdx.x];
  out[threadIdx.x] = texCubemap<float>(t, d.x, d.y, d.z);
}
__global__ void shrink(cudaSurfaceObject_t to, cudaTextureObject_t from, int n) {
  int x = threadIdx.x, y = threadIdx.y;
  if (x < n && y < n) surf2Dwrite(tex2D<float>(from, (x + 0.5f) / n, (y + 0.5f) / n), to, x * 4, y);
}
__global__ void levels(cudaTextureObject_t t, float* out) {
  out[threadIdx.x] = tex2DLod<float>(t, 0.5f, 0.5f, threadIdx.x);
}
__global__ void bytes(cudaTextureObject_t t, float4* out) {
  out[threadIdx.x] = tex1D<float4>(t, threadIdx.x + 0.5f);
}
__global__ void gather(cudaTextureObject_t t, float4* out) { out[0] = tex2Dgather<float4>(t, 1.0f, 1.0f, 0); }
cudaTextureObject_t texture(cudaArray_t array, cudaTextureReadMode mode, bool normalized,
                            cudaTextureFilterMode filter) {
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeArray;
  resource.res.array.array = array;
  cudaTextureDesc how = {};
  how.readMode = mode;
  how.filterMode = filter;
  how.normalizedCoords = normalized;
  for (auto& address : how.addressMode) address = cudaAddressModeClamp;
  cudaTextureObject_t object;
  CHECK(cudaCreateTextureObject(&object, &resource, &how, nullptr));
  return object;
}
int main() {
  float* out;
  CHECK(cudaMallocManaged(&out, 4096 * 4));
  auto format = cudaCreateChannelDesc<float>();
  std::vector<cudaTextureObject_t> objects;
  for (int i = 0; i < 4; ++i) {
    cudaArray_t a;
    CHECK(cudaMallocArray(&a, &format, 8, 8));
    std::vector<float> h(64);
    for (int j = 0; j < 64; ++j) h[j] = i * 100 + j;
    CHECK(cudaMemcpy2DToArray(a, 0, 0, h.data(), 32, 32, 8, cudaMemcpyHostToDevice));
    objects.push_back(texture(a, cudaReadModeElementType, false, cudaFilterModePoint));
  }
  cudaTextureObject_t* list;
  CHECK(cudaMalloc(&list, 4 * sizeof(*list)));
  CHECK(cudaMemcpy(list, objects.data(), 4 * sizeof(*list), cudaMemcpyHostToDevice));
  table<<<1, 4>>>(list, out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i) EXPECT(out[i] == i * 100 + 17);
  const int n = 16;
  cudaArray_t a;
  CHECK(cudaMalloc3DArray(&a, &format, make_cudaExtent(n, n, n)));
  std::vector<float> h(n * n * n);
  for (size_t i = 0; i < h.size(); ++i) h[i] = i * 0.5f;
  cudaMemcpy3DParms copy = {};
  copy.srcPtr = make_cudaPitchedPtr(h.data(), n * 4, n, n);
  copy.dstArray = a;
  copy.extent = make_cudaExtent(n, n, n);
  copy.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&copy));
  volume<<<dim3(n, n), n>>>(texture(a, cudaReadModeElementType, false, cudaFilterModeLinear), out, n);
  CHECK(cudaDeviceSynchronize());
  for (size_t i = 0; i < h.size(); ++i) EXPECT(out[i] == h[i]);
  CHECK(cudaMalloc3DArray(&a, &format, make_cudaExtent(4, 4, 6), cudaArrayLayered));
  copy.srcPtr = make_cudaPitchedPtr(h.data(), 16, 4, 4);
  copy.dstArray = a;
  copy.extent = make_cudaExtent(4, 4, 6);
  CHECK(cudaMemcpy3D(&copy));
  layers<<<1, 6>>>(texture(a, cudaReadModeElementType, true, cudaFilterModePoint), out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 6; ++i) EXPECT(out[i] == h[i * 16 + 10]);
  CHECK(cudaMalloc3DArray(&a, &format, make_cudaExtent(4, 4, 6), cudaArrayCubemap));
  for (int i = 0; i < 96; ++i) h[i] = i / 16;
  copy.dstArray = a;
  CHECK(cudaMemcpy3D(&copy));
  cube<<<1, 6>>>(texture(a, cudaReadModeElementType, true, cudaFilterModeLinear), out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 6; ++i) EXPECT(out[i] == i);
  // Mip levels made by a surface from the level above.
  cudaMipmappedArray_t mips;
  CHECK(cudaMallocMipmappedArray(&mips, &format, make_cudaExtent(8, 8, 0), 4, cudaArraySurfaceLoadStore));
  cudaArray_t level;
  CHECK(cudaGetMipmappedArrayLevel(&level, mips, 0));
  std::vector<float> ones(64, 4.f);
  CHECK(cudaMemcpy2DToArray(level, 0, 0, ones.data(), 32, 32, 8, cudaMemcpyHostToDevice));
  for (int l = 1, size = 4; l < 4; ++l, size /= 2) {
    cudaArray_t next;
    CHECK(cudaGetMipmappedArrayLevel(&next, mips, l));
    cudaResourceDesc resource = {};
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = next;
    cudaSurfaceObject_t surface;
    CHECK(cudaCreateSurfaceObject(&surface, &resource));
    shrink<<<1, dim3(8, 8)>>>(surface, texture(level, cudaReadModeElementType, true, cudaFilterModeLinear),
                              size);
    CHECK(cudaDeviceSynchronize());
    CHECK(cudaDestroySurfaceObject(surface));
    level = next;
  }
  cudaResourceDesc resource = {};
  resource.resType = cudaResourceTypeMipmappedArray;
  resource.res.mipmap.mipmap = mips;
  cudaTextureDesc how = {};
  how.normalizedCoords = 1;
  how.filterMode = cudaFilterModeLinear;
  how.mipmapFilterMode = cudaFilterModeLinear;
  how.maxMipmapLevelClamp = 3;
  cudaTextureObject_t pyramid;
  CHECK(cudaCreateTextureObject(&pyramid, &resource, &how, nullptr));
  levels<<<1, 4>>>(pyramid, out);
  CHECK(cudaDeviceSynchronize());
  for (int i = 0; i < 4; ++i) EXPECT(out[i] == 4);
  auto pixels = cudaCreateChannelDesc<uchar4>();
  CHECK(cudaMallocArray(&a, &pixels, 4));
  uchar4 rgba[4] = {{255, 0, 51, 102}, {0, 255, 0, 0}, {1, 2, 3, 4}, {255, 255, 255, 255}};
  CHECK(cudaMemcpy2DToArray(a, 0, 0, rgba, 16, 16, 1, cudaMemcpyHostToDevice));
  bytes<<<1, 4>>>(texture(a, cudaReadModeNormalizedFloat, false, cudaFilterModePoint), (float4*)out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 1 && out[1] == 0 && fabsf(out[2] - 0.2f) < 1e-6f && fabsf(out[3] - 0.4f) < 1e-6f);
  CHECK(cudaMallocArray(&a, &format, 4, 4, cudaArrayTextureGather));
  for (int i = 0; i < 16; ++i) h[i] = i;
  CHECK(cudaMemcpy2DToArray(a, 0, 0, h.data(), 16, 16, 4, cudaMemcpyHostToDevice));
  gather<<<1, 1>>>(texture(a, cudaReadModeElementType, false, cudaFilterModePoint), (float4*)out);
  CHECK(cudaDeviceSynchronize());
  EXPECT(out[0] == 4 && out[1] == 5 && out[2] == 1 && out[3] == 0);
  puts("ok");
}
