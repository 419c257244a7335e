// What do lookups in textures take, by the kind of texture and by where the lanes' texels lie?
//
// Models:  each lane of a warp looks up a texel of its own: neighbours in a row, a column, a tile of eight by four, random ones of a small area,
//          or all the same one; one after the other or eight at a time; hits of one SM, and all SMs that walk through what L2 or only DRAM holds.
// Ignores: mip levels, gradients, gathers and border modes.
// Source:  counters of ncu: SM active cycles, sectors and hits of l1tex, states of the warps, a line per launch.
#include <algorithm>
#include <utility>

#include "bench.cuh"

using namespace bench;

namespace {

enum Kind : int { fetch, fetch_wide, point, linear, bytes_linear, wide_point, wide_linear, half_linear, layered, volume, pitched, surface_read, surface_write, kinds };
const char* const kNames[] = {"tex1Dfetch<float>",   "tex1Dfetch<float4>",  "tex2D<float>",        "tex2D<float>, linear",       "tex2D<uchar4>, linear",
                              "tex2D<float4>",       "tex2D<float4>, linear", "tex2D<half2>, linear", "tex2DLayered<float>, linear", "tex3D<float>, linear",
                              "tex2D<float> of pitched memory", "surf2Dread<float>", "surf2Dwrite<float>"};
enum Pattern : int { row, column, tile, random_texels, same, patterns };
const char* const kPatterns[] = {"row", "column", "tile", "random", "same"};

constexpr int kUnrolled = 8;

/// Where a launch's warps look: their lanes' places, `lanes` of 32, and how far from each other (texels; powers of two).
struct Walk {
  const int2* lanes;
  int wide, high;         // of the area that they stay in
  int across, down;       // of one warp's places
  int step_across, step_down;  // from a round's places to the next one's
  float zero;             // which the compiler does not know
};

template <int kKind>
__device__ __forceinline__ float look_up(cudaTextureObject_t texture, cudaSurfaceObject_t surface, int x, int y, float extra, int wide) {
  const float u = static_cast<float>(x) + extra, v = static_cast<float>(y) + 0.5f;
  if constexpr (kKind == fetch) return tex1Dfetch<float>(texture, y * wide + x + static_cast<int>(extra));
  if constexpr (kKind == fetch_wide) {
    const float4 t = tex1Dfetch<float4>(texture, y * wide + x + static_cast<int>(extra));
    return t.x + t.y + t.z + t.w;
  }
  if constexpr (kKind == point || kKind == linear || kKind == pitched) return tex2D<float>(texture, u, v);
  if constexpr (kKind == bytes_linear || kKind == wide_point || kKind == wide_linear) {
    const float4 t = tex2D<float4>(texture, u, v);
    return t.x + t.y + t.z + t.w;
  }
  if constexpr (kKind == half_linear) {
    const float2 t = tex2D<float2>(texture, u, v);
    return t.x + t.y;
  }
  if constexpr (kKind == layered) return tex2DLayered<float>(texture, u, v, 1);
  if constexpr (kKind == volume) return tex3D<float>(texture, u, v, 1.0f);
  if constexpr (kKind == surface_read) return surf2Dread<float>(surface, 4 * (x + static_cast<int>(extra)), y);
  if constexpr (kKind == surface_write) surf2Dwrite(extra, surface, 4 * x, y);
  return 0;
}

template <int kKind, bool kChain>
__global__ void __launch_bounds__(1024) lookups(cudaTextureObject_t texture, cudaSurfaceObject_t surface, Walk walk, int rounds, float* sink) {
  const int warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  const int2 lane = walk.lanes[threadIdx.x % 32];
  int x = (warp * walk.across) & (walk.wide - 1);
  int y = (warp * walk.across / walk.wide * walk.down * rounds) & (walk.high - 1);
  float sum = 0.25f;
#pragma unroll 1
  for (int round = 0; round < rounds; round += kUnrolled) {
    float values[kUnrolled];
#pragma unroll
    for (int i = 0; i < kUnrolled; ++i) {
      const float extra = kChain ? 0.25f + sum * walk.zero : 0.25f;
      values[i] = look_up<kKind>(texture, surface, x + lane.x, y + lane.y, extra, walk.wide);
      if (kChain) sum = values[i];
      x = (x + walk.step_across) & (walk.wide - 1);
      y = (y + walk.step_down) & (walk.high - 1);
    }
    if (!kChain) {
#pragma unroll
      for (int i = 0; i < kUnrolled; ++i) sum += values[i];
    }
  }
  if (sum == 12345.0f) *sink = sum;
}

struct Textures {
  cudaTextureObject_t texture[kinds] = {};
  cudaSurfaceObject_t surface = 0;
};

cudaTextureObject_t texture_of(const cudaResourceDesc& from, bool filters, bool normalized) {
  cudaTextureDesc how = {};
  how.addressMode[0] = how.addressMode[1] = how.addressMode[2] = cudaAddressModeClamp;
  how.filterMode = filters ? cudaFilterModeLinear : cudaFilterModePoint;
  how.readMode = normalized ? cudaReadModeNormalizedFloat : cudaReadModeElementType;
  cudaTextureObject_t texture = 0;
  CHECK(cudaCreateTextureObject(&texture, &from, &how, nullptr));
  return texture;
}

cudaResourceDesc array_of(cudaChannelFormatDesc texel, int wide, int high, int deep, unsigned flags) {
  cudaResourceDesc from = {};
  from.resType = cudaResourceTypeArray;
  if (deep == 0) {
    CHECK(cudaMallocArray(&from.res.array.array, &texel, wide, high, flags));
  } else {
    CHECK(cudaMalloc3DArray(&from.res.array.array, &texel, make_cudaExtent(wide, high, deep), flags));
  }
  return from;
}

Textures textures_of(int wide, int high, float* memory) {
  const auto one = cudaCreateChannelDesc<float>(), four = cudaCreateChannelDesc<float4>();
  Textures all;
  cudaResourceDesc from = {};
  from.resType = cudaResourceTypeLinear;
  from.res.linear.devPtr = memory;
  from.res.linear.desc = one;
  from.res.linear.sizeInBytes = std::size_t{4} * wide * high;
  all.texture[fetch] = texture_of(from, false, false);
  from.res.linear.desc = four;
  from.res.linear.sizeInBytes *= 4;
  all.texture[fetch_wide] = texture_of(from, false, false);
  const cudaResourceDesc floats = array_of(one, wide, high, 0, cudaArraySurfaceLoadStore);
  const cudaResourceDesc fours = array_of(four, wide, high, 0, 0);
  all.texture[point] = texture_of(floats, false, false);
  all.texture[linear] = texture_of(floats, true, false);
  all.texture[wide_point] = texture_of(fours, false, false);
  all.texture[wide_linear] = texture_of(fours, true, false);
  all.texture[bytes_linear] = texture_of(array_of(cudaCreateChannelDesc<uchar4>(), wide, high, 0, 0), true, true);
  all.texture[half_linear] = texture_of(array_of(cudaCreateChannelDesc(16, 16, 0, 0, cudaChannelFormatKindFloat), wide, high, 0, 0), true, false);
  all.texture[layered] = texture_of(array_of(one, wide, high, 2, cudaArrayLayered), true, false);
  all.texture[volume] = texture_of(array_of(one, wide, high, 2, 0), true, false);
  from = {};
  from.resType = cudaResourceTypePitch2D;
  from.res.pitch2D.devPtr = memory;
  from.res.pitch2D.desc = one;
  from.res.pitch2D.width = wide;
  from.res.pitch2D.height = high;
  from.res.pitch2D.pitchInBytes = std::size_t{4} * wide;
  all.texture[pitched] = texture_of(from, false, false);
  CHECK(cudaCreateSurfaceObject(&all.surface, &floats));
  return all;
}

/// Places of a warp's lanes, and how wide and high they lie (texels).
struct Places {
  int2 lanes[32];
  int across, down;
};

Places places_of(int pattern) {
  Places places = {{}, 1, 1};
  unsigned state = 12345;
  for (int l = 0; l < 32; ++l) {
    state = state * 1664525u + 1013904223u;
    switch (pattern) {
      case row: places.lanes[l] = {l, 0}; break;
      case column: places.lanes[l] = {0, l}; break;
      case tile: places.lanes[l] = {l % 8, l / 8}; break;
      case random_texels: places.lanes[l] = {static_cast<int>(state >> 20) % 32, static_cast<int>(state >> 27)}; break;
      default: places.lanes[l] = {0, 0};
    }
    places.across = std::max(places.across, pattern == random_texels ? 32 : places.lanes[l].x + 1);
    places.down = std::max(places.down, pattern == random_texels ? 32 : places.lanes[l].y + 1);
  }
  return places;
}

struct Asked {
  int pattern, warps, blocks, rounds;
  bool walks;  // through the whole texture
};

template <int kKind, bool kChain>
void ask(int& launch, const Textures& all, const Asked& asked, int wide, int high, Buffer<int2>& lanes, float* sink) {
  const Places places = places_of(asked.pattern);
  CHECK(cudaMemcpy(lanes.get(), places.lanes, sizeof places.lanes, cudaMemcpyHostToDevice));
  Walk walk = {lanes.get(), wide, high, places.across, places.down, 0, 0, 0};
  if (asked.walks) {
    walk.step_down = places.down;
  } else {  // an area of 32 x 32 texels for all
    walk.wide = walk.high = 32;
    walk.across = 0;
  }
  if (kKind == fetch || kKind == fetch_wide) walk.wide = asked.walks ? wide : 64;
  lookups<kKind, kChain><<<asked.blocks, 32 * asked.warps>>>(all.texture[kKind], all.surface, walk, asked.rounds, sink);
  CHECK(cudaGetLastError());
  CHECK(cudaDeviceSynchronize());
  Answer("texture_lookups", "lookups in textures")
      .add("launch", launch++).add_text("kind", kNames[kKind]).add_text("lanes", kPatterns[asked.pattern]).add("chain", kChain)
      .add("wide", asked.walks ? wide : 32).add("warps", asked.warps).add("blocks", asked.blocks).add("rounds", asked.rounds)
      .print(asked.rounds, "rounds", 0);
}

template <int kKind>
void ask_kind(int& launch, const Textures& small, const Textures& large, int sms, Buffer<int2>& lanes, float* sink) {
  for (int pattern = 0; pattern < patterns; ++pattern) {
    for (const int rounds : {32, 64}) {
      if (kKind != surface_write) ask<kKind, true>(launch, small, {pattern, 1, 1, rounds, false}, 1024, 1024, lanes, sink);
      ask<kKind, false>(launch, small, {pattern, 1, 1, rounds, false}, 1024, 1024, lanes, sink);
      ask<kKind, false>(launch, small, {pattern, 32, 1, rounds, false}, 1024, 1024, lanes, sink);
    }
    if (pattern == random_texels || pattern == same) continue;
    ask<kKind, false>(launch, small, {pattern, 16, sms, 64, true}, 1024, 1024, lanes, sink);
    ask<kKind, false>(launch, large, {pattern, 16, sms, 32, true}, 4096, 4096, lanes, sink);
  }
}

template <int... kKinds>
void ask_kinds(std::integer_sequence<int, kKinds...>, int& launch, const Textures& small, const Textures& large, int sms, Buffer<int2>& lanes, float* sink) {
  (ask_kind<kKinds>(launch, small, large, sms, lanes, sink), ...);
}

}  // namespace

int main() {
  Buffer<float> memory(std::size_t{4} << 24), sink(1);
  Buffer<int2> lanes(32);
  memory.zero();
  int sms = 0, launch = 0;
  CHECK(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
  const Textures small = textures_of(1024, 1024, memory.get()), large = textures_of(4096, 4096, memory.get());
  ask_kinds(std::make_integer_sequence<int, kinds>(), launch, small, large, sms, lanes, sink.get());
  return 0;
}
