// Run-length encoding of a scanned page: pixels darker than a threshold are black, and of every row the columns are
// listed at which the colour changes (a row begins white). A warp a row, a pixel a lane: a ballot gives 32 colours at
// once, a comparison with the colours one pixel to the left the changes, and their count below a lane its place.

__global__ void run_lengths(const unsigned char* __restrict__ pixels, unsigned short* __restrict__ changes,
                            int* __restrict__ count, int rows, int width, int threshold) {
  const int lane = threadIdx.x % 32;
  const int row = blockIdx.x * (blockDim.x / 32) + threadIdx.x / 32;
  if (row >= rows) return;
  const unsigned char* from = pixels + static_cast<size_t>(row) * width;
  unsigned short* to = changes + static_cast<size_t>(row) * width;
  unsigned before = 0;  // the colour left of the 32 pixels
  int found = 0;
  for (int first = 0; first < width; first += 32) {
    const int column = first + lane;
    const bool is_inside = column < width;
    const unsigned black = __ballot_sync(0xffffffffu, is_inside && from[column] < threshold);
    const unsigned inside = __ballot_sync(0xffffffffu, is_inside);
    const unsigned changed = (black ^ (black << 1 | before)) & inside;
    if (changed >> lane & 1) to[found + __popc(changed & ((1u << lane) - 1))] = column;
    found += __popc(changed);
    before = black >> 31;
  }
  if (lane == 0) count[row] = found;
}
