#include "model/units/error.h"

#include <cstdio>
#include <cstdlib>

namespace foretrace {

void assertion_failed(const char* condition, const char* sentence, const char* file, int line) {
  std::fprintf(stderr, "foretrace: internal error: %s [%s] at %s:%d\n", sentence, condition, file, line);
  std::abort();
}

}  // namespace foretrace
