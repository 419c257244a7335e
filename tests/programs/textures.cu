// Textures and surfaces in the style of NVIDIA's samples: rotating an image, a volume, layers, a cube, linear and pitched memory, mip levels,
// gathering, writing through surfaces. Each result is checked by the host.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

static int failures = 0;
static void report(const char* name, bool ok) {
  printf("%-22s %s\n", name, ok ? "PASSED" : "FAILED");
  failures += !ok;
}
#define CHECK(call)                                                                                                \
  {                                                                                                                \
    cudaError_t err = call;                                                                                        \
    if (cudaSuccess != err) fprintf(stderr, "line %d: %s\n", __LINE__, cudaGetErrorString(err)), exit(1);          \
  }

__global__ void rotate(float* out, int w, int h, float angle, cudaTextureObject_t tex) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float u = (x - w / 2.0f) / w, v = (y - h / 2.0f) / h;
  out[y * w + x] = tex2D<float>(tex, u * cosf(angle) - v * sinf(angle) + 0.5f, v * cosf(angle) + u * sinf(angle) + 0.5f);
}
__global__ void sample3(float* out, cudaTextureObject_t tex, int n, float scale) {
  int x = threadIdx.x, y = blockIdx.x, z = blockIdx.y;
  out[(z * n + y) * n + x] = tex3D<float>(tex, (x + 0.5f) * scale, (y + 0.5f) * scale, (z + 0.5f) * scale);
}
__global__ void layers(float4* out, cudaTextureObject_t tex, int w, int h) {
  int x = threadIdx.x, y = threadIdx.y, l = blockIdx.x;
  out[(l * h + y) * w + x] = tex2DLayered<float4>(tex, x + 0.5f, y + 0.5f, l);
}
__global__ void cube(float* out, cudaTextureObject_t tex, int w) {
  int x = threadIdx.x, y = threadIdx.y;
  float u = (x + 0.5f) / w * 2 - 1, v = (y + 0.5f) / w * 2 - 1;
  for (int face = 0; face < 6; face++) {
    float a, b, c;
    if (face == 0) a = 1, b = -v, c = -u;
    if (face == 1) a = -1, b = -v, c = u;
    if (face == 2) a = u, b = 1, c = v;
    if (face == 3) a = u, b = -1, c = -v;
    if (face == 4) a = u, b = -v, c = 1;
    if (face == 5) a = -u, b = -v, c = -1;
    out[(face * w + y) * w + x] = texCubemap<float>(tex, a, b, c);
  }
}
__global__ void fetch(int2* out, cudaTextureObject_t tex, int n) {
  int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i < n + 32) out[i] = tex1Dfetch<int2>(tex, i);
}
__global__ void pitched(uchar4* out, cudaTextureObject_t tex, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
  if (x < w) out[y * w + x] = tex2D<uchar4>(tex, x, y);
}
__global__ void levels(float* out, cudaTextureObject_t tex) {
  out[threadIdx.x] = tex2DLod<float>(tex, 0.5f, 0.5f, threadIdx.x * 0.25f);
  out[32 + threadIdx.x] = tex2DGrad<float>(tex, 0.5f, 0.5f, make_float2(exp2f(threadIdx.x % 5) / 16, 0), make_float2(0, 0));
}
__global__ void gather(float4* out, cudaTextureObject_t tex, int w) {
  int x = threadIdx.x, y = blockIdx.x;
  out[y * w + x] = tex2Dgather<float4>(tex, x + 1.0f, y + 1.0f, 0);
}
__global__ void two_of(float* out, const cudaTextureObject_t* tex, int n) {  // another handle in each lane
  int i = threadIdx.x;
  if (i < n) out[i] = tex1D<float>(tex[i & 1], i + 0.5f);
}
__constant__ cudaTextureObject_t kept[2];
__global__ void of_constants(float* out, int which) { out[threadIdx.x] = tex1D<float>(kept[which], threadIdx.x + 0.5f); }
__global__ void blur(cudaSurfaceObject_t to, cudaSurfaceObject_t from, int w, int h) {
  int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
  if (x >= w || y >= h) return;
  float sum = 0;
  for (int j = -1; j <= 1; j++)
    for (int i = -1; i <= 1; i++) sum += surf2Dread<float>(from, (x + i) * 4, y + j, cudaBoundaryModeClamp);
  surf2Dwrite(sum / 9, to, x * 4, y);
  surf2Dwrite(1e9f, to, (x + w) * 4, y, cudaBoundaryModeZero);
}
__global__ void surfaces3(cudaSurfaceObject_t s, int n) {
  ushort4 v;
  surf3Dread(&v, s, threadIdx.x * 8, blockIdx.x, blockIdx.y);
  v.x++, v.w += threadIdx.x;
  surf3Dwrite(v, s, threadIdx.x * 8, blockIdx.x, blockIdx.y);
}
__global__ void border(float* out, cudaTextureObject_t tex, int n) { out[threadIdx.x] = tex1D<float>(tex, (int(threadIdx.x) - 16) / float(n)); }

static cudaTextureObject_t make(cudaResourceDesc r, cudaTextureAddressMode mode, cudaTextureFilterMode filter, bool normalized,
                                cudaTextureReadMode read = cudaReadModeElementType, float maxLevel = 0) {
  cudaTextureDesc d{};
  d.addressMode[0] = d.addressMode[1] = d.addressMode[2] = mode;
  d.filterMode = d.mipmapFilterMode = filter;
  d.normalizedCoords = normalized;
  d.readMode = read;
  d.maxMipmapLevelClamp = maxLevel;
  d.borderColor[0] = 7;
  cudaTextureObject_t t;
  CHECK(cudaCreateTextureObject(&t, &r, &d, nullptr));
  return t;
}
static cudaResourceDesc resource(cudaArray_t a) {
  cudaResourceDesc r{};
  r.resType = cudaResourceTypeArray;
  r.res.array.array = a;
  return r;
}
template <class T>
static cudaArray_t array(const std::vector<T>& v, int w, int h, int d, unsigned flags) {
  cudaArray_t a;
  cudaChannelFormatDesc f = cudaCreateChannelDesc<T>();
  CHECK(cudaMalloc3DArray(&a, &f, make_cudaExtent(w, h, d), flags));
  cudaMemcpy3DParms p{};
  p.srcPtr = make_cudaPitchedPtr((void*)v.data(), w * sizeof(T), w, h ? h : 1);
  p.dstArray = a;
  p.extent = make_cudaExtent(w, h ? h : 1, d ? d : 1);
  p.kind = cudaMemcpyHostToDevice;
  CHECK(cudaMemcpy3D(&p));
  return a;
}
template <class T>
static T* managed(size_t n) {
  T* p;
  CHECK(cudaMallocManaged(&p, n * sizeof(T)));
  return p;
}
static float noise() { return rand() / float(RAND_MAX); }

/// Linear in 8 fraction bits, wrapping.
static float bilinear(const std::vector<float>& v, int w, int h, float u, float t) {
  float x = u * w - 0.5f, y = t * h - 0.5f;
  auto at = [&](int i, int j) { return v[(j % h + h) % h * w + (i % w + w) % w]; };
  int i = floorf(x), j = floorf(y);
  float a = x - i, b = y - j;
  return (1 - a) * (1 - b) * at(i, j) + a * (1 - b) * at(i + 1, j) + (1 - a) * b * at(i, j + 1) + a * b * at(i + 1, j + 1);
}

int main() {
  {
    const int w = 96, h = 64;
    std::vector<float> image(w * h);
    for (auto& x : image) x = noise();
    cudaArray_t a;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocArray(&a, &f, w, h));
    CHECK(cudaMemcpy2DToArray(a, 0, 0, image.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    auto t = make(resource(a), cudaAddressModeWrap, cudaFilterModeLinear, true);
    float* out = managed<float>(w * h);
    rotate<<<dim3(w / 32, h / 8), dim3(32, 8)>>>(out, w, h, 0.5f, t);
    CHECK(cudaDeviceSynchronize());
    double worst = 0;
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        float u = (x - w / 2.0f) / w, v = (y - h / 2.0f) / h;
        worst = fmax(worst, fabs(out[y * w + x] - bilinear(image, w, h, u * cosf(0.5f) - v * sinf(0.5f) + 0.5f, v * cosf(0.5f) + u * sinf(0.5f) + 0.5f)));
      }
    report("rotate", worst < 0.02 && worst > 0);
    std::vector<float> back(w * h);
    CHECK(cudaMemcpy2DFromArray(back.data(), w * 4, a, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
    report("array back", back == image);
    CHECK(cudaDestroyTextureObject(t));
    CHECK(cudaFreeArray(a));
  }
  {
    const int n = 16, m = 32;
    std::vector<float> v(n * n * n);
    for (int i = 0; i < n * n * n; i++) v[i] = i % n + 2 * (i / n % n) + 4 * (i / n / n);
    auto t = make(resource(array(v, n, n, n, 0)), cudaAddressModeClamp, cudaFilterModeLinear, false);
    float* out = managed<float>(m * m * m);
    sample3<<<dim3(m, m), m>>>(out, t, m, 0.5f);
    CHECK(cudaDeviceSynchronize());
    double worst = 0;
    auto place = [&](int i) { return fmin(fmax((i + 0.5) * 0.5 - 0.5, 0), n - 1); };
    for (int i = 0; i < m * m * m; i++)
      worst = fmax(worst, fabs(out[i] - (place(i % m) + 2 * place(i / m % m) + 4 * place(i / m / m))));
    report("volume", worst < 0.1);
  }
  {
    const int w = 20, h = 7, n = 5;
    std::vector<float4> v(w * h * n);
    for (int i = 0; i < w * h * n; i++) v[i] = make_float4(i, i + .25f, -i, 1);
    auto t = make(resource(array(v, w, h, n, cudaArrayLayered)), cudaAddressModeClamp, cudaFilterModePoint, false);
    float4* out = managed<float4>(v.size());
    layers<<<n, dim3(w, h)>>>(out, t, w, h);
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    for (size_t i = 0; i < v.size(); i++) ok &= out[i].x == v[i].x && out[i].y == v[i].y && out[i].z == v[i].z && out[i].w == 1;
    report("layers", ok);
  }
  {
    const int w = 8;
    std::vector<float> v(6 * w * w);
    for (size_t i = 0; i < v.size(); i++) v[i] = i;
    auto t = make(resource(array(v, w, w, 6, cudaArrayCubemap)), cudaAddressModeClamp, cudaFilterModePoint, true);
    float* out = managed<float>(v.size());
    cube<<<1, dim3(w, w)>>>(out, t, w);
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    for (size_t i = 0; i < v.size(); i++) ok &= out[i] == v[i];
    report("cube", ok);
  }
  {
    const int n = 1000;
    int2* d = managed<int2>(n);
    for (int i = 0; i < n; i++) d[i] = make_int2(i, -i);
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = d;
    r.res.linear.desc = cudaCreateChannelDesc<int2>();
    r.res.linear.sizeInBytes = n * sizeof(int2);
    auto t = make(r, cudaAddressModeClamp, cudaFilterModePoint, false);
    int2* out = managed<int2>(n + 32);
    fetch<<<9, 128>>>(out, t, n);
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    for (int i = 0; i < n; i++) ok &= out[i].x == i && out[i].y == -i;
    for (int i = n; i < n + 32; i++) ok &= out[i].x == 0 && out[i].y == 0;
    report("linear memory", ok);
  }
  {
    const int w = 100, h = 12;
    uchar4* d;
    size_t pitch;
    CHECK(cudaMallocPitch(&d, &pitch, w * 4, h));
    std::vector<uchar4> v(w * h);
    for (int i = 0; i < w * h; i++) v[i] = make_uchar4(i, i / 2, i / 3, 255 - i % 256);
    CHECK(cudaMemcpy2D(d, pitch, v.data(), w * 4, w * 4, h, cudaMemcpyHostToDevice));
    cudaResourceDesc r{};
    r.resType = cudaResourceTypePitch2D;
    r.res.pitch2D.devPtr = d;
    r.res.pitch2D.desc = cudaCreateChannelDesc<uchar4>();
    r.res.pitch2D.width = w, r.res.pitch2D.height = h, r.res.pitch2D.pitchInBytes = pitch;
    auto t = make(r, cudaAddressModeClamp, cudaFilterModePoint, false);
    uchar4* out = managed<uchar4>(w * h);
    pitched<<<dim3(4, h), 32>>>(out, t, w, h);
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    for (int i = 0; i < w * h; i++) ok &= out[i].x == v[i].x && out[i].y == v[i].y && out[i].z == v[i].z && out[i].w == v[i].w;
    report("pitched memory", ok);
  }
  {
    cudaMipmappedArray_t m;
    cudaChannelFormatDesc f = cudaCreateChannelDesc<float>();
    CHECK(cudaMallocMipmappedArray(&m, &f, make_cudaExtent(16, 16, 0), 5));
    for (int l = 0; l < 5; l++) {
      cudaArray_t a;
      CHECK(cudaGetMipmappedArrayLevel(&a, m, l));
      std::vector<float> v((16 >> l) * (16 >> l), l * 10);
      CHECK(cudaMemcpy2DToArray(a, 0, 0, v.data(), (16 >> l) * 4, (16 >> l) * 4, 16 >> l, cudaMemcpyHostToDevice));
    }
    cudaResourceDesc r{};
    r.resType = cudaResourceTypeMipmappedArray;
    r.res.mipmap.mipmap = m;
    auto t = make(r, cudaAddressModeClamp, cudaFilterModeLinear, true, cudaReadModeElementType, 4);
    float* out = managed<float>(64);
    levels<<<1, 32>>>(out, t);
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    for (int i = 0; i < 32; i++) ok &= fabs(out[i] - fmin(i * 2.5f, 40)) < 1e-3 && fabs(out[32 + i] - i % 5 * 10) < 0.1;
    report("mip levels", ok);
  }
  {
    const int w = 16;
    std::vector<float> v(w * w);
    for (int i = 0; i < w * w; i++) v[i] = i;
    auto t = make(resource(array(v, w, w, 0, cudaArrayTextureGather)), cudaAddressModeClamp, cudaFilterModePoint, false);
    float4* out = managed<float4>(w * w);
    gather<<<w - 1, w - 1>>>(out, t, w);
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    for (int y = 0; y < w - 1; y++)
      for (int x = 0; x < w - 1; x++) {
        float4 g = out[y * w + x];
        float c = y * w + x;
        ok &= g.w == c && g.z == c + 1 && g.x == c + w && g.y == c + w + 1;
      }
    report("gather", ok);
  }
  {
    std::vector<float> one(32), two(32);
    for (int i = 0; i < 32; i++) one[i] = i, two[i] = 100 + i;
    cudaTextureObject_t* t = managed<cudaTextureObject_t>(2);
    t[0] = make(resource(array(one, 32, 0, 0, 0)), cudaAddressModeClamp, cudaFilterModePoint, false);
    t[1] = make(resource(array(two, 32, 0, 0, 0)), cudaAddressModeClamp, cudaFilterModePoint, false);
    CHECK(cudaMemcpyToSymbol(kept, t, sizeof(kept)));
    float* out = managed<float>(64);
    two_of<<<1, 32>>>(out, t, 32);
    of_constants<<<1, 32>>>(out + 32, 1);
    CHECK(cudaDeviceSynchronize());
    bool ok = true;
    for (int i = 0; i < 32; i++) ok &= out[i] == (i & 1 ? 100 + i : i) && out[32 + i] == 100 + i;
    report("handles in memory", ok);
    auto b = make(resource(array(one, 8, 0, 0, 0)), cudaAddressModeBorder, cudaFilterModePoint, true);
    auto m = make(resource(array(one, 8, 0, 0, 0)), cudaAddressModeMirror, cudaFilterModePoint, true);
    border<<<1, 32>>>(out, b, 8);
    border<<<1, 32>>>(out + 32, m, 8);
    CHECK(cudaDeviceSynchronize());
    ok = true;
    for (int i = -16; i < 16; i++) {
      int k = (i % 16 + 16) % 16;
      ok &= out[i + 16] == (i < 0 || i >= 8 ? 7 : i) && out[32 + i + 16] == (k < 8 ? k : 15 - k);
    }
    report("border and mirror", ok);
  }
  {
    const int w = 64, h = 48;
    std::vector<float> v(w * h), out(w * h);
    for (auto& x : v) x = noise();
    cudaArray_t from = array(v, w, h, 0, cudaArraySurfaceLoadStore), to = array(v, w, h, 0, cudaArraySurfaceLoadStore);
    cudaSurfaceObject_t s, d;
    cudaResourceDesc r = resource(from);
    CHECK(cudaCreateSurfaceObject(&s, &r));
    r = resource(to);
    CHECK(cudaCreateSurfaceObject(&d, &r));
    blur<<<dim3(2, 6), dim3(32, 8)>>>(d, s, w, h);
    CHECK(cudaMemcpy2DFromArray(out.data(), w * 4, to, 0, 0, w * 4, h, cudaMemcpyDeviceToHost));
    double worst = 0;
    for (int y = 0; y < h; y++)
      for (int x = 0; x < w; x++) {
        float sum = 0;
        for (int j = -1; j <= 1; j++)
          for (int i = -1; i <= 1; i++) sum += v[std::min(std::max(y + j, 0), h - 1) * w + std::min(std::max(x + i, 0), w - 1)];
        worst = fmax(worst, fabs(out[y * w + x] - sum / 9));
      }
    report("surfaces", worst < 1e-6);
  }
  {
    const int w = 16, h = 4, n = 3;
    std::vector<ushort4> v(w * h * n), back(w * h * n);
    for (int i = 0; i < w * h * n; i++) v[i] = make_ushort4(i, 2 * i, 3 * i, 4 * i);
    cudaArray_t a = array(v, w, h, n, cudaArraySurfaceLoadStore);
    cudaResourceDesc r = resource(a);
    cudaSurfaceObject_t s;
    CHECK(cudaCreateSurfaceObject(&s, &r));
    surfaces3<<<dim3(h, n), w>>>(s, 0);
    cudaMemcpy3DParms p{};
    p.srcArray = a;
    p.dstPtr = make_cudaPitchedPtr(back.data(), w * 8, w, h);
    p.extent = make_cudaExtent(w, h, n);
    p.kind = cudaMemcpyDeviceToHost;
    CHECK(cudaMemcpy3D(&p));
    bool ok = true;
    for (int i = 0; i < w * h * n; i++) ok &= back[i].x == i + 1 && back[i].y == 2 * i && back[i].w == 4 * i + i % w;
    report("surface of a volume", ok);
  }
  printf("%s\n", failures ? "FAILED" : "PASSED");
  return failures != 0;
}
