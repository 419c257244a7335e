// Runs the vector kernels of given cubins on this machine's GPU and writes their answers, and samples the special functions.
//     runner TABLE CUBIN_FOLDER SM OUT_FOLDER [KERNEL...]
// writes OUT_FOLDER/answers.bin: the answer words of all kernels of the table in its order, and OUT_FOLDER/FUNCTION.sweeps for
// each function of special.h (its sweeps one after another, see write_sweep). The kernels named at the end are left out: their
// words are 0xdeadbeef. The first failure ends the program with the kernel's name on stdout.
#include <cuda.h>

#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>

#include "special.h"
#include "table.h"

namespace {

using namespace foretrace::vectors;

void must(CUresult result, const char* what) {
  if (result == CUDA_SUCCESS) return;
  const char* text = nullptr;
  cuGetErrorString(result, &text);
  std::printf("failed %s\nerror %s\n", what, text != nullptr ? text : "?");
  std::exit(1);
}

struct Device {
  Device() {
    CUdevice device;
    must(cuInit(0), "cuInit");
    must(cuDeviceGet(&device, 0), "cuDeviceGet");
    must(cuDevicePrimaryCtxRetain(&context, device), "cuDevicePrimaryCtxRetain");
    must(cuCtxSetCurrent(context), "cuCtxSetCurrent");
    char name[128];
    must(cuDeviceGetName(name, sizeof name, device), "cuDeviceGetName");
    int driver = 0;
    must(cuDriverGetVersion(&driver), "cuDriverGetVersion");
    std::printf("device %s\ncuda_driver %d\n", name, driver);
  }
  CUcontext context;
};

std::vector<std::uint32_t> run(CUfunction function, const VectorKernel& kernel) {
  const std::vector<std::uint32_t> in = operand_words(kernel);
  std::vector<std::uint32_t> out(std::size_t{kernel.words} * kernel.tuples, 0);
  CUdeviceptr device_in, device_out;
  must(cuMemAlloc(&device_in, in.size() * 4), "cuMemAlloc");
  must(cuMemAlloc(&device_out, out.size() * 4), "cuMemAlloc");
  must(cuMemcpyHtoD(device_in, in.data(), in.size() * 4), "cuMemcpyHtoD");
  must(cuMemsetD32(device_out, 0, out.size()), "cuMemsetD32");
  std::uint32_t tuples = kernel.tuples;
  std::uint32_t constants[8];
  for (int i = 0; i < 8; ++i) constants[i] = kConstants[i];
  void* arguments[] = {&device_in, &device_out, &tuples, constants};
  must(cuLaunchKernel(function, kernel.tuples / 128, 1, 1, 128, 1, 1, 0, nullptr, arguments, nullptr),
       kernel.name.c_str());
  const CUresult result = cuCtxSynchronize();
  if (result != CUDA_SUCCESS) must(result, kernel.name.c_str());
  must(cuMemcpyDtoH(out.data(), device_out, out.size() * 4), "cuMemcpyDtoH");
  cuMemFree(device_in);
  cuMemFree(device_out);
  return out;
}

std::vector<std::uint32_t> run(CUfunction function, const Sweep& sweep) {
  CUdeviceptr device_out;
  must(cuMemAlloc(&device_out, std::size_t{sweep.count} * 4), "cuMemAlloc");
  std::uint32_t first = sweep.first, step = sweep.step;
  void* arguments[] = {&device_out, &first, &step};
  must(cuLaunchKernel(function, sweep.count / 256, 1, 1, 256, 1, 1, 0, nullptr, arguments, nullptr),
       sweep.function);
  must(cuCtxSynchronize(), sweep.function);
  std::vector<std::uint32_t> out(sweep.count);
  must(cuMemcpyDtoH(out.data(), device_out, out.size() * 4), "cuMemcpyDtoH");
  cuMemFree(device_out);
  return out;
}

/// Second differences, which are small where the function is smooth: one byte each, or 0x80 and then, after all bytes of the
/// sweep, the answer's four bytes. Answers before the first two count as 0.
void write_sweep(std::FILE* file, const std::vector<std::uint32_t>& answers) {
  std::vector<std::uint8_t> bytes;
  std::vector<std::uint32_t> rest;
  std::uint32_t before = 0, last = 0;
  for (const std::uint32_t answer : answers) {
    const auto difference = static_cast<std::int32_t>(answer - 2 * last + before);
    const bool small = difference > -128 && difference < 128;
    bytes.push_back(small ? static_cast<std::uint8_t>(difference) : 0x80);
    if (!small) rest.push_back(answer);
    before = last;
    last = answer;
  }
  std::fwrite(bytes.data(), 1, bytes.size(), file);
  std::fwrite(rest.data(), 4, rest.size(), file);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return std::fprintf(stderr, "runner TABLE CUBIN_FOLDER SM OUT_FOLDER [KERNEL...]\n"), 2;
  const Device device;
  const std::set<std::string> left_out(argv + 5, argv + argc);
  std::map<std::string, CUmodule> modules;
  const std::string folder = std::string(argv[2]) + "/", out = std::string(argv[4]) + "/";
  const auto function = [&](const std::string& file, const char* name) {
    if (modules.find(file) == modules.end()) {
      const std::string path = folder + file + ".sm_" + argv[3] + ".cubin";
      must(cuModuleLoad(&modules[file], path.c_str()), path.c_str());
    }
    CUfunction found;
    must(cuModuleGetFunction(&found, modules[file], name), name);
    return found;
  };
  std::FILE* answers = std::fopen((out + "answers.bin").c_str(), "wb");
  if (answers == nullptr) return std::fprintf(stderr, "cannot write to %s\n", out.c_str()), 2;
  for (const VectorKernel& kernel : read_table(argv[1])) {
    const bool runs = left_out.find(kernel.name) == left_out.end();
    const std::vector<std::uint32_t> words =
        runs ? run(function(kernel.file, kernel.name.c_str()), kernel)
             : std::vector<std::uint32_t>(std::size_t{kernel.words} * kernel.tuples, 0xdeadbeef);
    std::fwrite(words.data(), 4, words.size(), answers);
  }
  std::fclose(answers);
  std::string written;
  std::FILE* sweeps = nullptr;
  for (const Sweep& sweep : kSweeps) {
    if (sweep.function != written) {
      if (sweeps != nullptr) std::fclose(sweeps);
      written = sweep.function;
      sweeps = std::fopen((out + written + ".sweeps").c_str(), "wb");
      if (sweeps == nullptr) return std::fprintf(stderr, "cannot write to %s\n", out.c_str()), 2;
    }
    write_sweep(sweeps, run(function("special_" + written, "special"), sweep));
  }
  if (sweeps != nullptr) std::fclose(sweeps);
  std::printf("done\n");
  return 0;
}
