// Rows of a large table by token: a warp a token, four floats a lane and step, with the position's row
// added. The rows are far apart in memory and each is read whole.

__global__ void embedding_lookup(const int* __restrict__ tokens, const float4* __restrict__ table,
                                 const float4* __restrict__ positions, float4* __restrict__ out, int count,
                                 int sequence, int quarters) {
  const int lane = threadIdx.x % 32;
  const int token = (blockIdx.x * blockDim.x + threadIdx.x) / 32;
  if (token >= count) return;
  const float4* row = table + static_cast<size_t>(tokens[token]) * quarters;
  const float4* position = positions + static_cast<size_t>(token % sequence) * quarters;
  for (int i = lane; i < quarters; i += 32) {
    const float4 a = row[i], b = position[i];
    out[static_cast<size_t>(token) * quarters + i] = make_float4(a.x + b.x, a.y + b.y, a.z + b.z, a.w + b.w);
  }
}
