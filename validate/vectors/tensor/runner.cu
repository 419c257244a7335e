// Runs the forms of forms.txt on this machine's GPU: answers.txt has a line for each (name, hash, or what went wrong), answers.bin the
// words of each in order. `runner FIRST LAST` for a part; a form that kills the context ends the run, and its line says so.
#include <cuda.h>
#include <cuda_runtime.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iostream>
#include <sstream>
#include <string>

#include "fill.h"

struct Place { int at[5]; int offset[3]; unsigned shared, bytes; };

static std::vector<long long> list(const std::string& text) {
  std::vector<long long> v;
  if (text == "-") return v;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, ',');) v.push_back(std::stoll(part));
  return v;
}

int main(int argc, char** argv) {
  const int first = argc > 1 ? std::atoi(argv[1]) : 0, last = argc > 2 ? std::atoi(argv[2]) : 1 << 30;
  FILE* text = std::fopen((std::string(argv[3]) + ".txt").c_str(), "a");
  FILE* words = std::fopen((std::string(argv[3]) + ".bin").c_str(), "ab");
  cudaLibrary_t library;
  if (cudaLibraryLoadFromFile(&library, "forms.cubin", nullptr, nullptr, 0, nullptr, nullptr, 0) != cudaSuccess) return std::puts("no cubin"), 1;
  void* encode_tiled = nullptr; void* encode_im2col = nullptr;
  cudaDriverEntryPointQueryResult found;
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeTiled", &encode_tiled, 12000, cudaEnableDefault, &found);
  cudaGetDriverEntryPointByVersion("cuTensorMapEncodeIm2col", &encode_im2col, 12000, cudaEnableDefault, &found);
  unsigned *in, *out, *tensor; void* map;
  const std::size_t in_bytes = 4 * (17024 + 128 * 128), out_bytes = 4 * (kSharedWords + 1), tensor_bytes = 8 << 20;
  cudaMalloc(&in, in_bytes); cudaMalloc(&out, out_bytes + 65536); cudaMalloc(&tensor, tensor_bytes); cudaMalloc(&map, 128);
  std::ifstream table("forms.txt");
  std::string line;
  for (int index = 0; std::getline(table, line); ++index) {
    if (index < first || index > last) continue;
    std::stringstream f(line);
    std::string what, name, kernel_name;
    f >> what >> name >> kernel_name;
    cudaKernel_t kernel;
    if (cudaLibraryGetKernel(&kernel, library, kernel_name.c_str()) != cudaSuccess) { std::fprintf(text, "%d %s no kernel\n", index, name.c_str()); continue; }
    cudaFuncSetAttribute((const void*)kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 65536 + 2048);
    std::vector<std::uint32_t> answer;
    std::string problem;
    if (what == "w") {
      int registers, pattern, kind, meta; unsigned long long da, db; unsigned sd, mask; std::string mask_text;
      f >> registers >> std::hex >> da >> db >> std::dec >> sd >> pattern >> mask_text >> kind >> meta;
      mask = (unsigned)std::stoul(mask_text, nullptr, 16);
      const auto input = product_input((unsigned)index, registers, pattern, mask, kind, meta != 0);
      cudaMemcpy(in, input.data(), input.size() * 4, cudaMemcpyHostToDevice);
      cudaMemset(out, 0, out_bytes);
      void* arguments[] = {&in, &out, &da, &db, &sd};
      const bool warp = name.rfind("mma_", 0) == 0;
      cudaLaunchKernel((const void*)kernel, dim3(1), dim3(warp ? 32 : 128), arguments, warp ? 0 : 65536 + 1024, 0);
      answer.resize(128 * registers);
      const cudaError_t status = cudaMemcpy(answer.data(), out, answer.size() * 4, cudaMemcpyDeviceToHost);
      if (status != cudaSuccess) problem = cudaGetErrorName(status);
    } else {
      int type, rank, inter, swz, fill, pattern; unsigned shared, bytes; unsigned long long size;
      std::string dims_t, strides_t, box_t, es_t, lower_t, upper_t, at_t, off_t;
      f >> type >> rank >> dims_t >> strides_t >> box_t >> es_t >> inter >> swz >> fill >> lower_t >> upper_t >> at_t >> off_t >> shared >> bytes >> size >> pattern;
      const auto dims = list(dims_t), strides = list(strides_t), box = list(box_t), es = list(es_t), lower = list(lower_t), upper = list(upper_t), at = list(at_t), off = list(off_t);
      cuuint64_t d[5], s[5]; cuuint32_t b[5], e[5]; int lo[3], up[3];
      for (int i = 0; i < rank; ++i) { d[i] = dims[i]; e[i] = (cuuint32_t)es[i]; if (i > 0) s[i - 1] = strides[i - 1]; if (lower.empty()) b[i] = (cuuint32_t)box[i]; }
      for (std::size_t i = 0; i < lower.size(); ++i) { lo[i] = (int)lower[i]; up[i] = (int)upper[i]; }
      alignas(64) CUtensorMap host;
      CUresult made;
      if (lower.empty()) {
        made = ((decltype(&cuTensorMapEncodeTiled))encode_tiled)(&host, (CUtensorMapDataType)type, rank, tensor, d, s, b, e, (CUtensorMapInterleave)inter, (CUtensorMapSwizzle)swz, CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)fill);
      } else {
        made = ((decltype(&cuTensorMapEncodeIm2col))encode_im2col)(&host, (CUtensorMapDataType)type, rank, tensor, d, s, lo, up, (cuuint32_t)box[0], (cuuint32_t)box[1], e, (CUtensorMapInterleave)inter, (CUtensorMapSwizzle)swz, CU_TENSOR_MAP_L2_PROMOTION_NONE, (CUtensorMapFloatOOBfill)fill);
      }
      if (made != CUDA_SUCCESS) { std::fprintf(text, "%d %s encode %d\n", index, name.c_str(), (int)made); std::fflush(text); continue; }
      std::uint32_t map_words[32]; std::memcpy(map_words, &host, 128);
      std::fprintf(text, "%d %s map", index, name.c_str());
      for (int i = 2; i < 32; ++i) std::fprintf(text, " %x", map_words[i]);
      std::fprintf(text, "\n");
      std::vector<std::uint32_t> data((size + 3) / 4 + 16), input(kSharedWords);
      for (std::uint32_t i = 0; i < data.size(); ++i) data[i] = tensor_word((unsigned)index, i, pattern);
      for (std::uint32_t i = 0; i < input.size(); ++i) input[i] = tensor_word((unsigned)index + 5000, i, pattern);
      cudaMemcpy(tensor, data.data(), data.size() * 4, cudaMemcpyHostToDevice);
      cudaMemcpy(in, input.data(), input.size() * 4, cudaMemcpyHostToDevice);
      cudaMemcpy(map, &host, 128, cudaMemcpyHostToDevice);
      cudaMemset(out, 0, out_bytes);
      Place place{}; place.shared = shared; place.bytes = bytes;
      for (int i = 0; i < rank; ++i) place.at[i] = (int)at[i];
      for (std::size_t i = 0; i < off.size(); ++i) place.offset[i] = (int)off[i];
      void* arguments[] = {&in, &out, &map, &place};
      cudaLaunchKernel((const void*)kernel, dim3(1), dim3(128), arguments, 65536 + 1024, 0);
      const bool loads = kernel_name[1] == 'l';
      answer.resize(loads ? kSharedWords + 1 : data.size());
      const cudaError_t status = cudaMemcpy(answer.data(), loads ? out : tensor, answer.size() * 4, cudaMemcpyDeviceToHost);
      if (status != cudaSuccess) problem = cudaGetErrorName(status);
      if (loads && status == cudaSuccess) {
        if (answer[kSharedWords] != 0) problem = "no completion";
        answer.resize(shared + bytes > 65536 ? kSharedWords : (shared + bytes + 1023) / 1024 * 256);
      }
    }
    if (!problem.empty()) {
      std::fprintf(text, "%d %s failed %s\n", index, name.c_str(), problem.c_str());
      std::fflush(text);
      if (problem != "no completion") return 10;  // the context is lost
      continue;
    }
    std::fprintf(text, "%d %s words %zu %016llx\n", index, name.c_str(), answer.size(), (unsigned long long)hash_words(answer.data(), answer.size()));
    std::fflush(text);
    std::fwrite(answer.data(), 4, answer.size(), words);
    std::fflush(words);
  }
  return 0;
}
