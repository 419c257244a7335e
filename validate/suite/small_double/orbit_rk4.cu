// A planet a thread, in double precision: the classical Runge-Kutta method about a sun at the centre, each step with four
// roots and divisions.

__device__ void pull(double x, double y, double& ax, double& ay) {
  const double square = x * x + y * y;
  const double factor = -1.0 / (square * sqrt(square));
  ax = x * factor;
  ay = y * factor;
}

__global__ void orbit_rk4(double2* __restrict__ planets, int count, int steps, double h) {
  const int i = blockIdx.x * blockDim.x + threadIdx.x;
  if (i >= count) return;
  double2 place = planets[2 * i], speed = planets[2 * i + 1];
  place.x += 1.0;
  speed.y += 1.0;
  for (int step = 0; step < steps; ++step) {
    double ax1, ay1, ax2, ay2, ax3, ay3, ax4, ay4;
    pull(place.x, place.y, ax1, ay1);
    const double u2 = speed.x + 0.5 * h * ax1, v2 = speed.y + 0.5 * h * ay1;
    pull(place.x + 0.5 * h * speed.x, place.y + 0.5 * h * speed.y, ax2, ay2);
    const double u3 = speed.x + 0.5 * h * ax2, v3 = speed.y + 0.5 * h * ay2;
    pull(place.x + 0.5 * h * u2, place.y + 0.5 * h * v2, ax3, ay3);
    const double u4 = speed.x + h * ax3, v4 = speed.y + h * ay3;
    pull(place.x + h * u3, place.y + h * v3, ax4, ay4);
    place.x += h / 6.0 * (speed.x + 2.0 * (u2 + u3) + u4);
    place.y += h / 6.0 * (speed.y + 2.0 * (v2 + v3) + v4);
    speed.x += h / 6.0 * (ax1 + 2.0 * (ax2 + ax3) + ax4);
    speed.y += h / 6.0 * (ay1 + 2.0 * (ay2 + ay3) + ay4);
  }
  planets[2 * i] = place;
  planets[2 * i + 1] = speed;
}
