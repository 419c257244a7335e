// Records of 2 to 8 numbers written one field after the other, as programs do that keep an array of structures: the stores of
// a warp lie a record apart and meet in the same sectors.

template <int FIELDS>
struct Record {
  float field[FIELDS];
};

template <int FIELDS>
__global__ void record_fields(const float* __restrict__ source, Record<FIELDS>* __restrict__ records, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const float x = source[i];
  float value = x;
#pragma unroll
  for (int f = 0; f < FIELDS; ++f) {
    records[i].field[f] = value;
    value = fmaf(value, 0.5f, x);
  }
}

template __global__ void record_fields<2>(const float*, Record<2>*, int);
template __global__ void record_fields<3>(const float*, Record<3>*, int);
template __global__ void record_fields<4>(const float*, Record<4>*, int);
template __global__ void record_fields<5>(const float*, Record<5>*, int);
template __global__ void record_fields<6>(const float*, Record<6>*, int);
template __global__ void record_fields<8>(const float*, Record<8>*, int);
