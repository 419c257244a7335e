// Compares timeline cases with what the model gives them; --update writes that into their files (scripts/update_timelines).

#include <fstream>
#include <iostream>
#include <string>

#include "model/units/error.h"
#include "tests/timeline/case.h"

int main(int argc, char** argv) {
  using namespace foretrace;
  const bool update = argc > 1 && std::string(argv[1]) == "--update";
  int different = 0;
  try {
    for (int i = update ? 2 : 1; i < argc; ++i) {
      const timeline_tests::Case from = timeline_tests::read_case(argv[i]);
      const std::string now = timeline_tests::timeline_of(argv[i], from);
      if (now == from.expected) continue;
      ++different;
      if (update) {
        std::ofstream(argv[i]) << from.head << now;
      } else {
        std::cout << argv[i] << ": expected\n\n"
                  << from.expected << "\nbut the model gives\n\n"
                  << now << "\n";
      }
    }
  } catch (const InputError& error) {
    std::cerr << error.what() << "\n";
    return 2;
  }
  if (update) std::cout << different << " timelines changed\n";
  return update || different == 0 ? 0 : 1;
}
