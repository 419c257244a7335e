// The same launch on several chips: compare_chips FILE KERNEL BLOCKS THREADS CHIPS ARGUMENT...
//
//     compare_chips vector_add.cu vector_add 1024 256 a100,h100 buf:f32:262144:uniform buf:f32:262144:uniform buf:f32:262144 val:i32:262144
#include <foretrace/foretrace.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>

int main(int argc, char** argv) {
  if (argc < 6) {
    std::fprintf(stderr, "usage: %s FILE KERNEL BLOCKS THREADS CHIP[,CHIP...] ARGUMENT...\n", argv[0]);
    return 2;
  }
  foretrace::Launch launch;
  launch.file = argv[1];
  launch.kernel = argv[2];
  launch.grid[0] = static_cast<std::uint32_t>(std::strtoul(argv[3], nullptr, 10));
  launch.block[0] = static_cast<std::uint32_t>(std::strtoul(argv[4], nullptr, 10));
  launch.arguments.assign(argv + 6, argv + argc);

  std::istringstream chips(argv[5]);
  for (std::string chip; std::getline(chips, chip, ',');) {
    try {
      const foretrace::Result result = foretrace::predict(launch, chip);
      std::printf("%-16s %.0f cycles, %.2f us, %s: %s\n", result.arch.c_str(),
                  *result.metric("gpc__cycles_elapsed.max"), *result.metric("gpu__time_duration.sum") / 1000,
                  result.limiter.c_str(), result.advice.c_str());
    } catch (const foretrace::Error& error) {
      std::fprintf(stderr, "%s: %s\n", chip.c_str(), error.what());
      return 2;
    }
  }
  return 0;
}
