// Double-precision arithmetic and comparison on register pairs, 32 lanes at a time.
//
// Models:  IEEE 754 with one rounding, all four directions; a NaN operand is passed on, quieted and
//          without abs and neg, the second one's before the third's before the first's; a new NaN is 0xfff8000000000000 (docs/vectors.md: as an H100 answers).
// Compiled once for each vector instruction set: see vector.h.
#include "sim/emulate/execute/lanes/vector.h"

namespace foretrace::emulate::FORETRACE_LANES {

namespace {

constexpr u64 kQuiet = u64{1} << 51;
constexpr u64 kNewNan = 0xfff8000000000000u;

/// An operand's bits before abs and neg.
struct BitsReader {
  const u32* x;
  [[gnu::always_inline]] u64 operator[](int l) const { return x[l] | static_cast<u64>(x[l + 32]) << 32; }
};
inline BitsReader bits(const LaneFrame& f, const Source& s) { return {words(f, s)}; }
[[gnu::always_inline]] inline bool is_nan(u64 x) { return (x << 1) > (u64{0x7ff} << 53); }

/// A NaN result is an operand's, the second's before the third's before the first's, quieted and otherwise as it was: abs and neg do not reach it.
[[gnu::always_inline]] inline u64 finished(double r, u64 a, u64 b, u64 c) {
  const u64 nan = is_nan(b) ? b | kQuiet : is_nan(c) ? c | kQuiet : is_nan(a) ? a | kQuiet : kNewNan;
  return r != r ? nan : as<u64>(r);
}

void dadd(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  const DoubleReader a = doubles(f, op.a), b = doubles(f, op.b);
  const BitsReader x = bits(f, op.a), y = bits(f, op.b);
  rounded(op.flags,
          [=] { write_wide(d, mask, [=](int l) { return finished(a[l] + b[l], x[l], y[l], 0); }); });
}

void dmul(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  const DoubleReader a = doubles(f, op.a), b = doubles(f, op.b);
  const BitsReader x = bits(f, op.a), y = bits(f, op.b);
  rounded(op.flags,
          [=] { write_wide(d, mask, [=](int l) { return finished(a[l] * b[l], x[l], y[l], 0); }); });
}

void dfma(const LaneFrame& f, const MicroOp& op, u32 mask) {
  u32* d = result(f, op);
  const DoubleReader a = doubles(f, op.a), b = doubles(f, op.b), c = doubles(f, op.c);
  const BitsReader x = bits(f, op.a), y = bits(f, op.b), z = bits(f, op.c);
  rounded(op.flags, [=] {
    write_wide(d, mask, [=](int l) { return finished(__builtin_fma(a[l], b[l], c[l]), x[l], y[l], z[l]); });
  });
}

/// Mode (kModeShift): 0 a comparison; 1 MIN, 2 MAX: P = a is taken, Q = both are NaN.
void dsetp(const LaneFrame& f, const MicroOp& op, u32 mask) {
  const DoubleReader a = doubles(f, op.a), b = doubles(f, op.b);
  const u32 less = lanes_where([=](int l) { return a[l] < b[l]; });
  const u32 equal = lanes_where([=](int l) { return a[l] == b[l]; });
  const u32 greater = lanes_where([=](int l) { return a[l] > b[l]; });
  const u32 mode = op.flags >> kModeShift & 15;
  if (mode != 0) {
    const u32 b_nan = lanes_where([=](int l) { return b[l] != b[l]; });
    const u32 a_nan = lanes_where([=](int l) { return a[l] != a[l]; });
    const u32 a_negative = lanes_where([=](int l) { return as<s64>(a[l]) < 0; });
    const u32 take = mode == 1 ? less | (equal & a_negative) : greater | (equal & ~a_negative);
    set_predicate(f, op.p_out, mask, (take | (b_nan & ~a_nan)) & value_of(f, op.p_in));
    set_predicate(f, op.q_out, mask, a_nan & b_nan);
    return;
  }
  set_compared(f, op, mask, holds(op, less, equal, greater));
}

}  // namespace

void fill_float64(LaneTable& table) {
#define FORETRACE_FLOAT64(name) table.op[static_cast<int>(LaneOp::name)] = name;
#include "sim/emulate/execute/lanes/lane_ops.def"
}

}  // namespace foretrace::emulate::FORETRACE_LANES
