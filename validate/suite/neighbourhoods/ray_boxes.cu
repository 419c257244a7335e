// Light through a cloud of spheres: a thread a ray with a stack of nodes in local memory, a binary tree of boxes over the spheres,
// nodes of a full tree by levels, children of n at 2 n + 1 and 2 n + 2. What a ray gathers of a sphere grows with how deep it goes.
// The tree is laid out first: node and sphere numbers are the bits of places in a lattice, x, y and z in turn.
#define CELL 64
#define MARGIN 25

struct Box {
  short low[3], high[3];
};

__global__ void lay_out_tree(Box* __restrict__ boxes, float4* __restrict__ spheres, const float4* __restrict__ offsets, int levels) {
  const int node = blockIdx.x * blockDim.x + threadIdx.x;
  const int inner = (1 << levels) - 1;
  if (node >= 2 * inner + 1) return;
  const int level = 31 - __clz(node + 1);
  const int code = node + 1 - (1 << level);
  int at[3] = {0, 0, 0}, bits[3] = {0, 0, 0};
  for (int b = 0; b < level; b++) {
    at[b % 3] = at[b % 3] << 1 | (code >> (level - 1 - b) & 1);
    bits[b % 3]++;
  }
  if (node < inner) {
    Box box;
    for (int k = 0; k < 3; k++) {
      const int below = levels / 3 - bits[k];
      box.low[k] = (at[k] << below) * CELL - MARGIN;
      box.high[k] = ((at[k] + 1) << below) * CELL + MARGIN;
    }
    boxes[node] = box;
  } else {
    const float4 o = offsets[node - inner];
    spheres[node - inner] =
        make_float4(CELL * (at[0] + o.x), CELL * (at[1] + o.y), CELL * (at[2] + o.z), 8.0f + 16.0f * o.w);
  }
}

__global__ void ray_boxes(const Box* __restrict__ boxes, const float4* __restrict__ spheres, const float* __restrict__ rays,
                          float* __restrict__ gathered, int rays_count, int inner, float extent) {
  const int r = blockIdx.x * blockDim.x + threadIdx.x;
  if (r >= rays_count) return;
  // From 100 below all spheres upwards.
  const float ox = rays[r] * extent, oy = rays[rays_count + r] * extent;
  const float dx = rays[2 * rays_count + r] - 0.5f, dy = rays[3 * rays_count + r] - 0.5f;
  const float per_x = 1.0f / dx, per_y = 1.0f / dy;
  const float per_square = 1.0f / (dx * dx + dy * dy + 1.0f);
  int stack[32];
  int depth = 0;
  stack[depth++] = 0;
  float sum = 0.0f;
  while (depth > 0) {
    const int node = stack[--depth];
    if (node >= inner) {
      const float4 s = spheres[node - inner];
      const float x = s.x - ox, y = s.y - oy, z = s.z + 100.0f;
      const float along = (x * dx + y * dy + z) * per_square;
      const float bx = x - along * dx, by = y - along * dy, bz = z - along;
      const float inside = s.w * s.w - (bx * bx + by * by + bz * bz);
      if (inside > 0.0f) sum += inside;
      continue;
    }
    const Box box = boxes[node];
    const float x0 = (box.low[0] - ox) * per_x, x1 = (box.high[0] - ox) * per_x;
    const float y0 = (box.low[1] - oy) * per_y, y1 = (box.high[1] - oy) * per_y;
    const float enter = fmaxf(fmaxf(fminf(x0, x1), fminf(y0, y1)), box.low[2] + 100.0f);
    const float leave = fminf(fminf(fmaxf(x0, x1), fmaxf(y0, y1)), box.high[2] + 100.0f);
    if (enter <= leave) {
      stack[depth++] = 2 * node + 2;
      stack[depth++] = 2 * node + 1;
    }
  }
  gathered[r] = sum;
}
