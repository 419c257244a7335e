#include "check.h"

static const char kBroken[] =
    ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { nonsense; ret; }\n";

static void check_function(CUfunction function) {
  int value = 0;
  const char* name = NULL;
  size_t offset = 9, size = 9;
  CUfunctionLoadingState loaded = (CUfunctionLoadingState)9;
  CUmodule module = NULL;
  T(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, function));
  NUMBER(value);
  T(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, function));
  NUMBER(value);
  T(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, function));
  NUMBER(value);
  T(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, function));
  NUMBER(value);
  T(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_NUM_REGS, function));
  printf("device registers %d\n", value);
  T(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PTX_VERSION, function));
  printf("device PTX version %d\n", value);
  T(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_BINARY_VERSION, function));
  printf("device binary version %d\n", value);
  T(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
  NUMBER(value);
  T(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, function));
  NUMBER(value);
  T(cuFuncGetAttribute(&value, (CUfunction_attribute)100, function));
  T(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 65536));
  T(cuFuncGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, function));
  NUMBER(value);
  T(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1 << 24));
  T(cuFuncSetAttribute(function, CU_FUNC_ATTRIBUTE_NUM_REGS, 3));
  T(cuFuncSetCacheConfig(function, CU_FUNC_CACHE_PREFER_SHARED));
  T(cuFuncSetSharedMemConfig(function, CU_SHARED_MEM_CONFIG_DEFAULT_BANK_SIZE));
  T(cuFuncGetModule(&module, function));
  T(cuFuncGetName(&name, function));
  TEXT(name);
  T(cuFuncGetParamInfo(function, 1, &offset, &size));
  NUMBER(offset);
  NUMBER(size);
  T(cuFuncGetParamInfo(function, 50, &offset, &size));
  T(cuFuncLoad(function));
  T(cuFuncIsLoaded(&loaded, function));
  NUMBER(loaded);
}

static void check_library(void) {
  CUlibrary library = NULL, again = NULL;
  CUkernel kernel = NULL, kernels[4];
  CUfunction function = NULL;
  CUmodule module = NULL;
  CUdeviceptr address = 0;
  unsigned count = 0;
  int value = 0;
  size_t size = 0, offset = 0;
  const char* name = NULL;
  T(cuLibraryLoadData(&library, kPtx, NULL, NULL, 0, NULL, NULL, 0));
  T(cuLibraryLoadFromFile(&again, "/nowhere/there.cubin", NULL, NULL, 0, NULL, NULL, 0));
  T(cuLibraryGetKernel(&kernel, library, "scale"));
  T(cuLibraryGetKernel(&kernel, library, "nothing"));
  T(cuLibraryGetKernelCount(&count, library));
  NUMBER(count);
  T(cuLibraryEnumerateKernels(kernels, 4, library));
  T(cuLibraryGetModule(&module, library));
  T(cuLibraryGetGlobal(&address, &size, library, "counter"));
  NUMBER(size);
  T(cuLibraryGetGlobal(&address, &size, library, "nothing"));
  T(cuLibraryGetManaged(&address, &size, library, "nothing"));
  T(cuLibraryGetKernel(&kernel, library, "scale"));
  T(cuKernelGetFunction(&function, kernel));
  T(cuKernelGetLibrary(&again, kernel));
  NUMBER(again == library);
  T(cuKernelGetAttribute(&value, CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, kernel, 0));
  NUMBER(value);
  T(cuKernelSetAttribute(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES, 1024, kernel, 0));
  T(cuKernelSetCacheConfig(kernel, CU_FUNC_CACHE_PREFER_NONE, 0));
  T(cuKernelGetName(&name, kernel));
  TEXT(name);
  T(cuKernelGetParamInfo(kernel, 2, &offset, &size));
  NUMBER(offset);
  T(cuLibraryUnload(library));
}

static void check_link(void) {
  CUlinkState state = NULL;
  void* cubin = NULL;
  size_t size = 0;
  CUmodule module = NULL;
  char log[4096] = "";
  CUjit_option options[2] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[2] = {log, (void*)(size_t)sizeof log};
  T(cuLinkCreate_v2(2, options, values, &state));
  T(cuLinkAddData_v2(state, CU_JIT_INPUT_PTX, (void*)(size_t)kPtx, strlen(kPtx) + 1, "ptx", 0, NULL, NULL));
  T(cuLinkAddFile_v2(state, CU_JIT_INPUT_PTX, "/nowhere/there.ptx", 0, NULL, NULL));
  T(cuLinkComplete(state, &cubin, &size));
  NUMBER(size > 0);
  T(cuModuleLoadData(&module, cubin));
  T(cuModuleUnload(module));
  T(cuLinkDestroy(state));
  T(cuLinkCreate(0, NULL, NULL, &state));
  T(cuLinkAddFile(state, CU_JIT_INPUT_PTX, "/nowhere/there.ptx", 0, NULL, NULL));
  T(cuLinkAddData(state, CU_JIT_INPUT_PTX, (void*)(size_t)kPtx, strlen(kPtx) + 1, "ptx", 0, NULL, NULL));
  T(cuLinkDestroy(state));
}

void check_modules(void) {
  CUmodule module = NULL, other = NULL;
  CUfunction function = NULL, functions[4];
  CUdeviceptr address = 0;
  size_t size = 0;
  unsigned count = 0;
  CUmoduleLoadingMode mode;
  char log[4096] = "";
  CUjit_option options[3] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES,
                             CU_JIT_MAX_REGISTERS};
  void* values[3] = {log, (void*)(size_t)sizeof log, (void*)(size_t)32};
  int number = 0;
  FILE* file = fopen("check.ptx", "w");
  fputs(kPtx, file);
  fclose(file);
  T(cuModuleLoad(&module, "check.ptx"));
  T(cuModuleUnload(module));
  T(cuModuleLoad(&module, "/nowhere/there.cubin"));
  T(cuModuleLoadData(&module, kPtx));
  T(cuModuleLoadDataEx(&other, kBroken, 3, options, values));
  NUMBER(strlen(log) > 0);
  values[1] = (void*)(size_t)sizeof log;
  T(cuModuleLoadDataEx(&other, kPtx, 3, options, values));
  T(cuModuleUnload(other));
  T(cuModuleLoadFatBinary(&other, kPtx));
  T(cuModuleGetFunction(&function, module, "nothing"));
  T(cuModuleGetFunction(&function, module, "scale"));
  T(cuModuleGetFunctionCount(&count, module));
  NUMBER(count);
  T(cuModuleEnumerateFunctions(functions, 4, module));
  T(cuModuleGetGlobal_v2(&address, &size, module, "counter"));
  NUMBER(size);
  T(cuMemcpyDtoH_v2(&number, address, 4));
  NUMBER(number);
  T(cuModuleGetGlobal_v2(NULL, &size, module, "factor"));
  T(cuModuleGetGlobal_v2(&address, &size, module, "nothing"));
  T(cuModuleGetLoadingMode(&mode));
  check_function(function);
  check_library();
  check_link();
  T(cuModuleUnload(module));
  remove("check.ptx");
}

void check_unified_functions(void) {
  CUlibrary library = NULL;
  void* function = NULL;
  T(cuLibraryLoadData(&library, kPtx, NULL, NULL, 0, NULL, NULL, 0));
  T(cuLibraryGetUnifiedFunction(&function, library, "nothing"));
  T(cuLibraryGetUnifiedFunction(NULL, library, "nothing"));
  T(cuLibraryUnload(library));
}
