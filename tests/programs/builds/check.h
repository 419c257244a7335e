#pragma once
#include <cstdio>
#include <cstdlib>
#define CHECK(x)                                                             \
  do {                                                                       \
    auto result_ = (x);                                                      \
    if (result_ != 0) {                                                      \
      printf("%s:%d: %s: error %d\n", __FILE__, __LINE__, #x, (int)result_); \
      exit(1);                                                               \
    }                                                                        \
  } while (0)
#define EXPECT(x)                                              \
  do {                                                         \
    if (!(x)) {                                                \
      printf("%s:%d: not true: %s\n", __FILE__, __LINE__, #x); \
      exit(1);                                                 \
    }                                                          \
  } while (0)
