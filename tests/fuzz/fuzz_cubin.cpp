// A cubin: ELF sections, attributes, relocations; and the linking of code that holds addresses.
#include "sim/frontend/cubin.h"
#include "sim/frontend/link.h"
#include "tests/fuzz/input.h"

using namespace foretrace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto bytes = fuzz::bytes_of(data, size);
  fuzz::accept_or_refuse([&] { (void)frontend::read_cubin(bytes, "input"); });
  fuzz::accept_or_refuse([&] {
    frontend::Cubin cubin = frontend::read_cubin(bytes, "input", 0, frontend::Relocations::keep);
    (void)frontend::link_code(bytes, cubin,
                              [](const frontend::CodeRelocation& relocation) { return relocation.value; });
  });
  return 0;
}
