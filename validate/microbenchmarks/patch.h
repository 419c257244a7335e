// Writing instruction words into a compiled kernel before it is loaded, and running it.
//
// Models:  a cubin's .text section as 16-byte words; the control bits of sm_70 and later (stall count
//          at bit 105, yield at 109, write and read scoreboard at 110 and 113, wait mask at 116, reuse
//          at 122; registers at 16, 24, 32 and 64).
// Ignores: relocations, other sections, branches: only arithmetic, memory and clock instructions of a
//          straight line are replaced.
// Source:  what nvdisasm prints for our own kernels of sm_90.
#pragma once

#include <cuda.h>
#include <elf.h>

#include <cstring>
#include <fstream>
#include <iterator>

#include "bench.cuh"

namespace bench {

inline void check_driver(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = "unknown";
  cuGetErrorString(result, &text);
  std::fprintf(stderr, "%s: %s\n", what, text);
  std::exit(1);
}

struct Word {
  std::uint64_t low = 0, high = 0;
};

/// The control bits of one instruction. `keep_going` is the yield bit as stored: 0 asks the scheduler
/// to prefer another warp; stall counts above 11 exist only with it at 0. Scoreboard 7 is none.
struct Control {
  unsigned stall = 1;
  unsigned keep_going = 1;
  unsigned write_scoreboard = 7;
  unsigned read_scoreboard = 7;
  unsigned wait_mask = 0;
  unsigned reuse = 0;
};

inline Word with_control(Word w, const Control& c) {
  w.high |= static_cast<std::uint64_t>(c.stall) << 41 |
            static_cast<std::uint64_t>(c.stall > 11 ? 0 : c.keep_going) << 45 |
            static_cast<std::uint64_t>(c.write_scoreboard) << 46 |
            static_cast<std::uint64_t>(c.read_scoreboard) << 49 |
            static_cast<std::uint64_t>(c.wait_mask) << 52 | static_cast<std::uint64_t>(c.reuse) << 58;
  return w;
}

/// The bytes of a cubin and where its kernel "slots" lies in them.
struct Cubin {
  std::vector<char> image;
  std::size_t begin = 0, end = 0;  // of .text.slots

  Word at(std::size_t offset) const {
    Word w;
    std::memcpy(&w, image.data() + offset, sizeof w);
    return w;
  }
};

inline Cubin read_cubin(const std::string& path) {
  Cubin cubin;
  std::ifstream file(path, std::ios::binary);
  cubin.image.assign(std::istreambuf_iterator<char>(file), {});
  Elf64_Ehdr header;
  if (cubin.image.size() >= sizeof header) {
    std::memcpy(&header, cubin.image.data(), sizeof header);
    std::vector<Elf64_Shdr> sections(header.e_shnum);
    std::memcpy(sections.data(), cubin.image.data() + header.e_shoff, sections.size() * sizeof(Elf64_Shdr));
    const char* names = cubin.image.data() + sections[header.e_shstrndx].sh_offset;
    for (const Elf64_Shdr& s : sections) {
      if (std::strcmp(names + s.sh_name, ".text.slots") != 0) continue;
      cubin.begin = s.sh_offset;
      cubin.end = s.sh_offset + s.sh_size;
    }
  }
  if (cubin.begin == 0) {
    std::fprintf(stderr, "%s: no kernel \"slots\"; expected a cubin built by nvcc -cubin\n", path.c_str());
    std::exit(2);
  }
  return cubin;
}

/// True for FFMA with registers alone or with a uniform register.
inline bool is_ffma(Word w) { return (w.low & 0xfff) == 0x223 || (w.low & 0xfff) == 0xe23; }

/// A loaded kernel, gone with the object.
class Loaded {
 public:
  explicit Loaded(const std::vector<char>& image) {
    check_driver(cuModuleLoadData(&module_, image.data()), "cuModuleLoadData");
    check_driver(cuModuleGetFunction(&function_, module_, "slots"), "cuModuleGetFunction");
  }
  ~Loaded() { cuModuleUnload(module_); }
  Loaded(const Loaded&) = delete;
  Loaded& operator=(const Loaded&) = delete;
  void launch(unsigned threads, void** arguments) {
    check_driver(cuLaunchKernel(function_, 1, 1, 1, threads, 1, 1, 0, nullptr, arguments, nullptr),
                 "cuLaunchKernel");
    CHECK(cudaDeviceSynchronize());
  }

 private:
  CUmodule module_ = nullptr;
  CUfunction function_ = nullptr;
};

}  // namespace bench
