// The driver's functions by name and version: what cuGetProcAddress and cudaGetDriverEntryPoint look up.
#pragma once

namespace foretrace::runtime::driver {

enum class Lookup { found, no_such_name, version_too_low };

/// The newest form of the function that a program of `version` (12040: CUDA 12.4) may know. A function that is not provided is not
/// found: programs ask for hundreds that they never call. `per_thread`: the variant of the per-thread default stream, where there is.
Lookup find_entry(const char* name, int version, bool per_thread, void*& function);

}  // namespace foretrace::runtime::driver
