// What device code prints, allocates and asserts: formats by themselves, the heap by itself, and kernels compiled by nvcc for
// sm_80, sm_90 and sm_120 (conformance/driver.cu).
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include <fmt/format.h>

#include "sim/emulate/execute/driver_functions.h"
#include "tests/emulate/loaded.h"

namespace foretrace {
namespace {

/// Arguments as the compiler packs them, strings behind them.
class Packed {
 public:
  template <class T>
  Packed& add(T value) {
    bytes_.resize((bytes_.size() + sizeof value - 1) / sizeof value * sizeof value);
    const auto* p = reinterpret_cast<const char*>(&value);
    bytes_.insert(bytes_.end(), p, p + sizeof value);
    return *this;
  }
  Packed& add_text(const char* text) {
    add(std::uint64_t{kText} + texts_.size());
    texts_.append(text, std::strlen(text) + 1);
    return *this;
  }
  emulate::Formatted format(std::string_view how) const {
    return emulate::format_device_text(
        how, 0, [&](std::uint64_t at) { return at >= kText ? texts_.at(at - kText) : bytes_.at(at); });
  }

 private:
  static constexpr std::uint64_t kText = 4096;
  std::vector<char> bytes_;
  std::string texts_;
};

TEST(DeviceText, TakesEachConversionFromItsPlace) {
  Packed p;
  p.add(-7)
      .add(7u)
      .add(0xffu)
      .add(2.5)
      .add('x' + 0)
      .add_text("word")
      .add(std::int64_t{-5000000000})
      .add(std::uint64_t{0xabcd});
  const emulate::Formatted out = p.format("%d %u %#x %.3f %c [%6s] %lld %p%%");
  EXPECT_EQ(out.text, "-7 7 0xff 2.500 x [  word] -5000000000 0xabcd%");
  EXPECT_EQ(out.arguments, 8);
}

TEST(DeviceText, TakesWidthAndPrecisionFromArguments) {
  Packed p;
  p.add(8).add(2).add(3.14159).add(-6).add(42);
  EXPECT_EQ(p.format("[%*.*f][%*d]").text, "[    3.14][42    ]");
}

TEST(DeviceText, CutsShortIntegers) {
  Packed p;
  p.add(0x12345).add(0x1ff).add(-1).add(-1);
  EXPECT_EQ(p.format("%hx %hhd %hu %u").text, "2345 -1 65535 4294967295");
}

TEST(DeviceText, LeavesWhatItDoesNotKnow) {
  EXPECT_EQ(Packed().format("100%y and %").text, "100%y and %");
  EXPECT_EQ(Packed().add(std::uint64_t{0}).format("%s").text, "(null)");
}

TEST(DriverFunctions, HaveAddressesByName) {
  EXPECT_EQ(emulate::driver_function_name(emulate::driver_function_address("malloc")), "malloc");
  const std::uint64_t unknown = emulate::driver_function_address("cudaLaunchDeviceV2");
  EXPECT_EQ(unknown, emulate::driver_function_address("cudaLaunchDeviceV2"));
  EXPECT_NE(unknown, emulate::driver_function_address("free"));
  EXPECT_EQ(emulate::driver_function_name(unknown), "cudaLaunchDeviceV2");
  EXPECT_EQ(emulate::driver_function_name(16), "") << "the program's own code";
}

TEST(DeviceHeap, GivesWhatFitsAndTakesItBack) {
  emulate::GlobalMemory memory;
  emulate::DeviceHeap& heap = memory.heap();
  EXPECT_EQ(heap.allocate(16), 0u) << "no arena yet";
  ASSERT_TRUE(heap.set_limit(1024));
  heap.place(memory);
  EXPECT_FALSE(heap.set_limit(2048)) << "the arena is there";
  const std::uint64_t a = heap.allocate(500), b = heap.allocate(500);
  ASSERT_NE(a, 0u);
  ASSERT_NE(b, 0u);
  EXPECT_EQ(a % 16, 0u);
  EXPECT_GE(b, a + 500);
  EXPECT_EQ(heap.allocate(1), 0u) << "2 * 512 bytes are taken";
  EXPECT_TRUE(heap.usable(a, 500));
  EXPECT_FALSE(heap.usable(a, 501));
  EXPECT_FALSE(heap.usable(a + 499, 2));
  EXPECT_EQ(heap.release(a + 16), emulate::DeviceHeap::Released::unknown);
  EXPECT_EQ(heap.release(a), emulate::DeviceHeap::Released::yes);
  EXPECT_EQ(heap.release(a), emulate::DeviceHeap::Released::twice);
  EXPECT_TRUE(heap.below(a + 4).freed);
  EXPECT_EQ(heap.release(b), emulate::DeviceHeap::Released::yes);
  EXPECT_NE(heap.allocate(1024), 0u) << "freed neighbours become one";
  EXPECT_EQ(heap.in_use(), 1024u);
}

TEST(DeviceHeap, TakesFreedSpaceUpLate) {
  emulate::GlobalMemory memory;
  memory.heap().place(memory);
  const std::uint64_t a = memory.heap().allocate(64);
  memory.heap().release(a);
  EXPECT_NE(memory.heap().allocate(64), a);
}

class Driver : public testing::TestWithParam<int> {
 protected:
  /// One block of `threads` threads; in[i] = i.
  std::vector<int> run(const std::string& name, unsigned threads) {
    const frontend::LoadedKernel& kernel =
        emulate::kernels_of("driver.cu", GetParam(), {"-lineinfo"}).at(name);
    emulate::Loaded launch(kernel, {1, 1, 1}, {threads, 1, 1});
    std::vector<std::uint32_t> in(64);
    std::iota(in.begin(), in.end(), 0u);
    launch.buffer(in, "in");
    launch.buffer(std::vector<std::uint32_t>(64), "out");
    launch.context.print = [&](std::string_view text) { printed_ += text; };
    launch.context.report = [&](std::string_view text) { reported_ += text; };
    EXPECT_FALSE(emulate::blocks_are_independent(kernel.program)) << "text and heap have an order";
    launch.run();
    const std::vector<std::uint32_t> out = launch.read(1, 64);
    return {out.begin(), out.end()};
  }
  emulate::FaultKind fault_of(const std::string& name, unsigned threads) {
    try {
      run(name, threads);
    } catch (const emulate::KernelFault& fault) {
      message_ = fault.what();
      return fault.kind();
    }
    ADD_FAILURE() << name << " does not fail";
    return emulate::FaultKind::trap;
  }
  std::string printed_, reported_, message_;
};

TEST_P(Driver, PrintsLaneByLane) {
  const std::vector<int> out = run("prints", 4);
  std::string even, odd;
  for (int i = 0; i < 4; i += 2) {
    even += fmt::format("thread {} of 4: {:5.2f}|text  |{:06x}|{}|{}|%\n", i, i * 0.5, i,
                        static_cast<char>('a' + i), -5000000000ll - i);
    odd += "odd\n";
  }
  EXPECT_TRUE(printed_ == even + odd || printed_ == odd + even) << printed_;
  EXPECT_EQ(out[0], 7);
  EXPECT_EQ(out[1], 0);
}

TEST_P(Driver, AllocatesAndFrees) {
  const std::vector<int> out = run("lists", 40);
  for (int i = 0; i < 40; ++i) EXPECT_EQ(out[static_cast<std::size_t>(i)], i * (i + 1));
}

TEST_P(Driver, KernelsNeedNoParameters) {
  const frontend::LoadedKernel& kernel =
      emulate::kernels_of("driver.cu", GetParam(), {"-lineinfo"}).at("no_parameters");
  emulate::Loaded launch(kernel, {1, 1, 1}, {40, 1, 1});
  launch.context.print = [&](std::string_view text) { printed_ += text; };
  launch.run();
  std::string expected;
  for (int i = 0; i < 40; ++i) expected += "41\n";
  EXPECT_EQ(printed_, expected);
}

TEST_P(Driver, RunsOutOfHeap) { EXPECT_EQ(run("exhausts", 1)[0], 8); }

TEST_P(Driver, CallsThroughTablesAndVirtualFunctions) {
  const std::vector<int> out = run("calls", 33);
  const int fibonacci[] = {1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144};
  for (int i = 0; i < 33; ++i) {
    const int x = i % 12, called = i % 3 == 0 ? 2 * x : i % 3 == 1 ? x + 1 : fibonacci[x];
    EXPECT_EQ(out[static_cast<std::size_t>(i)], called + (i % 3 == 0 ? i * i : i / 2)) << i;
  }
}

TEST_P(Driver, FailedAssertionsAreNamedAsCudaNamesThem) {
  EXPECT_EQ(fault_of("asserts", 42), emulate::FaultKind::assertion);
  EXPECT_NE(reported_.find("driver.cu:48: void asserts(const int *, int *): block: [0,0,0], thread: [40,0,0] "
                           "Assertion `in[threadIdx.x] < 40` failed.\n"),
            std::string::npos)
      << reported_;
  EXPECT_NE(reported_.find("thread: [41,0,0]"), std::string::npos);
  EXPECT_EQ(reported_.find("thread: [39,0,0]"), std::string::npos);
  EXPECT_NE(message_.find("kernel asserts, block (0,0,0), thread (40,0,0)"), std::string::npos) << message_;
}

TEST_P(Driver, MisuseOfTheHeapIsFound) {
  EXPECT_EQ(fault_of("frees_twice", 1), emulate::FaultKind::use_after_free);
  EXPECT_NE(message_.find("freed before"), std::string::npos) << message_;
  EXPECT_EQ(fault_of("uses_freed", 1), emulate::FaultKind::use_after_free);
  EXPECT_NE(message_.find("use after free"), std::string::npos) << message_;
  EXPECT_EQ(fault_of("runs_over", 1), emulate::FaultKind::out_of_bounds);
  EXPECT_NE(message_.find("0 bytes after the end of the block"), std::string::npos) << message_;
}

INSTANTIATE_TEST_SUITE_P(Architectures, Driver, testing::Values(80, 90, 120));

}  // namespace
}  // namespace foretrace
