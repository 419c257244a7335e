// The two forms of GELU over an array: by the error function, as it is defined, and by a hyperbolic tangent
// that comes close. A grid-stride loop of four floats an access; the special functions are the work.

__device__ float gelu_by_erf(float x) { return 0.5f * x * (1.0f + erff(x * 0.70710678f)); }

__device__ float gelu_by_tanh(float x) {
  return 0.5f * x * (1.0f + tanhf(0.79788456f * (x + 0.044715f * x * x * x)));
}

__global__ void gelu_erf(const float4* __restrict__ in, float4* __restrict__ out, int quarters) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quarters; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    out[i] = make_float4(gelu_by_erf(v.x), gelu_by_erf(v.y), gelu_by_erf(v.z), gelu_by_erf(v.w));
  }
}

__global__ void gelu_tanh(const float4* __restrict__ in, float4* __restrict__ out, int quarters) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quarters; i += gridDim.x * blockDim.x) {
    const float4 v = in[i];
    out[i] = make_float4(gelu_by_tanh(v.x), gelu_by_tanh(v.y), gelu_by_tanh(v.z), gelu_by_tanh(v.w));
  }
}
