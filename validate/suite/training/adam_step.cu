// A step of the Adam optimizer with decoupled weight decay, four parameters a thread: parameters, gradients and
// both moments are read, all but the gradients written back in place.

struct Settings {
  float rate, beta1, beta2, epsilon, decay, correction1, correction2;
};

__device__ void update(float& parameter, float gradient, float& first, float& second, const Settings& s) {
  first = s.beta1 * first + (1.0f - s.beta1) * gradient;
  second = s.beta2 * second + (1.0f - s.beta2) * gradient * gradient;
  const float step = first * s.correction1 / (sqrtf(second * s.correction2) + s.epsilon);
  parameter -= s.rate * (step + s.decay * parameter);
}

__global__ void adam_step(float4* __restrict__ parameters, const float4* __restrict__ gradients,
                          float4* __restrict__ first, float4* __restrict__ second, int quarters, float rate,
                          float beta1, float beta2, float epsilon, float decay, float correction1,
                          float correction2) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= quarters) return;
  const Settings s = {rate, beta1, beta2, epsilon, decay, correction1, correction2};
  float4 p = parameters[i], m = first[i], v = second[i];
  const float4 g = gradients[i];
  update(p.x, g.x, m.x, v.x, s);
  update(p.y, g.y, m.y, v.y, s);
  update(p.z, g.z, m.z, v.z, s);
  update(p.w, g.w, m.w, v.w, s);
  parameters[i] = p;
  first[i] = m;
  second[i] = v;
}
