// A launch file; and the text of an argument (a first line "arg").
#include "sim/frontend/launch/argument.h"
#include "sim/frontend/launch/launch.h"
#include "tests/fuzz/input.h"

using namespace foretrace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (text.starts_with("arg\n")) {
    fuzz::accept_or_refuse([&] { (void)frontend::parse_argument(text.substr(4), 0); });
    return 0;
  }
  const fuzz::File file(text);
  fuzz::accept_or_refuse([&] {
    const auto launches = frontend::load_launch_file(file.path());
    for (std::size_t i = 0; i < launches.size(); ++i) (void)frontend::launches_before(launches, i);
  });
  return 0;
}
