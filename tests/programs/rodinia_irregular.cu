// Rodinia style, irregular: breadth-first search with a host loop and a stop flag, k-means, back propagation, a B+ tree's
// look-ups, LavaMD's boxes, stream clustering's gain. Structures as arguments, dynamic shared memory, constant memory.
#include <cfloat>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define checkCudaErrors(val) check((val), #val, __FILE__, __LINE__)
template <typename T>
void check(T result, char const* const func, const char* const file, int const line) {
  if (result) {
    fprintf(stderr, "CUDA error at %s:%d code=%d(%s) \"%s\" \n", file, line, static_cast<unsigned int>(result), cudaGetErrorName(result), func);
    exit(EXIT_FAILURE);
  }
}

static int errors = 0;
static void verdict(const char* name, bool ok) {
  printf("%-16s %s\n", name, ok ? "passed" : "FAILED");
  errors += !ok;
}
static unsigned lcg(unsigned& state) { return state = state * 1664525u + 1013904223u; }

template <typename T>
struct DeviceArray {
  T* p = nullptr;
  size_t n;
  explicit DeviceArray(const std::vector<T>& v) : n(v.size()) {
    checkCudaErrors(cudaMalloc(reinterpret_cast<void**>(&p), n * sizeof(T)));
    checkCudaErrors(cudaMemcpy(p, v.data(), n * sizeof(T), cudaMemcpyHostToDevice));
  }
  ~DeviceArray() { cudaFree(p); }
  std::vector<T> get() const {
    std::vector<T> v(n);
    checkCudaErrors(cudaMemcpy(v.data(), p, n * sizeof(T), cudaMemcpyDeviceToHost));
    return v;
  }
};

// --- bfs -----------------------------------------------------------------------------------------------------------
struct Node { int starting, no_of_edges; };
__global__ void Kernel(Node* nodes, int* edges, bool* mask, bool* updating, bool* visited, int* cost, int n) {
  int tid = blockIdx.x * 256 + threadIdx.x;
  if (tid < n && mask[tid]) {
    mask[tid] = false;
    for (int i = nodes[tid].starting; i < nodes[tid].no_of_edges + nodes[tid].starting; i++) {
      int id = edges[i];
      if (!visited[id]) {
        cost[id] = cost[tid] + 1;
        updating[id] = true;
      }
    }
  }
}
__global__ void Kernel2(bool* mask, bool* updating, bool* visited, bool* over, int n) {
  int tid = blockIdx.x * 256 + threadIdx.x;
  if (tid < n && updating[tid]) {
    mask[tid] = true;
    visited[tid] = true;
    *over = true;
    updating[tid] = false;
  }
}
static void bfs() {
  const int n = 2000;
  unsigned seed = 1;
  std::vector<Node> nodes(n);
  std::vector<int> edges;
  for (int i = 0; i < n; ++i) {
    nodes[i] = {int(edges.size()), int(lcg(seed) >> 28) % 6 + 1};
    for (int k = 0; k < nodes[i].no_of_edges; ++k) edges.push_back(int((lcg(seed) >> 8) % n));
  }
  std::vector<int> cost(n, -1), expected(n, -1);
  cost[0] = expected[0] = 0;
  bool *mask, *updating, *visited, *over;
  checkCudaErrors(cudaMalloc(&mask, n));
  checkCudaErrors(cudaMalloc(&updating, n));
  checkCudaErrors(cudaMalloc(&visited, n));
  checkCudaErrors(cudaMalloc(&over, 1));
  checkCudaErrors(cudaMemset(mask, 0, n));
  checkCudaErrors(cudaMemset(updating, 0, n));
  checkCudaErrors(cudaMemset(visited, 0, n));
  checkCudaErrors(cudaMemset(mask, 1, 1));
  checkCudaErrors(cudaMemset(visited, 1, 1));
  DeviceArray<Node> d_nodes(nodes);
  DeviceArray<int> d_edges(edges), d_cost(cost);
  bool stop;
  int k = 0;
  do {
    stop = false;
    checkCudaErrors(cudaMemcpy(over, &stop, sizeof(bool), cudaMemcpyHostToDevice));
    Kernel<<<(n + 255) / 256, 256, 0>>>(d_nodes.p, d_edges.p, mask, updating, visited, d_cost.p, n);
    Kernel2<<<(n + 255) / 256, 256, 0>>>(mask, updating, visited, over, n);
    checkCudaErrors(cudaMemcpy(&stop, over, sizeof(bool), cudaMemcpyDeviceToHost));
    k++;
  } while (stop);
  std::vector<int> queue{0};
  for (size_t at = 0; at < queue.size(); ++at) {
    int v = queue[at];
    for (int i = 0; i < nodes[v].no_of_edges; ++i) {
      int u = edges[nodes[v].starting + i];
      if (expected[u] < 0) expected[u] = expected[v] + 1, queue.push_back(u);
    }
  }
  verdict("bfs", d_cost.get() == expected && k > 3);
  cudaFree(mask), cudaFree(updating), cudaFree(visited), cudaFree(over);
}

// --- kmeans --------------------------------------------------------------------------------------------------------
#define FEATURES 8
#define CLUSTERS 5
__constant__ float c_clusters[CLUSTERS * FEATURES];
__global__ void kmeansPoint(const float* features, int npoints, int* membership, int* changed) {
  int point = blockIdx.x * blockDim.x + threadIdx.x;
  if (point >= npoints) return;
  int index = -1;
  float min_dist = FLT_MAX;
  for (int i = 0; i < CLUSTERS; i++) {
    float ans = 0.0f;
    for (int j = 0; j < FEATURES; j++) {
      float diff = features[point + j * npoints] - c_clusters[i * FEATURES + j];
      ans += diff * diff;
    }
    if (ans < min_dist) min_dist = ans, index = i;
  }
  if (membership[point] != index) atomicAdd(changed, 1);
  membership[point] = index;
}
static void kmeans() {
  const int n = 1500;
  unsigned seed = 5;
  std::vector<float> features(n * FEATURES);
  for (int p = 0; p < n; ++p)
    for (int j = 0; j < FEATURES; ++j) features[p + j * n] = float((p % CLUSTERS) * (j + 1)) + float(lcg(seed) >> 9) / float(1 << 23) * 0.8f;
  std::vector<float> centers(CLUSTERS * FEATURES);
  for (int i = 0; i < CLUSTERS; ++i)
    for (int j = 0; j < FEATURES; ++j) centers[i * FEATURES + j] = features[i + j * n];
  DeviceArray<float> d_features(features);
  DeviceArray<int> d_membership(std::vector<int>(n, -1)), d_changed(std::vector<int>(1, 0));
  int rounds = 0, changed = 1;
  std::vector<int> membership;
  while (changed != 0 && rounds < 20) {
    checkCudaErrors(cudaMemcpyToSymbol(c_clusters, centers.data(), sizeof(float) * centers.size()));
    checkCudaErrors(cudaMemset(d_changed.p, 0, sizeof(int)));
    kmeansPoint<<<(n + 127) / 128, 128>>>(d_features.p, n, d_membership.p, d_changed.p);
    checkCudaErrors(cudaDeviceSynchronize());
    changed = d_changed.get()[0];
    membership = d_membership.get();
    std::vector<float> sums(centers.size(), 0);
    std::vector<int> count(CLUSTERS, 0);
    for (int p = 0; p < n; ++p) {
      ++count[membership[p]];
      for (int j = 0; j < FEATURES; ++j) sums[membership[p] * FEATURES + j] += features[p + j * n];
    }
    for (int i = 0; i < CLUSTERS; ++i)
      for (int j = 0; j < FEATURES; ++j)
        if (count[i]) centers[i * FEATURES + j] = sums[i * FEATURES + j] / float(count[i]);
    ++rounds;
  }
  bool ok = changed == 0 && rounds >= 2;
  for (int p = 0; p < n; ++p) ok = ok && membership[p] == p % CLUSTERS;
  verdict("kmeans", ok);
}

// --- backprop ------------------------------------------------------------------------------------------------------
#define HEIGHT 16
#define WIDTH 16
__global__ void bpnn_layerforward_CUDA(const float* input, float* output_hidden, float* input_hidden, float* partial, int in, int hid) {
  int by = blockIdx.y, tx = threadIdx.x, ty = threadIdx.y;
  int index = (hid + 1) * HEIGHT * by + (hid + 1) * ty + tx + 1 + (hid + 1);
  int index_in = HEIGHT * by + ty + 1;
  __shared__ float input_node[HEIGHT];
  __shared__ float weight_matrix[HEIGHT][WIDTH];
  if (tx == 0) input_node[ty] = input[index_in];
  __syncthreads();
  weight_matrix[ty][tx] = input_hidden[index];
  __syncthreads();
  weight_matrix[ty][tx] = weight_matrix[ty][tx] * input_node[ty];
  __syncthreads();
  for (int i = 1; i <= __log2f(HEIGHT); i++) {
    int power_two = __powf(2, i);
    if (ty % power_two == 0) weight_matrix[ty][tx] = weight_matrix[ty][tx] + weight_matrix[ty + power_two / 2][tx];
    __syncthreads();
  }
  input_hidden[index] = weight_matrix[ty][tx];
  __syncthreads();
  if (tx == 0) partial[by * hid + ty] = weight_matrix[tx][ty];
  (void)output_hidden;
  (void)in;
}
static void backprop() {
  const int in = 256, hid = 16, blocks = in / 16;
  std::vector<float> input(in + 1), weights((in + 1) * (hid + 1)), partial(blocks * hid);
  for (int i = 0; i <= in; ++i) input[i] = float(i % 9) / 9.0f;
  for (size_t i = 0; i < weights.size(); ++i) weights[i] = float(i % 17) / 17.0f - 0.5f;
  DeviceArray<float> d_input(input), d_weights(weights), d_partial(partial);
  bpnn_layerforward_CUDA<<<dim3(1, blocks), dim3(16, 16)>>>(d_input.p, nullptr, d_weights.p, d_partial.p, in, hid);
  checkCudaErrors(cudaDeviceSynchronize());
  partial = d_partial.get();
  bool ok = true;
  for (int j = 1; j <= hid; ++j) {
    double expected = 0, found = 0;
    for (int i = 1; i <= in; ++i) expected += double(input[i]) * weights[i * (hid + 1) + j];
    for (int k = 0; k < blocks; ++k) found += partial[k * hid + j - 1];
    ok = ok && fabs(expected - found) < 1e-3;
  }
  verdict("backprop", ok);
}

// --- b+tree --------------------------------------------------------------------------------------------------------
#define ORDER 32
struct knode { int is_leaf, num_keys; int keys[ORDER + 1]; int indices[ORDER + 1]; };
__global__ void findK(int height, const knode* knodesD, long* currKnodeD, long* offsetD, const int* keysD, int* ansD) {
  int thid = threadIdx.x, bid = blockIdx.x;
  for (int i = 0; i < height; i++) {
    if (knodesD[currKnodeD[bid]].keys[thid] <= keysD[bid] && knodesD[currKnodeD[bid]].keys[thid + 1] > keysD[bid])
      offsetD[bid] = knodesD[currKnodeD[bid]].indices[thid];
    __syncthreads();
    if (thid == 0) currKnodeD[bid] = offsetD[bid];
    __syncthreads();
  }
  if (knodesD[currKnodeD[bid]].keys[thid] == keysD[bid]) ansD[bid] = knodesD[currKnodeD[bid]].indices[thid];
}
static void bplustree() {
  const int leaves = ORDER, per_leaf = ORDER, queries = 100;
  std::vector<knode> nodes(1 + leaves);
  for (int l = 0; l < leaves; ++l) {
    nodes[0].keys[l] = l == 0 ? INT_MIN : l * per_leaf * 3;
    nodes[0].indices[l] = l + 1;
    knode& leaf = nodes[l + 1];
    leaf.is_leaf = 1;
    for (int k = 0; k < per_leaf; ++k) leaf.keys[k] = (l * per_leaf + k) * 3, leaf.indices[k] = (l * per_leaf + k) * 10;
    leaf.keys[per_leaf] = INT_MAX;
  }
  nodes[0].keys[ORDER] = INT_MAX;
  std::vector<int> keys(queries), answers(queries, -1);
  unsigned seed = 3;
  for (int& key : keys) key = int(lcg(seed) >> 8) % (leaves * per_leaf * 3);
  DeviceArray<knode> d_nodes(nodes);
  DeviceArray<long> current(std::vector<long>(queries, 0)), offset(std::vector<long>(queries, 0));
  DeviceArray<int> d_keys(keys), d_answers(answers);
  findK<<<queries, ORDER>>>(1, d_nodes.p, current.p, offset.p, d_keys.p, d_answers.p);
  checkCudaErrors(cudaGetLastError());
  answers = d_answers.get();
  bool ok = true;
  for (int i = 0; i < queries; ++i) ok = ok && answers[i] == (keys[i] % 3 == 0 ? keys[i] / 3 * 10 : -1);
  verdict("b+tree", ok);
}

// --- lavaMD --------------------------------------------------------------------------------------------------------
struct FOUR_VECTOR { double v, x, y, z; };
struct par_str { double alpha; };
struct dim_str { int boxes1d, number_boxes; };
#define PER_BOX 24
#define DOT(A, B) ((A.x) * (B.x) + (A.y) * (B.y) + (A.z) * (B.z))
__global__ void kernel_gpu_cuda(par_str d_par, dim_str d_dim, const int* neighbours, const FOUR_VECTOR* rv, const double* qv, FOUR_VECTOR* fv) {
  __shared__ FOUR_VECTOR rA_shared[PER_BOX], rB_shared[PER_BOX];
  __shared__ double qB_shared[PER_BOX];
  int bx = blockIdx.x, tx = threadIdx.x;
  if (bx >= d_dim.number_boxes) return;
  double a2 = 2.0 * d_par.alpha * d_par.alpha;
  if (tx < PER_BOX) rA_shared[tx] = rv[bx * PER_BOX + tx];
  __syncthreads();
  for (int k = 0; k < 3; ++k) {
    int pointer = neighbours[bx * 3 + k];
    if (pointer < 0) continue;
    if (tx < PER_BOX) rB_shared[tx] = rv[pointer * PER_BOX + tx], qB_shared[tx] = qv[pointer * PER_BOX + tx];
    __syncthreads();
    for (int wtx = tx; wtx < PER_BOX; wtx += blockDim.x) {
      for (int j = 0; j < PER_BOX; j++) {
        double r2 = rA_shared[wtx].v + rB_shared[j].v - DOT(rA_shared[wtx], rB_shared[j]);
        double vij = exp(-a2 * r2), fs = 2. * vij;
        fv[bx * PER_BOX + wtx].v += qB_shared[j] * vij;
        fv[bx * PER_BOX + wtx].x += qB_shared[j] * (fs * (rA_shared[wtx].x - rB_shared[j].x));
        fv[bx * PER_BOX + wtx].y += qB_shared[j] * (fs * (rA_shared[wtx].y - rB_shared[j].y));
        fv[bx * PER_BOX + wtx].z += qB_shared[j] * (fs * (rA_shared[wtx].z - rB_shared[j].z));
      }
    }
    __syncthreads();
  }
}
static void lavamd() {
  const int boxes = 6, n = boxes * PER_BOX;
  std::vector<FOUR_VECTOR> rv(n), fv(n, FOUR_VECTOR{0, 0, 0, 0});
  std::vector<double> qv(n);
  std::vector<int> neighbours(boxes * 3);
  unsigned seed = 9;
  auto random = [&] { return double(lcg(seed) >> 8) / double(1 << 24); };
  for (int i = 0; i < n; ++i) rv[i] = {random(), random(), random(), random()}, qv[i] = random();
  for (int b = 0; b < boxes; ++b) neighbours[b * 3] = b, neighbours[b * 3 + 1] = b - 1, neighbours[b * 3 + 2] = b + 1 < boxes ? b + 1 : -1;
  DeviceArray<FOUR_VECTOR> d_rv(rv), d_fv(fv);
  DeviceArray<double> d_qv(qv);
  DeviceArray<int> d_neighbours(neighbours);
  par_str par{0.5};
  dim_str dim{boxes, boxes};
  kernel_gpu_cuda<<<boxes, 32>>>(par, dim, d_neighbours.p, d_rv.p, d_qv.p, d_fv.p);
  checkCudaErrors(cudaDeviceSynchronize());
  fv = d_fv.get();
  bool ok = true;
  for (int b = 0; b < boxes; ++b)
    for (int i = b * PER_BOX; i < (b + 1) * PER_BOX; ++i) {
      double v = 0, x = 0;
      for (int k = 0; k < 3; ++k) {
        if (neighbours[b * 3 + k] < 0) continue;
        for (int j = neighbours[b * 3 + k] * PER_BOX, end = j + PER_BOX; j < end; ++j) {
          double vij = exp(-0.5 * (rv[i].v + rv[j].v - DOT(rv[i], rv[j])));
          v += qv[j] * vij, x += qv[j] * 2 * vij * (rv[i].x - rv[j].x);
        }
      }
      ok = ok && fabs(v - fv[i].v) < 1e-9 && fabs(x - fv[i].x) < 1e-9;
    }
  verdict("lavaMD", ok);
}

// --- streamcluster -------------------------------------------------------------------------------------------------
struct Point { float weight; long assign; float cost; };
__device__ float d_dist(int p1, int p2, int num, int dim, const float* coord) {
  float result = 0;
  for (int i = 0; i < dim; i++) {
    float diff = coord[i * num + p1] - coord[i * num + p2];
    result += diff * diff;
  }
  return result;
}
__global__ void kernel_compute_cost(int num, int dim, long x, const Point* p, int K, int stride, const float* coord, float* work, const int* table, bool* switch_membership) {
  const int tid = blockDim.x * blockIdx.x + threadIdx.x;
  if (tid >= num) return;
  float* lower = &work[tid * stride];
  float x_cost = d_dist(tid, int(x), num, dim, coord) * p[tid].weight;
  if (x_cost < p[tid].cost) {
    switch_membership[tid] = true;
    lower[K] += x_cost - p[tid].cost;
  } else {
    lower[table[p[tid].assign]] += p[tid].cost - x_cost;
  }
}
static void streamcluster() {
  const int num = 600, dim = 6, K = 3;
  std::vector<float> coord(num * dim), work(num * (K + 1), 0);
  std::vector<Point> points(num);
  std::vector<int> table(num, 0);
  unsigned seed = 21;
  for (float& c : coord) c = float(lcg(seed) >> 8) / float(1 << 24);
  for (int i = 0; i < num; ++i) table[i] = i % K;
  auto dist = [&](int a, int b) {
    float r = 0;
    for (int i = 0; i < dim; ++i) r += (coord[i * num + a] - coord[i * num + b]) * (coord[i * num + a] - coord[i * num + b]);
    return r;
  };
  for (int i = 0; i < num; ++i) points[i] = {1.0f + float(i % 3), i % K, dist(i, i % K)};
  DeviceArray<float> d_coord(coord), d_work(work);
  DeviceArray<Point> d_points(points);
  DeviceArray<int> d_table(table);
  bool* membership;
  checkCudaErrors(cudaMalloc(&membership, num));
  checkCudaErrors(cudaMemset(membership, 0, num));
  const long x = 77;
  kernel_compute_cost<<<(num + 255) / 256, 256>>>(num, dim, x, d_points.p, K, K + 1, d_coord.p, d_work.p, d_table.p, membership);
  checkCudaErrors(cudaGetLastError());
  work = d_work.get();
  std::vector<char> found(num);
  checkCudaErrors(cudaMemcpy(found.data(), membership, num, cudaMemcpyDeviceToHost));
  bool ok = true;
  for (int i = 0; i < num; ++i) {
    float cost = dist(i, int(x)) * points[i].weight, delta = cost - points[i].cost;
    if (fabsf(delta) < 1e-5f) continue;  // rounding may turn it
    ok = ok && found[i] == (delta < 0);
    ok = ok && fabsf(work[i * (K + 1) + (delta < 0 ? K : table[points[i].assign])] - (delta < 0 ? delta : -delta)) < 1e-4f;
  }
  verdict("streamcluster", ok);
  cudaFree(membership);
}

int main() {
  bfs();
  kmeans();
  backprop();
  bplustree();
  lavamd();
  streamcluster();
  checkCudaErrors(cudaDeviceSynchronize());
  return errors;
}
