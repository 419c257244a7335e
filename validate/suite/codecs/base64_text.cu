// Bytes written as letters, four for three, and read back: a thread a group, the alphabet and its inverse in shared memory.

__constant__ char alphabet[65] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

__global__ void base64_encode(const unsigned char* __restrict__ in, uchar4* __restrict__ out, int groups) {
  __shared__ unsigned char letters[64];
  if (threadIdx.x < 64) letters[threadIdx.x] = alphabet[threadIdx.x];
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= groups) return;
  const unsigned char a = in[3 * i], b = in[3 * i + 1], c = in[3 * i + 2];
  out[i] = make_uchar4(letters[a >> 2], letters[(a & 3) << 4 | b >> 4], letters[(b & 15) << 2 | c >> 6], letters[c & 63]);
}

__global__ void base64_decode(const uchar4* __restrict__ in, unsigned char* __restrict__ out, int groups) {
  __shared__ unsigned char values[256];
  for (int k = threadIdx.x; k < 256; k += blockDim.x) values[k] = 255;
  __syncthreads();
  if (threadIdx.x < 64) values[alphabet[threadIdx.x]] = threadIdx.x;
  __syncthreads();
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= groups) return;
  const uchar4 t = in[i];
  const unsigned word = values[t.x] << 18 | values[t.y] << 12 | values[t.z] << 6 | values[t.w];
  out[3 * i] = word >> 16;
  out[3 * i + 1] = word >> 8;
  out[3 * i + 2] = word;
}
