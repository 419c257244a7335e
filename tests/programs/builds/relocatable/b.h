__device__ float f(float);
void helper(float*);
extern __device__ float bias;
