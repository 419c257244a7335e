// The way back through an embedding: the gradient of each token's vector is added to the rows of the table that the
// token and its position stand for. A block a token, four numbers a thread, added by atomics: words that are frequent
// are added to by many blocks at once, and positions by one sequence each.

__global__ void embedding_gradient(float* table_gradient, float* position_gradient,
                                   const float4* out_gradient, const int* tokens, int sequence,
                                   int row_quarters) {
  const int token = blockIdx.x;
  const int word = tokens[token];
  const int position = token % sequence;
  const float4* from = out_gradient + static_cast<size_t>(token) * row_quarters;
  float* to_word = table_gradient + static_cast<size_t>(word) * row_quarters * 4;
  float* to_position = position_gradient + static_cast<size_t>(position) * row_quarters * 4;
  for (int i = threadIdx.x; i < row_quarters; i += blockDim.x) {
    const float4 g = from[i];
    atomicAdd(to_word + 4 * i + 0, g.x);
    atomicAdd(to_word + 4 * i + 1, g.y);
    atomicAdd(to_word + 4 * i + 2, g.z);
    atomicAdd(to_word + 4 * i + 3, g.w);
    atomicAdd(to_position + 4 * i + 0, g.x);
    atomicAdd(to_position + 4 * i + 1, g.y);
    atomicAdd(to_position + 4 * i + 2, g.z);
    atomicAdd(to_position + 4 * i + 3, g.w);
  }
}
