/* Every function of the driver that Foretrace provides, called: on a GPU and without one the same lines come out. */
#define _POSIX_C_SOURCE 200809L
#include "check.h"

#include <unistd.h>

const char* const kPtx =
    ".version 8.0\n.target sm_80\n.address_size 64\n"
    ".visible .global .align 4 .u32 counter = 7;\n"
    ".visible .const .align 4 .f32 factor = 0f40000000;\n"
    ".visible .entry scale(.param .u64 p, .param .f32 f, .param .u32 n) {\n"
    "  .reg .u64 %rd<6>; .reg .u32 %r<8>; .reg .f32 %f<4>; .reg .pred %q;\n"
    "  ld.param.u64 %rd1, [p]; ld.param.f32 %f1, [f]; ld.param.u32 %r1, [n];\n"
    "  mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mov.u32 %r4, %tid.x; mad.lo.u32 %r5, %r2, %r3, %r4;\n"
    "  setp.ge.u32 %q, %r5, %r1; @%q bra done;\n"
    "  cvta.to.global.u64 %rd2, %rd1; mul.wide.u32 %rd3, %r5, 4; add.u64 %rd4, %rd2, %rd3;\n"
    "  ld.global.f32 %f2, [%rd4]; mul.f32 %f3, %f2, %f1; st.global.f32 [%rd4], %f3;\n"
    "done: ret;\n}\n"
    ".extern .shared .align 4 .b8 room[];\n"
    ".visible .entry shared(.param .u64 p) {\n"
    "  .reg .u64 %rd<6>; .reg .u32 %r<6>;\n"
    "  ld.param.u64 %rd1, [p]; cvta.to.global.u64 %rd2, %rd1; mov.u32 %r1, %tid.x; mov.u32 %r2, room;\n"
    "  shl.b32 %r3, %r1, 2; add.u32 %r4, %r2, %r3; st.shared.u32 [%r4], %r1; bar.sync 0; ld.shared.u32 %r5, "
    "[%r4];\n"
    "  mul.wide.u32 %rd3, %r1, 4; add.u64 %rd4, %rd2, %rd3; st.global.u32 [%rd4], %r5; ret;\n}\n";

static void check_errors(void) {
  const char* text = NULL;
  static const int codes[] = {0,   1,   2,   3,   4,   100, 101, 200, 201, 205, 209, 218, 220, 221,
                              222, 300, 301, 302, 304, 400, 401, 402, 500, 600, 700, 701, 702, 709,
                              714, 715, 716, 717, 718, 719, 720, 800, 801, 802, 900, 901, 902, 903,
                              904, 905, 906, 907, 908, 909, 910, 911, 912, 913, 914, 915, 999, 12345};
  for (size_t i = 0; i < sizeof codes / sizeof *codes; ++i) {
    text = "?";
    const CUresult named = cuGetErrorName((CUresult)codes[i], &text);
    printf("error %d: %d %s", codes[i], named, text == NULL ? "null" : text);
    text = "?";
    const CUresult worded = cuGetErrorString((CUresult)codes[i], &text);
    printf(", %d %s\n", worded, text == NULL ? "null" : text);
  }
}

/* Before cuInit, and without a context. */
static void check_start(void) {
  int version = 0, count = 0;
  CUcontext context = NULL;
  CUdevice device = 0;
  size_t size = 0;
  CUdeviceptr pointer = 0;
  T(cuDeviceGetCount(&count));
  T(cuDeviceGet(&device, 0));
  T(cuCtxGetCurrent(&context));
  T(cuMemAlloc_v2(&pointer, 64));
  T(cuInit(1));
  T(cuInit(0));
  T(cuInit(0));
  T(cuDriverGetVersion(&version));
  printf("device driver version at least 13000: %d\n", version >= 13000);
  T(cuMemAlloc_v2(&pointer, 64));
  T(cuMemGetInfo_v2(&size, &size));
  T(cuCtxGetDevice(&device));
  T(cuCtxSynchronize());
  T(cuStreamSynchronize(NULL));
  check_errors();
}

static void check_profiler(void) {
  T(cuProfilerInitialize(NULL, NULL, 0));
  T(cuProfilerStart());
  T(cuProfilerStop());
}

static const struct {
  const char* name;
  void (*check)(void);
  int with_context;
} kSections[] = {{"start", check_start, 0},
                 {"device", check_device, 0},
                 {"context", check_context, 0},
                 {"lookup", check_lookup, 0},
                 {"memory", check_memory, 1},
                 {"copies", check_copies, 1},
                 {"streams", check_streams, 1},
                 {"modules", check_modules, 1},
                 {"unified_functions", check_unified_functions, 1},
                 {"launches", check_launches, 1},
                 {"old_launches", check_old_launches, 1},
                 {"launch_attributes", check_launch_attributes, 1},
                 {"attached", check_attached, 1},
                 {"graphs", check_graphs, 1},
                 {"graph_nodes", check_graph_nodes, 1},
                 {"graph_memory", check_graph_memory, 1},
                 {"profiler", check_profiler, 1},
                 {"tensor_maps", check_tensor_maps, 1},
                 {"virtual_memory", check_virtual_memory, 1},
                 {"sharing", check_sharing, 1},
                 {"textures", check_textures, 1},
                 {"green_contexts", check_green_contexts, 1},
                 {"batches", check_batches, 1}};

/* One section a process: main.c NAME. Without a name: their names. */
int main(int argc, char** argv) {
  setvbuf(stdout, NULL, _IOLBF, 0);
  alarm(120); /* a call that waits for ever ends the program */
  for (size_t i = 0; i < sizeof kSections / sizeof *kSections; ++i) {
    CUcontext context = NULL;
    if (argc < 2) {
      printf("%s\n", kSections[i].name);
      continue;
    }
    if (strcmp(argv[1], kSections[i].name) != 0) continue;
    printf("== %s\n", argv[1]);
    if (kSections[i].check != check_start) T(cuInit(0));
    if (kSections[i].with_context) {
      T(cuDevicePrimaryCtxRetain(&context, 0));
      T(cuCtxSetCurrent(context));
    }
    kSections[i].check();
    if (kSections[i].with_context) {
      T(cuCtxSetCurrent(NULL));
      T(cuDevicePrimaryCtxRelease_v2(0));
      T(cuDevicePrimaryCtxRelease_v2(0));
    }
  }
  return 0;
}
