// Device code that a program loads itself: what cudaLibraryLoadData, cuLibraryLoadData and cuModuleLoadData make.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "sim/runtime/device/module.h"

namespace foretrace::runtime {

struct State;

struct Library {
  std::vector<std::byte> bytes;  ///< of a file; empty: the program's memory holds them
  std::unique_ptr<Module> module;
};

/// Reads the code and places its variables. `bytes` empty: `image` is in the program's memory. `ptxas`: further options
/// for PTX. Throws as Module::load.
Library& load_library(State& s, const void* image, std::vector<std::byte> bytes, std::string where,
                      std::vector<std::string> ptxas = {});
/// Null: no such library.
Library* library_of(State& s, const void* handle);
void unload_library(State& s, Library& library);
/// The kernel as a handle: State::kernel() finds it.
Kernel* give_handle(State& s, Kernel* kernel);

}  // namespace foretrace::runtime
