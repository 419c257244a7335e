// nvdisasm's text beside the cubin that it is of. A first line "words" makes the code out of the text's own words, so that the
// comparison of the two does not end every changed instruction.
#include <cstdlib>

#include "sim/frontend/cubin.h"
#include "sim/frontend/disassembly.h"
#include "tests/fuzz/input.h"

using namespace foretrace;

namespace {

const frontend::KernelImage& image() {
  static const frontend::Cubin cubin = frontend::read_cubin(
      frontend::read_file(FORETRACE_SOURCE_DIR "/tests/emulate/data/sgemm_tiled.sm_90.cubin"), "cubin");
  return cubin.kernels.at(0);
}

/// The 64-bit words that stand in the text's comments, in their order.
std::vector<std::byte> words_of(std::string_view text) {
  std::vector<std::byte> bytes;
  for (std::size_t at = text.find("/* 0x"); at != std::string_view::npos; at = text.find("/* 0x", at + 1)) {
    const std::string digits(text.substr(at + 5, 16));
    const std::uint64_t word = std::strtoull(digits.c_str(), nullptr, 16);
    for (int i = 0; i < 8; ++i) bytes.push_back(static_cast<std::byte>(word >> (8 * i)));
  }
  bytes.resize(bytes.size() / 16 * 16);
  return bytes;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::string_view text = fuzz::text_of(data, size);
  frontend::KernelImage own = image();
  if (text.starts_with("words\n")) {
    text.remove_prefix(6);
    own.text = words_of(text);
  }
  fuzz::accept_or_refuse([&] {
    const isa::Program program = frontend::decode_kernel(own, text, "input");
    (void)frontend::format_program(program, {});
  });
  return 0;
}
