// A configuration file and its formulas; and the texts of --set and --clock (a first line "set" or "clock").
#include "model/config/formula.h"
#include "model/config/load.h"
#include "model/config/raw.h"
#include "tests/fuzz/input.h"

using namespace foretrace;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  if (text.starts_with("set\n")) {
    fuzz::accept_or_refuse([&] { (void)config::parse_set(text.substr(4)); });
    return 0;
  }
  if (text.starts_with("clock\n")) {
    fuzz::accept_or_refuse([&] { (void)config::parse_clock(text.substr(6)); });
    return 0;
  }
  const fuzz::File file(text);
  fuzz::accept_or_refuse([&] {
    const config::RawFile raw = config::read_file(file.path(), "input.toml");
    for (const auto& [key, entry] : raw.entries) {
      if (entry.formula.empty()) continue;
      fuzz::accept_or_refuse([&, &formula = entry.formula] {
        (void)config::evaluate(formula, [](std::string_view) { return std::vector<double>{1, 2}; });
      });
    }
  });
  return 0;
}
