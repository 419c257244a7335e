// A curve of 480 straight pieces handed over by value, as a parameter of nearly four kilobytes, and followed `steps` times
// from each point: the piece depends on the data, so lanes read different words of the parameters.

struct Curve {
  float2 piece[480];  // height at the left end, slope
  float per_unit;
  float offset;
};

__global__ void parameter_curve(const Curve curve, const float* __restrict__ in, float* __restrict__ out, int count,
                                int steps) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  float x = in[i];
  for (int step = 0; step < steps; ++step) {
    const float place = fmaf(x, curve.per_unit, curve.offset);
    const int k = min(max(static_cast<int>(place), 0), 479);
    const float2 piece = curve.piece[k];
    x = fmaf(place - static_cast<float>(k), piece.y, piece.x);
  }
  out[i] = x;
}
