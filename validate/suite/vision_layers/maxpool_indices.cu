// The largest of each window of planes, and where it was, as frameworks keep it for the way back: a thread an output, rows, columns
// and planes by division.

__global__ void maxpool_indices(const float* __restrict__ in, float* __restrict__ out, long long* __restrict__ index,
                                int count, int height, int width, int pooled_height, int pooled_width, int kernel,
                                int stride, int pad) {
  for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += blockDim.x * gridDim.x) {
    const int pw = i % pooled_width;
    const int ph = (i / pooled_width) % pooled_height;
    const int plane = i / pooled_width / pooled_height;
    int h_start = ph * stride - pad;
    int w_start = pw * stride - pad;
    const int h_end = min(h_start + kernel, height);
    const int w_end = min(w_start + kernel, width);
    h_start = max(h_start, 0);
    w_start = max(w_start, 0);
    const float* from = in + (size_t)plane * height * width;
    float most = -INFINITY;
    int at = h_start * width + w_start;
    for (int h = h_start; h < h_end; ++h) {
      for (int w = w_start; w < w_end; ++w) {
        const float value = from[h * width + w];
        if (value > most) {
          most = value;
          at = h * width + w;
        }
      }
    }
    out[i] = most;
    index[i] = at;
  }
}
