#include "model/isa/matrix_shapes.h"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace foretrace::isa {
namespace {

bool is_warp_matrix(Opcode opcode) {
  switch (opcode) {
    case Opcode::HMMA:
    case Opcode::IMMA:
    case Opcode::BMMA:
    case Opcode::QMMA:
    case Opcode::OMMA:
    case Opcode::DMMA: return true;
    default: return false;
  }
}

bool is_warpgroup_matrix(Opcode opcode) {
  return opcode == Opcode::HGMMA || opcode == Opcode::IGMMA || opcode == Opcode::QGMMA ||
         opcode == Opcode::BGMMA;
}

/// "64x128x16".
bool spelled_shape(std::string_view text, MatrixShape& shape) {
  int* const fields[] = {&shape.m, &shape.n, &shape.k};
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  for (int* field : fields) {
    if (field != fields[0]) {
      if (at == end || *at != 'x') return false;
      ++at;
    }
    const auto [stop, error] = std::from_chars(at, end, *field);
    if (error != std::errc{}) return false;
    at = stop;
  }
  return at == end;
}

/// "16816": the digits run together; M is 8 or 16 and N is 8 in all that exist.
bool packed_shape(std::string_view text, MatrixShape& shape) {
  shape.m = text.substr(0, 2) == "16" ? 16 : 8;
  const std::string_view rest = text.substr(shape.m == 16 ? 2 : 1);
  if (text.empty() || text.front() != (shape.m == 16 ? '1' : '8') || rest.size() < 2 || rest.front() != '8')
    return false;
  shape.n = 8;
  const auto [stop, error] = std::from_chars(rest.data() + 1, rest.data() + rest.size(), shape.k);
  return error == std::errc{} && stop == rest.data() + rest.size();
}

/// Bits of an element of A and B.
int element_bits(const Instruction& in) {
  switch (in.opcode) {
    case Opcode::DMMA: return 64;
    case Opcode::BMMA:
    case Opcode::BGMMA: return 1;
    case Opcode::IMMA:
    case Opcode::IGMMA: return in.has("S4") || in.has("U4") ? 4 : 8;
    case Opcode::QMMA:
    case Opcode::QGMMA: return 8;  // fp6 and fp4 stand in bytes
    case Opcode::OMMA: return 4;
    default: return in.has("TF32") ? 32 : 16;
  }
}

/// Bits of an element of C and D.
int accumulator_bits(const Instruction& in) {
  if (in.opcode == Opcode::DMMA) return 64;
  // HMMA.16816.F16 accumulates in halves; a first F32 names the accumulator.
  if (in.opcode == Opcode::HMMA || in.opcode == Opcode::QMMA || in.opcode == Opcode::HGMMA ||
      in.opcode == Opcode::QGMMA) {
    return in.has("F32") ? 32 : 16;
  }
  return 32;
}

}  // namespace

bool matrix_shape(const Instruction& in, MatrixShape& shape) {
  if (!is_warp_matrix(in.opcode) && !is_warpgroup_matrix(in.opcode)) return false;
  for (const std::string& modifier : in.modifiers) {
    MatrixShape found;
    if (!spelled_shape(modifier, found) && !packed_shape(modifier, found)) continue;
    shape = found;
    return true;
  }
  return false;
}

bool matrix_registers(const Instruction& in, MatrixRegisters& out) {
  MatrixShape shape;
  if (!matrix_shape(in, shape)) return false;
  const int lanes = is_warpgroup_matrix(in.opcode) ? 128 : 32;
  const bool sparse = in.has("SP");  // A holds half of its K elements
  const int input = element_bits(in);
  const auto registers = [&](int elements, int bits) { return (elements * bits / lanes + 31) / 32; };
  out.a = registers(shape.m * shape.k / (sparse ? 2 : 1), input);
  out.b = registers(shape.n * shape.k, input);
  out.c = registers(shape.m * shape.n, accumulator_bits(in));
  out.d = out.c;
  return true;
}

int matrix_count(const Instruction& in) {
  const int tiles = in.has("4") ? 4 : in.has("2") ? 2 : 1;
  return in.has("MT1616") ? 2 * tiles : tiles;  // of 16 rows
}

bool makes_products(const Program& program) {
  return std::any_of(program.code.begin(), program.code.end(), [](const Instruction& instruction) {
    MatrixShape shape;
    return instruction.opcode != Opcode::DMMA && matrix_shape(instruction, shape);
  });
}

}  // namespace foretrace::isa
