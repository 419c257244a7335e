// The points of table.cu: what is asked, sizes, counts and lengths of which none is a row that configs/hosts is fitted to.
#pragma once

/// Kernels in a row: of several lengths and shapes, with events, fills, other streams and copies between.
static void gaps() {
  for (const int threads : {32, 64, 256}) {
    measure({"short kernel", text("work, %ld threads", threads), kTime, 4, 60}, [&] {
      for (int i = 0; i < 4; ++i) work<<<1, threads, 0, s[0]>>>(0, stamps);
    });
  }
  for (const double us : {0.5, 3.0, 9.0, 31.0, 110.0}) {
    for (const int threads : {32, 256}) {
      const char* alone = threads == 32 ? "work, 32 threads" : "work, 256 threads";
      measure(
          {"gap", text("stream, 16 kernels of 1 block, %ld threads, %ld ns", threads, long(us * 1e3)),
           (us > 3 ? 0u : kEvents) | kStamped | kGap, 16, 250, 200, alone},
          [&] {
            for (int i = 0; i < 16; ++i) work<<<1, threads, 0, s[0]>>>(rounds_of(us), stamps + 2 * i);
          },
          16);
    }
  }
  const int shapes[][2] = {{66, 128}, {132, 512}, {264, 256}, {700, 64}, {2112, 128}};
  for (const auto& [grid, threads] : shapes) {
    measure({"gap", text("stream, 16 kernels of %ld blocks, %ld threads", grid, threads), kEvents | kGap, 16,
             250},
            [&] {
              for (int i = 0; i < 16; ++i) work<<<grid, threads, 0, s[0]>>>(rounds_of(4), nullptr);
            });
  }
  for (const int n : {3, 7, 40, 250}) {
    measure({"gap", text("stream, %ld kernels", n), kEvents, double(n), n * 6.0 + 60}, [&] {
      for (int i = 0; i < n; ++i) work<<<2, 96, 0, s[0]>>>(rounds_of(1.5), nullptr);
    });
    if (n < 250)
      measure({"idle start", text("stream, %ld kernels on an idle GPU", n), kEvents, double(n), 0}, [&] {
        for (int i = 0; i < n; ++i) work<<<2, 96, 0, s[0]>>>(rounds_of(1.5), nullptr);
      });
  }
  for (const int n : {1, 2, 4}) {
    for (const double us : {0.5, 2.0, 5.0}) {
      measure({"idle start", text("launch %ld of %ld ns and wait", n, long(us * 1e3)), kCall, 1, 0}, [&] {
        for (int i = 0; i < n; ++i) work<<<8, 64, 0, s[0]>>>(rounds_of(us), nullptr);
        OK(cudaStreamSynchronize(s[0]));
      });
    }
  }
  measure(
      {"gap", "timed event between, 9 us", kStamped, 12, 250, 200, "work, 32 threads"},
      [&] {
        for (int i = 0; i < 12; ++i) {
          work<<<1, 32, 0, s[0]>>>(rounds_of(9), stamps + 2 * i);
          OK(cudaEventRecord(timed, s[0]));
        }
      },
      12);
  measure(
      {"gap", "event between, 9 us", kStamped | kGap, 12, 250, 200, "work, 32 threads"},
      [&] {
        for (int i = 0; i < 12; ++i) {
          work<<<1, 32, 0, s[0]>>>(rounds_of(9), stamps + 2 * i);
          OK(cudaEventRecord(plain[0], s[0]));
        }
      },
      12);
  for (const int n : {2, 3}) {
    measure(
        {"gap", text("%ld streams in turn by events, 9 us", n), kStamped | kGap, 1, 250, 200,
         "work, 32 threads"},
        [&] {
          for (int i = 0; i < 12; ++i) {
            work<<<1, 32, 0, s[i % n]>>>(rounds_of(9), stamps + 2 * i);
            OK(cudaEventRecord(plain[i % n], s[i % n]));
            OK(cudaStreamWaitEvent(s[(i + 1) % n], plain[i % n], 0));
          }
        },
        12);
  }
  measure(
      {"gap", "fill of 12 KiB between, 9 us", kStamped | kGap, 1, 250, 200, "work, 32 threads"},
      [&] {
        for (int i = 0; i < 12; ++i) {
          work<<<1, 32, 0, s[0]>>>(rounds_of(9), stamps + 2 * i);
          OK(cudaMemsetAsync(d, 0, 12 * KiB, s[0]));
        }
      },
      12);
  for (const bool out : {false, true}) {
    for (const double us : {20.0, 140.0}) {
      measure(
          {"gap",
           text(out ? "copy of 96 KiB to the host between, %ld us"
                    : "copy of 96 KiB to the device between, %ld us",
                long(us)),
           kStamped | kGap, 1, 250, 200, "work, 32 threads"},
          [&] {
            for (int i = 0; i < 6; ++i) {
              work<<<1, 32, 0, s[0]>>>(rounds_of(us), stamps + 2 * i);
              OK(cudaMemcpyAsync(out ? pinned : d, out ? d : pinned, 96 * KiB, cudaMemcpyDefault, s[0]));
            }
          },
          6);
    }
  }
}

template <typename Kernel>
static void dependent(const char* name, Kernel kernel, double before, double us,
                      std::initializer_list<int> counts) {
  const auto launch = [&](int n, int first, int then) {
    cudaLaunchAttribute attribute{};
    attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
    attribute.val.programmaticStreamSerializationAllowed = 1;
    cudaLaunchConfig_t config{};
    config.gridDim = 1, config.blockDim = 32, config.stream = s[0], config.attrs = &attribute,
    config.numAttrs = 1;
    for (int i = 0; i < n; ++i) OK(cudaLaunchKernelEx(&config, kernel, first, then, stamps + 2 * i));
  };
  const std::string alone = text("%ld ns before it waits, ", long(before * 1e3)) + name;
  if (counts.size() == 1) {
    measure({"short kernel", alone, kTime, 4, 60}, [&] {
      for (int i = 0; i < 4; ++i) kernel<<<1, 32, 0, s[0]>>>(rounds_of(before), 0, stamps);
    });
  }
  for (const int n : counts) {
    measure(
        {"dependent",
         text("%ld of %ld ns, %ld ns before it waits, ", n, long(us * 1e3), long(before * 1e3)) + name,
         (us > 3 ? 0u : kEvents) | (n == 24 ? kStamped | kGap : 0u), double(n), n * 6.0 + 60, 200,
         alone.c_str()},
        [&] { launch(n, rounds_of(before), rounds_of(us)); }, n);
  }
}
/// Chains of programmatic dependent launches.
static void dependents() {
  const char *first = "lets the next go first", *last = "lets the next go last";
  dependent(first, trigger_first, 0, 1.5, {24});
  dependent(first, trigger_first, 1, 12, {24});
  dependent(first, trigger_first, 3, 5, {24});
  dependent(first, trigger_first, 0, 2, {2, 6, 60});
  dependent(last, trigger_last, 0, 2, {24});
  dependent(last, trigger_last, 3, 5, {24});
  dependent(last, trigger_last, 0, 1, {2, 6, 60});
}

static cudaGraphExec_t graph_of(int n, bool wide, int blocks, double us, bool stamped) {
  cudaGraph_t graph;
  OK(cudaGraphCreate(&graph, 0));
  cudaGraphNode_t last{};
  for (int i = 0; i < n; ++i) {
    int rounds = rounds_of(us);
    Stamp* t = stamped ? stamps + 2 * i : nullptr;
    void* arguments[] = {&rounds, &t};
    cudaKernelNodeParams node{};
    node.func = reinterpret_cast<void*>(work), node.gridDim = dim3(blocks), node.blockDim = dim3(64),
    node.kernelParams = arguments;
    cudaGraphNode_t next;
    OK(cudaGraphAddKernelNode(&next, graph, i && !wide ? &last : nullptr, i && !wide ? 1 : 0, &node));
    last = next;
  }
  cudaGraphExec_t exec;
  OK(cudaGraphInstantiate(&exec, graph, 0));
  OK(cudaGraphUpload(exec, s[0]));
  OK(cudaGraphDestroy(graph));
  return exec;
}
/// Graphs of kernels one after the other and beside each other: the call, behind a kernel by node, from the call to the end.
static void graphs() {
  for (const bool wide : {false, true}) {
    for (const int n : {1, 3, 10, 30, 100, 300, 1000}) {
      const std::string name = text(wide ? "%ld nodes beside each other" : "%ld nodes in a row", n);
      cudaGraphExec_t exec = graph_of(n, wide, 2, 1.2, false);
      measure({"graph", name + ", call", kCall, 1, 0}, [&] { OK(cudaGraphLaunch(exec, s[0])); });
      measure({"graph", name + ", call and wait", kCall, 1, 0}, [&] {
        OK(cudaGraphLaunch(exec, s[0]));
        OK(cudaStreamSynchronize(s[0]));
      });
      measure({"graph", name + ", per node", kEvents | (wide || n == 1 ? 0u : kGap) | (wide ? kSpan : 0u),
               double(n), 80},
              [&] { OK(cudaGraphLaunch(exec, s[0])); });
      OK(cudaGraphExecDestroy(exec));
    }
  }
  for (const double us : {3.0, 20.0}) {
    cudaGraphExec_t exec = graph_of(24, false, 1, us, true);
    measure(
        {"graph", text("24 nodes in a row of %ld us", long(us)), (us > 3 ? 0u : kEvents) | kStamped | kGap,
         24, 80, 200, "work, 64 threads"},
        [&] { OK(cudaGraphLaunch(exec, s[0])); }, 24);
    OK(cudaGraphExecDestroy(exec));
  }
  cudaGraphExec_t exec = graph_of(7, false, 66, 4, false);
  measure({"graph", "6 graphs of 7 nodes", kEvents, 42, 120}, [&] {
    for (int i = 0; i < 6; ++i) OK(cudaGraphLaunch(exec, s[0]));
  });
  measure({"graph", "6 graphs of 7 nodes, call", kCall, 6, 300}, [&] {
    for (int i = 0; i < 6; ++i) OK(cudaGraphLaunch(exec, s[0]));
  });
}

/// What calls take, in a row, behind a kernel.
static void calls() {
  struct {
    const char* name;
    std::function<void()> call;
  } const rows[] = {
      {"launch, 2 arguments", [] { work<<<4, 64, 0, s[0]>>>(10, nullptr); }},
      {"launch, 4 arguments", [] { scale<<<4, 64, 0, s[0]>>>((float*)d, (float*)d2, 256, 2.0f); }},
      {"copy of 24 KiB to the device",
       [] { OK(cudaMemcpyAsync(d, pinned, 24 * KiB, cudaMemcpyHostToDevice, s[0])); }},
      {"copy of 1.5 MiB to the device",
       [] { OK(cudaMemcpyAsync(d, pinned, 1536 * KiB, cudaMemcpyHostToDevice, s[0])); }},
      {"copy of 24 KiB to the host",
       [] { OK(cudaMemcpyAsync(pinned, d, 24 * KiB, cudaMemcpyDeviceToHost, s[0])); }},
      {"copy of 1.5 MiB to the host",
       [] { OK(cudaMemcpyAsync(pinned, d, 1536 * KiB, cudaMemcpyDeviceToHost, s[0])); }},
      {"copy of 96 KiB on the device",
       [] { OK(cudaMemcpyAsync(d2, d, 96 * KiB, cudaMemcpyDeviceToDevice, s[0])); }},
      {"copy of 12 KiB of pageable memory",
       [] { OK(cudaMemcpyAsync(d, pageable, 12 * KiB, cudaMemcpyHostToDevice, s[0])); }},
      {"fill of 2 KiB", [] { OK(cudaMemsetAsync(d, 0, 2 * KiB, s[0])); }},
      {"fill of 160 KiB", [] { OK(cudaMemsetAsync(d, 0, 160 * KiB, s[0])); }},
      {"timed event", [] { OK(cudaEventRecord(timed, s[0])); }},
      {"event and wait",
       [] {
         OK(cudaEventRecord(plain[0], s[0]));
         OK(cudaStreamWaitEvent(s[1], plain[0], 0));
       }},
  };
  for (const auto& row : rows)
    measure({"call", row.name, kCall, 24, 300}, [&] {
      for (int i = 0; i < 24; ++i) row.call();
    });
}

/// Copies each way by size: the call that waits, and on an idle GPU between two events.
static void copies() {
  struct {
    const char* name;
    char *to, *from;
    cudaMemcpyKind way;
  } const ways[] = {
      {"to the device, pinned", d, pinned, cudaMemcpyHostToDevice},
      {"to the host, pinned", pinned, d, cudaMemcpyDeviceToHost},
      {"on the device", d2, d, cudaMemcpyDeviceToDevice},
      {"to the device, pageable", d, pageable, cudaMemcpyHostToDevice},
      {"to the host, pageable", pageable, d, cudaMemcpyDeviceToHost},
  };
  const size_t sizes[] = {1536,    3 * KiB,  24 * KiB, 96 * KiB,  384 * KiB, 1536 * KiB,
                          6 * MiB, 24 * MiB, 96 * MiB, 384 * MiB, kBig};
  for (const auto& way : ways) {
    const bool pages = way.to == pageable || way.from == pageable;
    for (const size_t n : sizes) {
      const int repeats = n >= 256 * MiB ? (pages ? 10 : 40) : 200;
      const std::string name = bytes(n) + " " + way.name;
      if (way.way != cudaMemcpyDeviceToDevice)
        measure({n < 64 * KiB ? "small copy" : "copy", name + ", waits", kCall, 1, 0, repeats},
                [&] { OK(cudaMemcpy(way.to, way.from, n, way.way)); });
      if (!pages)
        measure({n < 64 * KiB ? "small copy" : "copy", name, kEvents | kTime, 1, 0, repeats},
                [&] { OK(cudaMemcpyAsync(way.to, way.from, n, way.way, s[0])); });
    }
  }
  for (const size_t n : {512 * size_t(1), 12 * KiB, 160 * KiB, 3 * MiB, 40 * MiB, 500 * MiB}) {
    measure({n < 64 * KiB ? "small copy" : "copy", bytes(n) + " fill", kEvents | kTime, 1, 60,
             n >= 256 * MiB ? 40 : 200},
            [&] { OK(cudaMemsetAsync(d, 0, n, s[0])); });
  }
}

static void join(int streams) {
  for (int k = 1; k < streams; ++k) {
    OK(cudaEventRecord(plain[k], s[k]));
    OK(cudaStreamWaitEvent(s[0], plain[k], 0));
  }
}
/// Copies beside kernels in several streams: chunks in, worked on and out in turn; one long kernel beside copies; in and worked on only.
static void overlaps() {
  float* x = reinterpret_cast<float*>(d);
  for (const int streams : {2, 3, 5, 8}) {
    for (const size_t size : {192 * KiB, 1536 * KiB}) {
      const int chunks = size > MiB ? 15 : 30, n = int(size / 4);
      measure(
          {"overlap", text("%ld streams, ", streams) + bytes(size) + " in, work, out", kEvents | kSpan, 1, 0},
          [&] {
            for (int c = 0; c < chunks; ++c) {
              cudaStream_t q = s[c % streams];
              OK(cudaMemcpyAsync(d + c * size, pinned + c * size, size, cudaMemcpyHostToDevice, q));
              polynomial<<<(n + 255) / 256, 256, 0, q>>>(x + c * n, n, 350);
              OK(cudaMemcpyAsync(pinned + c * size, d + c * size, size, cudaMemcpyDeviceToHost, q));
            }
            join(streams);
          });
    }
    measure({"overlap", text("%ld streams, long kernel beside copies", streams), kEvents | kSpan, 1, 0}, [&] {
      polynomial<<<132, 256, 0, s[0]>>>(x, 33792, 60000);
      for (int k = 1; k < streams; ++k) {
        for (int i = 0; i < 2; ++i) {
          const size_t at = (2 * k + i) * 2 * MiB, size = 640 * KiB;
          OK(cudaMemcpyAsync(k % 2 ? d + at : pinned + at, k % 2 ? pinned + at : d + at, size,
                             k % 2 ? cudaMemcpyHostToDevice : cudaMemcpyDeviceToHost, s[k]));
        }
      }
      join(streams);
    });
    measure({"overlap", text("%ld streams, 3 MiB in, two kernels", streams), kEvents | kSpan, 1, 0}, [&] {
      for (int c = 0; c < 8; ++c) {
        cudaStream_t q = s[c % streams];
        OK(cudaMemcpyAsync(d + c * 3 * MiB, pinned + c * 3 * MiB, 3 * MiB, cudaMemcpyHostToDevice, q));
        polynomial<<<768, 256, 0, q>>>(x + c * 786432, 196608, 500);
        scale<<<264, 256, 0, q>>>(reinterpret_cast<float*>(d2) + c * 786432, x + c * 786432, 786432, 1.5f);
      }
      join(streams);
    });
  }
}

/// Two kernels of 10 to 200% of the chip side by side, from one event to another.
static void beside() {
  float *x = reinterpret_cast<float*>(d), *y = reinterpret_cast<float*>(d2);
  const int pairs[][4] = {{13, 256, 66, 256},    {66, 512, 66, 512},   {132, 256, 132, 1024},
                          {132, 1024, 264, 256}, {264, 1024, 13, 128}, {200, 384, 100, 640}};
  for (const auto& [a, threads_a, b, threads_b] : pairs) {
    measure({"side by side", text("%ld blocks of %ld, and ", a, threads_a) + text("%ld of %ld", b, threads_b),
             kEvents, 1, 0},
            [&] {
              OK(cudaEventRecord(plain[0], s[0]));
              OK(cudaStreamWaitEvent(s[1], plain[0], 0));
              polynomial<<<a, threads_a, 0, s[0]>>>(x, a * threads_a, 12000);
              polynomial<<<b, threads_b, 0, s[1]>>>(y, b * threads_b, 10000);
              join(2);
            });
  }
  for (const int blocks : {66, 132, 264}) {
    measure({"side by side", text("memory's kernel of %ld blocks beside arithmetic", blocks), kEvents, 1, 0},
            [&] {
              OK(cudaEventRecord(plain[0], s[0]));
              OK(cudaStreamWaitEvent(s[1], plain[0], 0));
              scale<<<blocks, 512, 0, s[0]>>>(x, y, 12 << 20, 0.5f);
              polynomial<<<132, 256, 0, s[1]>>>(y + (16 << 20), 33792, 10000);
              join(2);
            });
  }
}
