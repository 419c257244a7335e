// A program of the tests ends with status 1, and says at which line, where what it expects does not hold.
#pragma once
#include <cstdio>
#include <cstdlib>

#define EXPECT(condition)                                 \
  do {                                                    \
    if (!(condition)) {                                   \
      std::printf("line %d: %s\n", __LINE__, #condition); \
      std::exit(1);                                       \
    }                                                     \
  } while (0)
#define OK(call) EXPECT((call) == cudaSuccess)
