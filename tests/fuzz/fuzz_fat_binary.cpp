// A fat binary: its entries, their names, and their contents decompressed.
#include "sim/frontend/fat_binary.h"
#include "tests/fuzz/input.h"

using namespace foretrace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  fuzz::accept_or_refuse([&] {
    const auto entries = frontend::read_fat_binary(fuzz::bytes_of(data, size), "input");
    for (const int sm : {80, 86, 90, 120}) {
      if (frontend::best_entry(entries, sm) == nullptr) (void)frontend::missing_code_message(entries, sm);
    }
    for (const frontend::FatEntry& entry : entries) {
      (void)frontend::entry_name(entry);
      fuzz::accept_or_refuse([&] { (void)frontend::entry_contents(entry, "input"); });
    }
  });
  return 0;
}
