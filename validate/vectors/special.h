// The sweeps over the special functions (MUFU): which function, from which operand bits, in which steps, how many.
//
// Models:  the multifunction unit's own operands: MUFU.SIN and MUFU.COS take turns, MUFU.RCP64H and RSQ64H a double's high word.
// Source:  function codes: as nvcc 13 encodes them. Ranges are ours: whole binades where a table could be read from the answers.
// Units:   operand and answer bits. C++17, no library.
#pragma once

#include <cstdint>

namespace foretrace::vectors {

struct Sweep {
  const char* function;  ///< also the cubin: special_FUNCTION.sm_NN.cubin
  std::uint32_t first, step, count;
};

inline const Sweep kSweeps[] = {
    {"rcp", 0x3f800000, 1, 1u << 23},
    {"rcp", 0x00000000, 0x00003fff, 1u << 18},
    {"rsq", 0x3f800000, 1, 1u << 24},
    {"rsq", 0x00000000, 0x00003fff, 1u << 18},
    {"sqrt", 0x3f800000, 1, 1u << 24},
    {"sqrt", 0x00000000, 0x00003fff, 1u << 18},
    {"lg2", 0x3f800000, 1, 1u << 23},
    {"lg2", 0x3f000000, 1, 1u << 23},
    {"lg2", 0x40000000, 8, 1u << 20},
    {"lg2", 0x42000000, 8, 1u << 20},
    {"lg2", 0x3c000000, 8, 1u << 20},
    {"lg2", 0x00000000, 0x00003fff, 1u << 18},
    {"ex2", 0x3f800000, 1, 1u << 23},
    {"ex2", 0x3f000000, 1, 1u << 23},
    {"ex2", 0x3e000000, 4, 1u << 22},
    {"ex2", 0xbf800000, 8, 1u << 20},
    {"ex2", 0x41200000, 8, 1u << 20},
    {"ex2", 0x00000000, 0x00003fff, 1u << 18},
    {"ex2", 0xc2fc0000, 4, 1u << 18},
    {"sin", 0x3d800000, 4, 1u << 22},
    {"sin", 0x3e800000, 8, 1u << 20},
    {"sin", 0x3f800000, 8, 1u << 20},
    {"sin", 0x3c800000, 8, 1u << 21},
    {"sin", 0x00000000, 0x00003fff, 1u << 18},
    {"cos", 0x3d800000, 4, 1u << 22},
    {"cos", 0x3e800000, 8, 1u << 20},
    {"cos", 0x3f800000, 8, 1u << 20},
    {"cos", 0x3c800000, 8, 1u << 21},
    {"cos", 0x00000000, 0x00003fff, 1u << 18},
    {"tanh", 0x3f000000, 1, 1u << 20},
    {"tanh", 0x38000000, 64, 1u << 20},
    {"tanh", 0x3c000000, 16, 1u << 22},
    {"tanh", 0x40000000, 8, 1u << 21},
    {"tanh", 0x00000000, 0x00003fff, 1u << 18},
    {"rcp64h", 0x3ff00000, 1, 1u << 20},
    {"rcp64h", 0x00000000, 0x00003fff, 1u << 18},
    {"rsq64h", 0x3ff00000, 1, 1u << 21},
    {"rsq64h", 0x00000000, 0x00003fff, 1u << 18},
    {"ex2_f16", 0, 1, 1u << 16},
    {"tanh_f16", 0, 1, 1u << 16},
    {"ex2_bf16", 0, 1, 1u << 16},
    {"tanh_bf16", 0, 1, 1u << 16},
};

}  // namespace foretrace::vectors
