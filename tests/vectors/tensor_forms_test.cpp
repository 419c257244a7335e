// Warpgroup products, sparse products and tensor copies against an H100's answers: hashes of every word that a form wrote, the words of
// every tensor map that its driver made, and which forms it refused (validate/vectors/tensor).
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <map>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "sim/emulate/emulator.h"
#include "sim/emulate/tensor/tensor_map.h"
#include "sim/frontend/load.h"
#include "validate/vectors/tensor/fill.h"

namespace foretrace::vectors {
namespace {

constexpr std::uint32_t kTensorSeed =
    5000;  ///< what is added to a form's number for shared memory's contents

std::vector<std::int64_t> list(const std::string& text) {
  std::vector<std::int64_t> numbers;
  if (text == "-") return numbers;
  std::stringstream in(text);
  for (std::string part; std::getline(in, part, ',');) numbers.push_back(std::stoll(part));
  return numbers;
}

/// What the device said of a form, by its number.
struct Answer {
  std::string what;  ///< "words", "failed", "encode"
  std::size_t words = 0;
  std::uint64_t hash = 0;
  std::string map;  ///< words 2 to 31 in hexadecimal
};

std::map<std::uint32_t, Answer> read_answers() {
  std::map<std::uint32_t, Answer> answers;
  std::ifstream in(std::string(FORETRACE_SOURCE_DIR) + "/validate/vectors/tensor/answers_h100.txt");
  for (std::string line; std::getline(in, line);) {
    std::stringstream f(line);
    std::uint32_t index = 0;
    std::string name, what;
    f >> index >> name >> what;
    Answer& a = answers[index];
    if (what == "map") {
      std::getline(f, a.map);
      continue;
    }
    a.what = what;
    if (what == "words") f >> a.words >> std::hex >> a.hash;
  }
  return answers;
}

const std::map<std::string, frontend::LoadedKernel>& kernels() {
  static const auto loaded = [] {
    frontend::LoadRequest request;
    request.file = FORETRACE_TENSOR_FORMS "/forms.cubin";
    request.kernel = ".*";
    request.regex = true;
    std::map<std::string, frontend::LoadedKernel> by_name;
    for (frontend::LoadedKernel& kernel : frontend::load_kernels(request, frontend::Toolchain{}))
      by_name.emplace(kernel.program.kernel, kernel);
    return by_name;
  }();
  return loaded;
}

struct Launch {
  emulate::GlobalMemory memory;
  emulate::LaunchContext context;
  std::size_t at = 0;

  Launch(const std::string& kernel, std::uint32_t threads, std::uint32_t shared) {
    const frontend::LoadedKernel& loaded = kernels().at(kernel);
    context.program = &loaded.program;
    context.memory = &memory;
    context.block = {threads, 1, 1};
    context.dynamic_shared = shared;
    context.banks[2] = loaded.constant2;
    context.parameters.resize(loaded.program.parameter_bytes);
  }
  template <class T>
  void put(const T& value) {
    at = (at + alignof(T) - 1) / alignof(T) * alignof(T);
    std::memcpy(context.parameters.data() + at, &value, sizeof value);
    at += sizeof value;
  }
  std::uint64_t buffer(const std::vector<std::uint32_t>& words, const char* name, std::uint64_t bytes = 0) {
    const std::uint64_t address = memory.allocate(std::max<std::uint64_t>(bytes, words.size() * 4), name);
    memory.write(address, std::as_bytes(std::span(words)));
    return address;
  }
  std::vector<std::uint32_t> run(std::uint64_t out, std::size_t words) {
    emulate::Emulator(context).run_block(0, nullptr);
    std::vector<std::uint32_t> answer(words);
    memory.read(out, std::as_writable_bytes(std::span(answer)));
    return answer;
  }
};

std::vector<std::uint32_t> run_product(std::stringstream& f, std::uint32_t index, const std::string& name,
                                       const std::string& kernel) {
  int registers = 0, pattern = 0, kind = 0, meta = 0;
  std::uint64_t da = 0, db = 0;
  std::uint32_t sd = 0;
  std::string mask;
  f >> registers >> std::hex >> da >> db >> std::dec >> sd >> pattern >> mask >> kind >> meta;
  const bool warp = name.starts_with("mma_");
  Launch launch(kernel, warp ? 32 : 128, warp ? 0 : kSharedWords * 4 + 1024);
  const auto bits = static_cast<std::uint32_t>(std::stoul(mask, nullptr, 16));
  const std::uint64_t in =
      launch.buffer(product_input(index, registers, pattern, bits, kind, meta != 0), "in");
  const std::size_t words = 128 * static_cast<std::size_t>(registers);
  const std::uint64_t out = launch.buffer(std::vector<std::uint32_t>(words), "out");
  launch.put(in);
  launch.put(out);
  launch.put(da);
  launch.put(db);
  launch.put(sd);
  return launch.run(out, words);
}

struct TensorForm {
  emulate::TensorMap map;
  int at[5] = {}, offset[3] = {};
  std::uint32_t shared = 0, bytes = 0;
  std::uint64_t size = 0;
  int pattern = 0;
};

TensorForm read_tensor(std::stringstream& f) {
  TensorForm form;
  emulate::TensorMap& m = form.map;
  int type = 0, interleave = 0, swizzle = 0, fill = 0;
  std::string dims, strides, box, es, lower, upper, at, off;
  f >> type >> m.rank >> dims >> strides >> box >> es >> interleave >> swizzle >> fill >> lower >> upper >>
      at >> off >> form.shared >> form.bytes >> form.size >> form.pattern;
  m.type = static_cast<emulate::TensorType>(type);
  m.interleave = static_cast<std::uint8_t>(interleave);
  m.swizzle = static_cast<emulate::TensorSwizzle>(swizzle);
  m.nan_fill = fill != 0;
  const auto copy = [](const std::string& text, auto* to) {
    for (const std::int64_t v : list(text)) *to++ = static_cast<std::remove_reference_t<decltype(*to)>>(v);
  };
  copy(dims, m.dims.data());
  copy(strides, m.strides.data() + 1);
  copy(es, m.element_strides.data());
  copy(at, form.at);
  copy(off, form.offset);
  m.walk = lower != "-" ? emulate::BoxWalk::im2col : emulate::BoxWalk::tiled;
  copy(lower, m.lower.data());
  copy(upper, m.upper.data());
  const auto sizes = list(box);
  if (m.im2col()) {
    m.channels = static_cast<std::uint32_t>(sizes[0]);
    m.pixels = static_cast<std::uint32_t>(sizes[1]);
  } else {
    copy(box, m.box.data());
  }
  return form;
}

std::string map_words(const emulate::TensorMap& map) {
  std::uint32_t words[32];
  const emulate::TensorMapBytes bytes = emulate::encode(map);
  std::memcpy(words, bytes.data(), sizeof words);
  std::stringstream text;
  for (int i = 2; i < 32; ++i) text << ' ' << std::hex << words[i];
  return text.str();
}

std::vector<std::uint32_t> run_tensor(TensorForm& form, std::uint32_t index, const std::string& kernel) {
  Launch launch(kernel, 128, kSharedWords * 4 + 1024);
  std::vector<std::uint32_t> data((form.size + 3) / 4 + 16), input(kSharedWords);
  for (std::uint32_t i = 0; i < data.size(); ++i) data[i] = tensor_word(index, i, form.pattern);
  for (std::uint32_t i = 0; i < kSharedWords; ++i)
    input[i] = tensor_word(index + kTensorSeed, i, form.pattern);
  const std::uint64_t in = launch.buffer(input, "in"), out = launch.buffer({}, "out", (kSharedWords + 1) * 4);
  const std::uint64_t tensor = launch.buffer(data, "tensor", std::uint64_t{8} << 20);
  form.map.address = tensor;
  std::vector<std::uint32_t> words(32);
  const emulate::TensorMapBytes bytes = emulate::encode(form.map);
  std::memcpy(words.data(), bytes.data(), bytes.size());
  const std::uint64_t map = launch.buffer(words, "map");
  launch.put(in);
  launch.put(out);
  launch.put(map);
  for (const int v : form.at) launch.put(v);
  for (const int v : form.offset) launch.put(v);
  launch.put(form.shared);
  launch.put(form.bytes);
  const bool loads = kernel[1] == 'l';
  std::vector<std::uint32_t> answer =
      launch.run(loads ? out : tensor, loads ? kSharedWords + 1 : data.size());
  if (loads) {
    EXPECT_EQ(answer[kSharedWords], 0u) << "the copy has completed";
    answer.resize((form.shared + form.bytes + 1023) / 1024 * 256);
  }
  return answer;
}

TEST(TensorForms, AgreeWithTheH100) {
  const auto answers = read_answers();
  std::ifstream table(std::string(FORETRACE_SOURCE_DIR) + "/validate/vectors/tensor/forms.txt");
  std::uint32_t index = 0, compared = 0, faults = 0;
  for (std::string line; std::getline(table, line); ++index) {
    std::stringstream f(line);
    std::string what, name, kernel;
    f >> what >> name >> kernel;
    const Answer& answer = answers.at(index);
    SCOPED_TRACE(std::to_string(index) + " " + name);
    try {
      std::vector<std::uint32_t> got;
      if (what == "w") {
        got = run_product(f, index, name, kernel);
      } else {
        TensorForm form = read_tensor(f);
        if (answer.what == "encode") {
          EXPECT_NE(emulate::problem_of(form.map), "") << "the driver refuses it";
          continue;
        }
        form.map.address = 256;
        ASSERT_EQ(emulate::problem_of(form.map), "");
        EXPECT_EQ(map_words(form.map), answer.map);
        if (form.map.interleave != 0) continue;  // refused by the emulator
        got = run_tensor(form, index, kernel);
      }
      ++compared;
      EXPECT_EQ(answer.what, "words");
      EXPECT_EQ(got.size(), answer.words);
      EXPECT_EQ(hash_words(got.data(), got.size()), answer.hash);
    } catch (const emulate::KernelFault& fault) {
      EXPECT_EQ(answer.what, "failed") << fault.what();
      ++faults;
    }
  }
  EXPECT_EQ(index, 466u);
  RecordProperty("compared", static_cast<int>(compared));
  RecordProperty("faults", static_cast<int>(faults));
}

}  // namespace
}  // namespace foretrace::vectors
