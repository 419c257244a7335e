// What a user's ncu --csv --page raw may hold.
#include "sim/compare/ncu_csv.h"
#include "tests/fuzz/input.h"

using namespace foretrace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accept_or_refuse([&] {
    for (const compare::ProfiledLaunch& launch :
         compare::read_ncu_csv(fuzz::text_of(data, size), "input.csv")) {
      (void)compare::plain_kernel_name(launch.kernel);
      (void)compare::base_kernel_name(launch.kernel);
    }
  });
  return 0;
}
