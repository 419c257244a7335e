// What code is reached when functions of the device runtime are somebody else's.
#include "sim/frontend/device_runtime.h"

#include <elf.h>
#include <gtest/gtest.h>

namespace foretrace::frontend {
namespace {

TEST(DeviceRuntime, IsKnownByItsNames) {
  EXPECT_TRUE(is_device_runtime("__cudaCDP2LaunchDeviceV2"));
  EXPECT_FALSE(is_device_runtime("_Z6parentPi"));
  EXPECT_FALSE(is_device_runtime("vprintf"));
}

TEST(DeviceRuntime, IsWhereTheReachOfCodeEnds) {
  ElfFile elf;
  elf.sections.resize(6);
  const char* const names[] = {"", "kernel", "used", "__cudaCDP2LaunchDeviceV2", "behind_it", "unused"};
  elf.symbols.resize(5);
  for (std::uint16_t i = 1; i < 5; ++i) {
    elf.symbols[i].name = names[i];
    elf.symbols[i].section = i;
  }
  std::vector<Elf64_Rela> of_kernel(2), of_runtime(1);
  of_kernel[0].r_info = std::uint64_t{2} << 32;
  of_kernel[1].r_info = std::uint64_t{3} << 32;
  of_runtime[0].r_info = std::uint64_t{4} << 32;
  const auto add = [&](std::uint32_t section, const std::vector<Elf64_Rela>& table) {
    ElfSection made;
    made.type = SHT_RELA;
    made.info = section;
    made.bytes = std::as_bytes(std::span(table));
    elf.sections.push_back(made);
  };
  add(1, of_kernel);
  add(3, of_runtime);
  EXPECT_EQ(reached_sections(elf, {1}), (std::set<std::size_t>{1, 2}));
  EXPECT_EQ(reached_sections(elf, {3}), (std::set<std::size_t>{3, 4}));
}

}  // namespace
}  // namespace foretrace::frontend
