// Asks a device how textures are sampled; writes raw floats. Usage: probe FOLDER
#include "textures.cuh"

// surfaces
__global__ void ks(cudaSurfaceObject_t s, unsigned* o) {
  int i = threadIdx.x - 4;
  o[threadIdx.x] = surf2Dread<unsigned>(s, i * 4, 1, cudaBoundaryModeZero);
  o[32 + threadIdx.x] = surf2Dread<unsigned>(s, i * 4, 1, cudaBoundaryModeClamp);
  o[64 + threadIdx.x] = surf2Dread<unsigned>(s, 4, i, cudaBoundaryModeClamp);
}
__global__ void kw(cudaSurfaceObject_t s) {
  int i = threadIdx.x - 4;
  surf2Dwrite(100u + threadIdx.x, s, i * 4, 2, cudaBoundaryModeZero);
  surf2Dwrite(200u + threadIdx.x, s, i * 4, 3, cudaBoundaryModeClamp);
}
__global__ void kq(cudaTextureObject_t t, int* o) {
  int a, b, c;
  asm("txq.width.b32 %0,[%1];" : "=r"(a) : "l"(t));
  asm("txq.height.b32 %0,[%1];" : "=r"(b) : "l"(t));
  asm("txq.depth.b32 %0,[%1];" : "=r"(c) : "l"(t));
  o[0] = a;
  o[1] = b;
  o[2] = c;
  asm("txq.array_size.b32 %0,[%1];" : "=r"(a) : "l"(t));
  asm("txq.num_mipmap_levels.b32 %0,[%1];" : "=r"(b) : "l"(t));
  asm("txq.num_samples.b32 %0,[%1];" : "=r"(c) : "l"(t));
  o[3] = a;
  o[4] = b;
  o[5] = c;
}
// times
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
  return 0;
}
template <int M>
__global__ void lat(cudaTextureObject_t t, float* o, long long* c, int n) {
  float x = .3f, y = .3f;
  for (int i = 0; i < 8; i++) x = look<M>(t, x, y) + .3f;
  long long a = clock64();
#pragma unroll 8
  for (int i = 0; i < n; i++) x = look<M>(t, x, y) + .3f;
  long long b = clock64();
  o[threadIdx.x] = x;
  if (threadIdx.x == 0) c[0] = b - a;
}
__global__ void slat(cudaSurfaceObject_t s, int* o, long long* c, int n) {
  int x = 0;
  for (int i = 0; i < 8; i++) x = surf2Dread<int>(s, x, 1);
  long long a = clock64();
#pragma unroll 8
  for (int i = 0; i < n; i++) x = surf2Dread<int>(s, x, 1);
  long long b = clock64();
  o[threadIdx.x] = x;
  if (threadIdx.x == 0) c[0] = b - a;
}
static FILE* tm_;
template <int M>
void times(const char* n, cudaTextureObject_t t) {
  float* o;
  long long *c, h;
  CK(cudaMalloc(&o, 1 << 20));
  CK(cudaMalloc(&c, 4096));
  lat<M><<<1, 1>>>(t, o, c, 256);
  CK(cudaMemcpy(&h, c, 8, cudaMemcpyDeviceToHost));
  fprintf(tm_, "%s latency1 %.2f\n", n, h / 256.);
  lat<M><<<1, 32>>>(t, o, c, 256);
  CK(cudaMemcpy(&h, c, 8, cudaMemcpyDeviceToHost));
  fprintf(tm_, "%s latency32 %.2f\n", n, h / 256.);
}
int main(int, char** v) {
  out = v[1];
  data = fopen((out + "/tex.bin").c_str(), "wb");
  idx = fopen((out + "/tex.idx").c_str(), "w");
  tm_ = fopen((out + "/tex_times.txt").c_str(), "w");
  cudaDeviceProp p;
  CK(cudaGetDeviceProperties(&p, 0));
  int dv, ck;
  cudaDriverGetVersion(&dv);
  cudaDeviceGetAttribute(&ck, cudaDevAttrClockRate, 0);
  fprintf(tm_, "%s driver %d clock %d\n", p.name, dv, ck);
  std::vector<float2> g;
  for (int j = 0; j <= 256; j++)
    for (int i = 0; i <= 256; i++) g.push_back({.5f + i / 256.f, .5f + j / 256.f});
  for (int k = 0; k < 4; k++) {
    std::vector<float> m(4, 0.f);
    m[k] = 1;
    char n[32];
    sprintf(n, "onehot2d_%d", k);
    run<float2, float>(n, k2, tex2(m, 2, 2, {}), g);
  }
  {
    std::vector<float> m = {0, 1};
    std::vector<float2> f;
    for (int i = 0; i <= 8192; i++) f.push_back({.5f + i / 8192.f, .5f});
    run<float2, float>("fine1", k2, tex2(m, 2, 1, {}), f);
  }
  {
    std::vector<float4> f;
    for (int k = 0; k <= 256; k += 4)
      for (int j = 0; j <= 256; j += 4)
        for (int i = 0; i <= 256; i += 4) f.push_back({.5f + i / 256.f, .5f + j / 256.f, .5f + k / 256.f, 0});
    for (int k = 0; k < 8; k += 1) {
      std::vector<float> m(8, 0.f);
      m[k] = 1;
      char n[32];
      sprintf(n, "onehot3d_%d", k);
      run<float4, float>(n, k3, tex3(m, 2, 2, 2, 0, {}), f);
    }
  }
  {
    std::vector<float2> f;
    for (int i = 0; i < 65536; i++) {
      float a = uni(), b = uni();
      f.push_back({a * 64, b * 64});
    }
    std::vector<float> m(4096);
    for (auto& x : m) x = uni() * 2 - 1;
    run<float2, float>("random2d", k2, tex2(m, 64, 64, {}), f);
    Opt q;
    q.f = cudaFilterModePoint;
    run<float2, float>("random2dpoint", k2, tex2(m, 64, 64, q), f);
    std::vector<unsigned char> u(4096);
    for (auto& x : u) x = rnd();
    Opt o;
    o.r = cudaReadModeNormalizedFloat;
    run<float2, float>("random_u8", k2, tex2(u, 64, 64, o), f);
    std::vector<signed char> sc(4096);
    for (auto& x : sc) x = rnd();
    run<float2, float>("random_s8", k2, tex2(sc, 64, 64, o), f);
    std::vector<unsigned short> us(4096);
    for (auto& x : us) x = rnd();
    run<float2, float>("random_u16", k2, tex2(us, 64, 64, o), f);
    run<float2, float4>("gather", kga, tex2(m, 64, 64, {}), std::vector<float2>(f.begin(), f.begin() + 8192));
  }
  for (int w : {4, 5})
    for (int a = 0; a < 4; a++)
      for (int fi = 0; fi < 2; fi++)
        for (int nm = 0; nm < 2; nm++) {
          std::vector<float> m;
          for (int i = 0; i < w; i++) m.push_back(i + 1);
          Opt o;
          o.a = (cudaTextureAddressMode)a;
          o.f = (cudaTextureFilterMode)fi;
          o.norm = nm;
          o.border = 9;
          std::vector<float2> f;
          for (int i = -3072; i <= 3072; i++) {
            float x = i / 1024.f * (nm ? 1 : w);
            f.push_back({x, .5f});
          }
          char n[64];
          sprintf(n, "address_w%d_a%d_f%d_n%d", w, a, fi, nm);
          run<float2, float>(n, k2, tex2(m, w, 1, o), f);
        }
  {
    std::vector<float2> f;
    for (int i = 0; i < 256; i++) f.push_back({i + .5f, .5f});
    std::vector<uchar4> m;
    for (int i = 0; i < 256; i++) m.push_back(make_uchar4(i, i, i, i));
    Opt o;
    o.r = cudaReadModeNormalizedFloat;
    o.f = cudaFilterModePoint;
    o.srgb = 1;
    run<float2, float>("srgb", k2, tex2(m, 256, 1, o), f);
    o.srgb = 0;
    run<float2, float>("unorm8", k2, tex2(m, 256, 1, o), f);
  }
  {
    std::vector<float> m(64);
    for (int i = 0; i < 64; i++) m[i] = i;
    Opt o;
    o.f = cudaFilterModePoint;
    std::vector<float2> f;
    for (int k = 1; k < 9; k++)
      for (int e = 6; e < 24; e++)
        for (int s = -1; s <= 1; s += 2) { f.push_back({k * 7.f + s * ldexpf(1, -e), .5f}); }
    run<float2, float>("point_edges", k2, tex2(m, 64, 1, o), f);
    o.norm = 1;
    for (auto& x : f) x.x /= 64;
    run<float2, float>("point_edges_n", k2, tex2(m, 64, 1, o), f);
  }
  for (int lin = 0; lin < 2; lin++)
    for (int mf = 0; mf < 2; mf++) {
      cudaChannelFormatDesc c = cudaCreateChannelDesc<float>();
      cudaMipmappedArray_t ma;
      CK(cudaMallocMipmappedArray(&ma, &c, make_cudaExtent(16, 16, 0), 5));
      for (int l = 0; l < 5; l++) {
        cudaArray_t a;
        CK(cudaGetMipmappedArrayLevel(&a, ma, l));
        int s = 16 >> l;
        std::vector<float> m(s * s, (float)l);
        for (int i = 0; i < s * s; i++) m[i] += (i % s) / 64.f;
        CK(cudaMemcpy2DToArray(a, 0, 0, m.data(), s * 4, s * 4, s, cudaMemcpyHostToDevice));
      }
      cudaResourceDesc r = {};
      r.resType = cudaResourceTypeMipmappedArray;
      r.res.mipmap.mipmap = ma;
      Opt o;
      o.norm = 1;
      o.f = (cudaTextureFilterMode)lin;
      o.mf = (cudaTextureFilterMode)mf;
      o.maxl = 4;
      cudaTextureObject_t t = obj(r, o);
      std::vector<float4> f;
      for (int i = -256; i <= 5 * 1024; i++) f.push_back({.4f, .4f, i / 1024.f, 0});
      char n[32];
      sprintf(n, "lod_%d_%d", lin, mf);
      run<float4, float>(n, kl, t, f);
      f.clear();
      for (int i = 0; i < 4096; i++) {
        float s = exp2f(uni() * 8 - 8);
        f.push_back({i < 1024 ? s : s * uni(), i < 1024 ? 0 : s * uni(), i < 1024 ? 0 : s * uni(),
                     i < 1024 ? 0 : s * uni()});
      }
      sprintf(n, "grad_%d_%d", lin, mf);
      save((std::string(n) + "_in").c_str(), f.data(), f.size() * 16);
      run<float4, float>(n, kg, t, f);
    }
  {
    std::vector<float> m(6 * 16);
    for (int i = 0; i < 96; i++) m[i] = i;
    std::vector<float4> f;
    for (int i = 0; i < 20000; i++) {
      float a = uni() * 2 - 1, b = uni() * 2 - 1, c = uni() * 2 - 1;
      f.push_back({a, b, c, 0});
    }
    save("cube_in", f.data(), f.size() * 16);
    Opt o;
    o.norm = 1;
    run<float4, float>("cube_linear", kc, tex3(m, 4, 4, 6, cudaArrayCubemap, o), f);
    o.f = cudaFilterModePoint;
    run<float4, float>("cube_point", kc, tex3(m, 4, 4, 6, cudaArrayCubemap, o), f);
  }
  {
    cudaChannelFormatDesc c = cudaCreateChannelDesc<unsigned>();
    cudaArray_t a;
    CK(cudaMallocArray(&a, &c, 8, 8, cudaArraySurfaceLoadStore));
    std::vector<unsigned> m(64);
    for (int i = 0; i < 64; i++) m[i] = i;
    CK(cudaMemcpy2DToArray(a, 0, 0, m.data(), 32, 32, 8, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t s;
    CK(cudaCreateSurfaceObject(&s, &r));
    unsigned* o;
    CK(cudaMalloc(&o, 4096));
    ks<<<1, 16>>>(s, o);
    CK(cudaDeviceSynchronize());
    std::vector<unsigned> h(96);
    CK(cudaMemcpy(h.data(), o, 384, cudaMemcpyDeviceToHost));
    save("surf_read", h.data(), 384);
    kw<<<1, 16>>>(s);
    CK(cudaDeviceSynchronize());
    CK(cudaMemcpy2DFromArray(m.data(), 32, a, 0, 0, 32, 8, cudaMemcpyDeviceToHost));
    save("surf_write", m.data(), 256);
    int* q;
    CK(cudaMalloc(&q, 64));
    int hq[6];
    Opt op;
    op.f = cudaFilterModePoint;
    std::vector<float> z(7 * 5 * 3);
    kq<<<1, 1>>>(tex3(z, 7, 5, 3, 0, op), q);
    CK(cudaMemcpy(hq, q, 24, cudaMemcpyDeviceToHost));
    save("txq3d", hq, 24);
    kq<<<1, 1>>>(tex3(z, 7, 5, 3, cudaArrayLayered, op), q);
    CK(cudaMemcpy(hq, q, 24, cudaMemcpyDeviceToHost));
    save("txqlayered", hq, 24);
  }
  std::vector<float> z(64 * 64, 0.f);
  std::vector<float4> z4(64 * 64, make_float4(0, 0, 0, 0));
  Opt pt;
  pt.f = cudaFilterModePoint;
  times<0>("tex2d_point", tex2(z, 64, 64, pt));
  times<0>("tex2d_linear", tex2(z, 64, 64, {}));
  times<1>("tex2d_float4_point", tex2(z4, 64, 64, pt));
  times<1>("tex2d_float4_linear", tex2(z4, 64, 64, {}));
  {
    std::vector<uchar4> u(4096, make_uchar4(0, 0, 0, 0));
    Opt o;
    o.r = cudaReadModeNormalizedFloat;
    times<1>("tex2d_uchar4_linear", tex2(u, 64, 64, o));
  }
  times<2>("tex3d_linear", tex3(z, 16, 16, 16, 0, {}));
  {
    float* d = up(z);
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeLinear;
    r.res.linear.devPtr = d;
    r.res.linear.desc = cudaCreateChannelDesc<float>();
    r.res.linear.sizeInBytes = 16384;
    times<3>("tex1dfetch", obj(r, pt));
    float4* e = up(z4);
    r.res.linear.devPtr = e;
    r.res.linear.desc = cudaCreateChannelDesc<float4>();
    r.res.linear.sizeInBytes = 65536;
    times<4>("tex1dfetch4", obj(r, pt));
  }
  {
    cudaChannelFormatDesc c = cudaCreateChannelDesc<int>();
    cudaArray_t a;
    CK(cudaMallocArray(&a, &c, 64, 64, cudaArraySurfaceLoadStore));
    std::vector<int> m(4096, 0);
    CK(cudaMemcpy2DToArray(a, 0, 0, m.data(), 256, 256, 64, cudaMemcpyHostToDevice));
    cudaResourceDesc r = {};
    r.resType = cudaResourceTypeArray;
    r.res.array.array = a;
    cudaSurfaceObject_t s;
    CK(cudaCreateSurfaceObject(&s, &r));
    int* o;
    long long *cc, h;
    CK(cudaMalloc(&o, 8192));
    CK(cudaMalloc(&cc, 64));
    slat<<<1, 1>>>(s, o, cc, 256);
    CK(cudaMemcpy(&h, cc, 8, cudaMemcpyDeviceToHost));
    fprintf(tm_, "surf2dread latency1 %.2f\n", h / 256.);
  }
  CK(cudaDeviceSynchronize());
  fclose(data);
  fclose(idx);
  fclose(tm_);
  puts("done");
}
