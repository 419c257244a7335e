// Records whose fields have several types and sizes, 40 bytes each, filled from a number apiece and then moved one step.

struct Body {
  double x, y, z;
  float mass;
  int id;
  short kind;
  unsigned char flags, layer;
  unsigned hits;
};

__global__ void body_fill(const unsigned* __restrict__ seeds, Body* __restrict__ bodies, int count) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  const unsigned s = seeds[i];
  Body* body = bodies + i;
  body->x = static_cast<double>(s & 0xffff);
  body->y = static_cast<double>(s >> 16);
  body->z = static_cast<double>(s >> 8 & 0xffff) * 0.5;
  body->mass = static_cast<float>(s & 0xff) * 0.25f;
  body->id = i;
  body->kind = static_cast<short>(s >> 7);
  body->flags = static_cast<unsigned char>(s >> 3);
  body->layer = static_cast<unsigned char>(s >> 11);
  body->hits = s ^ 0x5a5a5a5au;
}

/// Reads most fields and writes four of them back.
__global__ void body_move(Body* __restrict__ bodies, int count, double step) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  Body* body = bodies + i;
  const double weight = static_cast<double>(body->mass) * step;
  body->x += weight;
  body->y -= weight;
  body->hits += body->flags;
  body->kind = static_cast<short>(body->kind + body->layer);
}
