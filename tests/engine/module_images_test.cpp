// A module's images: each kind of pointer says the address of what it points to, in each image.
#include <cstring>
#include <string>

#include <gtest/gtest.h>

#include "model/units/error.h"
#include "sim/emulate/execute/device_runtime.h"
#include "sim/emulate/execute/driver_functions.h"
#include "sim/engine/module_images.h"

namespace foretrace::engine {
namespace {

using frontend::Image;
using frontend::TargetKind;

std::uint64_t word(const std::vector<std::byte>& image, std::uint64_t offset) {
  std::uint64_t value = 0;
  std::memcpy(&value, image.data() + offset, sizeof value);
  return value;
}

frontend::Module module_of(std::vector<frontend::Pointer> pointers) {
  frontend::Module module;
  module.globals.resize(32, std::byte{0x11});
  module.constant3.resize(16);
  module.constant4.resize(24);
  module.pointers = std::move(pointers);
  return module;
}

const ModulePlace kPlace{[](std::uint64_t offset) { return 0x10000 + offset; }, 0x20000};

TEST(ModuleImages, EachPointerIsTheAddressOfItsTarget) {
  const frontend::Module module = module_of({{Image::globals, 8, TargetKind::constant3, 4, ""},
                                             {Image::constant3, 8, TargetKind::global, 16, ""},
                                             {Image::constant4, 0, TargetKind::code, 0x120, "kernel"},
                                             {Image::constant4, 8, TargetKind::external, 0, "vprintf"},
                                             {Image::constant4, 16, TargetKind::kernel, 3, "child"}});
  const ModuleImages images = module_images(module, kPlace, "a.cubin");
  EXPECT_EQ(word(images.globals, 8), 0x20004u);
  EXPECT_EQ(word(images.globals, 16), 0x1111111111111111u) << "what is no pointer stays";
  EXPECT_EQ(word(images.constant3, 8), 0x10010u);
  EXPECT_EQ(word(images.constant4, 0), 0x120u);
  EXPECT_EQ(word(images.constant4, 8), emulate::driver_function_address("vprintf"));
  EXPECT_EQ(word(images.constant4, 16), emulate::kernel_handle(3));
}

TEST(ModuleImages, APointerOutsideItsImageIsRefused) {
  EXPECT_NO_THROW(
      module_images(module_of({{Image::constant3, 8, TargetKind::code, 0, ""}}), kPlace, "a.cubin"));
  try {
    module_images(module_of({{Image::constant3, 9, TargetKind::code, 0, ""}}), kPlace, "a.cubin");
    FAIL() << "seven bytes are left";
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "a.cubin: a pointer lies outside its section");
  }
}

}  // namespace
}  // namespace foretrace::engine
