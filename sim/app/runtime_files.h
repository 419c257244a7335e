// Where the libraries are that stand in front of NVIDIA's.
#pragma once

#include <filesystem>

namespace foretrace::app {

/// The directory with libcudart.so.13, libcuda.so.1 and libnvidia-ml.so.1: beside the binary in a build tree (../lib/foretrace) and in
/// an installation. Throws InputError when they were not built.
std::filesystem::path runtime_directory();

}  // namespace foretrace::app
