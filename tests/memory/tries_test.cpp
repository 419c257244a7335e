// A swap fails when a word of it was changed after its warp had read it.

#include "model/memory/tries.h"

#include <gtest/gtest.h>

namespace foretrace::memory {
namespace {

constexpr std::uint64_t kLine = 7;

Tries::Try swap_of(std::uint32_t asker, std::uint32_t words, std::uint64_t read, std::uint64_t line = kLine) {
  return {line, words, words, asker, 0, read};
}

TEST(Tries, FailWhereAnotherCameAfterTheReadNotWithIt) {
  Tries tries(16);
  EXPECT_FALSE(tries.fails(swap_of(1, 1, 0), 100));
  EXPECT_TRUE(tries.fails(swap_of(2, 1, 99), 110));
  EXPECT_FALSE(tries.fails(swap_of(3, 1, 100), 110));
  EXPECT_FALSE(tries.fails(swap_of(4, 2, 0), 110)) << "another word";
}

TEST(Tries, WhatChangesNothingIsInNobodysWay) {
  Tries tries(16);
  Tries::Try same = swap_of(1, 1, 0);
  same.changes = 0;
  EXPECT_FALSE(tries.fails(same, 100));
  EXPECT_FALSE(tries.fails(swap_of(2, 1, 50), 110));
}

TEST(Tries, WordsThatSucceededAreNotTriedAgain) {
  Tries tries(16);
  EXPECT_FALSE(tries.fails(swap_of(1, 0b01, 0), 100));
  EXPECT_TRUE(tries.fails(swap_of(2, 0b11, 50), 110)) << "word 1 changes, word 0 does not";
  EXPECT_FALSE(tries.fails(swap_of(3, 0b10, 110), 115));
  EXPECT_FALSE(tries.fails(swap_of(2, 0b11, 110), 120)) << "word 1 is done, though another changed it since";
  EXPECT_TRUE(tries.fails(swap_of(4, 0b01, 119), 125));
  EXPECT_FALSE(tries.fails(swap_of(5, 0b10, 116), 126));
}

TEST(Tries, ARoundKeepsWhatSucceededUntilTheNext) {
  Tries tries(16);
  Tries::Try here = swap_of(1, 1, 0), there = swap_of(1, 1, 0, kLine + 1);
  EXPECT_FALSE(tries.fails(swap_of(2, 1, 0, kLine + 1), 100));
  EXPECT_FALSE(tries.fails(here, 110));
  EXPECT_TRUE(tries.fails(there, 110));
  EXPECT_FALSE(tries.fails(swap_of(3, 1, 110), 115)) << "another changes what had succeeded";
  here.read = there.read = 112;
  EXPECT_FALSE(tries.fails(here, 120));
  EXPECT_FALSE(tries.fails(there, 120));
  here.round = 1;
  EXPECT_TRUE(tries.fails(here, 130)) << "another lane's round";
}

}  // namespace
}  // namespace foretrace::memory
