// A result document: what is read is written, and reads back to the same bytes. And the documents of a measurement.
#include <cstdlib>

#include "sim/report/json.h"
#include "sim/validate/measurement.h"
#include "tests/fuzz/input.h"

using namespace foretrace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::accept_or_refuse([&] { (void)validate::read_measurement(text, "input.json"); });
  fuzz::accept_or_refuse([&] {
    const std::string once = report::to_json(report::from_json(text, "input.json"));
    if (report::to_json(report::from_json(once, "once.json")) != once) std::abort();
  });
  return 0;
}
