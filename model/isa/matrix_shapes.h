// The register fragments of matrix instructions: how many registers a lane gives to A, B, C and D.
//
// Models:  HMMA, IMMA, BMMA, QMMA, OMMA (warp-wide), DMMA, and the warpgroup MMAs of sm_90a, whose B (and A) may come from
//          shared memory. LDSM and STSM move 1, 2 or 4 matrices of 8x8.
// Source:  PTX ISA, mma; our probe kernels: fragments equal those of PTX's mma, elements packed into 32-bit registers: a lane holds
//          M*K/32 elements of A, N*K/32 of B and M*N/32 of C and D.
#pragma once

#include "model/isa/program.h"

namespace foretrace::isa {

struct MatrixShape {
  int m = 0, n = 0, k = 0;
};

/// 32-bit registers per lane.
struct MatrixRegisters {
  int a = 0, b = 0, c = 0, d = 0;
};

/// "16816" -> 16x8x16, "64x128x16" -> as printed, "884" and "8x8x4" -> 8x8x4. False when not a matrix instruction or the
/// shape is unknown.
bool matrix_shape(const Instruction& instruction, MatrixShape& shape);

/// False for anything but a matrix instruction of a known shape.
bool matrix_registers(const Instruction& instruction, MatrixRegisters& registers);

/// LDSM, STSM: 8x8 matrices moved, 1, 2 or 4.
int matrix_count(const Instruction& instruction);

/// Code with products of matrices, other than of doubles: for these the chip lowers its SMs' clock (GpuSpec::product_clock).
bool makes_products(const Program& program);

}  // namespace foretrace::isa
