// Where a pattern occurs in a text, and how often: a thread a place compares until the first character that differs. The
// pattern is in constant memory; most threads stop after one or two characters, warps go on until their last lane stops.

#define LONGEST 32

__constant__ char pattern[LONGEST];

__global__ void string_search(const char* __restrict__ text, unsigned char* __restrict__ match,
                              unsigned* __restrict__ matches, int places, int length) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  int same = 0;
  if (i < places) {
    while (same < length && text[i + same] == pattern[same]) ++same;
    match[i] = same == length;
  }
  const unsigned found = __ballot_sync(0xffffffffu, i < places && same == length);
  if (threadIdx.x % 32 == 0 && found != 0) atomicAdd(matches, __popc(found));
}
