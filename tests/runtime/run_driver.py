"""The CUDA driver's interface: every function that is provided, called by a C program that also runs on a GPU.

    run_driver.py FORETRACE REPOSITORY FOLDER INCLUDE

INCLUDE: the folder with cuda.h. Where a GPU's answers have been recorded, they are compared.
"""

import glob
import os
import re
import subprocess
import sys
import tempfile
import unittest

FORETRACE, REPOSITORY, FOLDER, INCLUDE = sys.argv[1:5]
LIBRARIES = os.path.join(os.path.dirname(os.path.dirname(FORETRACE)), "lib", "foretrace")
SOURCES = sorted(glob.glob(os.path.join(REPOSITORY, "tests", "runtime", "driver", "*.c")))
RECORDED = os.path.join(REPOSITORY, "validate", "measurements", "driver_calls")
CHIPS = ("a100", "h100", "gb203")


def build():
    program = os.path.join(FOLDER, "driver_calls")
    os.makedirs(FOLDER, exist_ok=True)
    subprocess.run(["cc", "-std=c11", "-O1", "-isystem", INCLUDE, *SOURCES, "-o", program, f"-L{LIBRARIES}", "-lcuda",
                    f"-Wl,-rpath-link,{LIBRARIES}"], check=True)
    return program


def run(*words):
    with tempfile.TemporaryDirectory() as folder:  # the program writes files where it stands
        return subprocess.run([FORETRACE, "run", *words], capture_output=True, text=True, check=False, timeout=600, cwd=folder)


def calls(chip, program, only=None):
    """What every section of the program prints, or those that are named, on a chip."""
    sections = only or run("--arch", chip, "--", program).stdout.split()
    text = ""
    for section in sections:
        done = run("--arch", chip, "--functional", "--quiet", "--", program, section)
        if done.returncode != 0:
            raise AssertionError(f"{chip} {section}: {done.returncode}\n{done.stdout[-2000:]}{done.stderr}")
        text += done.stdout
    return text


def provided():
    """The driver's names in the library that are no stubs; foretrace_... are Foretrace's own."""
    library = os.path.join(LIBRARIES, "libcuda.so.1")
    sections = subprocess.run(["readelf", "-SW", library], capture_output=True, text=True, check=True).stdout
    start, size = re.search(r"foretrace_stubs\s+\S+\s+(\S+)\s+\S+\s+(\S+)", sections).groups()
    start, size = int(start, 16), int(size, 16)
    symbols = subprocess.run(["nm", "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    rows = [line.split() for line in symbols.splitlines()]
    return {name for address, _, name in rows if not name.startswith("foretrace_") and not start <= int(address, 16) < start + size}


def called():
    text = ""
    for source in SOURCES:
        with open(source, encoding="utf-8") as file:
            text += file.read()
    text = re.sub(r"\s+", " ", text)
    names = set(re.findall(r"\b(cu[A-Z]\w+)\(", text))
    for variant, suffix in (("PTSZ", "_ptsz"), ("PTDS", "_ptds")):
        for name in re.findall(variant + r"\( ?(\w+)", text):
            names |= {name, name + suffix}
    return names | {"cuGetErrorName"}


class Driver(unittest.TestCase):
    def test_every_function_that_is_provided_is_called(self):
        self.assertEqual(sorted(provided() - called()), [])

    def test_the_documents_list_is_the_librarys(self):
        with open(os.path.join(REPOSITORY, "docs", "driver_calls.md"), encoding="utf-8") as file:
            listed = set(re.findall(r"\bcu[A-Z]\w+", file.read().split("## The list")[1]))
        plain = {re.sub("_pts?d?s?z?$", "", re.sub("_ptsz$|_ptds$", "", name)) for name in provided()}
        self.assertEqual(sorted(plain ^ listed), [])

    def test_calls_on_three_chips(self):
        program = build()
        for chip in CHIPS:
            with self.subTest(chip):
                text = calls(chip, program)
                self.assertNotIn("a code without a name", text)
                lines = text.splitlines()
                for line in ("cuInit(0) = CUDA_SUCCESS", "cuDeviceGetCount(&count) = CUDA_ERROR_NOT_INITIALIZED",
                             "cuMemAlloc_v2(&pointer, 64) = CUDA_ERROR_INVALID_CONTEXT",
                             "cuLaunchKernel(scale, 8, 1, 1, 128, 1, 1, 0, NULL, NULL, extra) = CUDA_SUCCESS"):
                    self.assertIn(line, lines)

    def test_memory_that_is_mapped(self):
        done = run("--arch", "h100", "--functional", "--quiet", "--", build(), "virtual_memory")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.strip() for line in done.stdout.splitlines()]
        refused = [line.split(" =")[0] for line in lines if line.endswith("= CUDA_ERROR_INVALID_VALUE")]
        self.assertEqual(refused, ["cuMemAddressReserve(&room, 100, 0, 0, 0)", "cuMemCreate(&again, 100, &properties, 0)",
                                   "cuMemMap(room + kGranule, kGranule, 0, second, 0)",
                                   "cuMemcpyDtoH_v2(back, room + kGranule - 8, sizeof back)",
                                   "cuMemImportFromShareableHandle(NULL, (void*)(intptr_t)file, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)",
                                   "cuMemAddressFree(room, 4 * kGranule)", "cuMemRelease(second)"])
        numbers = [line for line in lines if ": " in line]
        self.assertEqual(numbers, ["granule: 2097152", "before - after: 4194304", "flags: 0", "flags: 3", "back[3]: 4", "again == first: 1",
                                   "properties.type: 1", "back[0]: 1", "before - after: 0"])

    def test_memory_for_other_processes(self):
        done = run("--arch", "h100", "--functional", "--quiet", "--", build(), "sharing")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.strip() for line in done.stdout.splitlines() if " = " in line or ": " in line]
        self.assertEqual([line for line in lines[:-1] if not line.endswith("= CUDA_SUCCESS")],
                         ["back[1]: 6", "cuEventCreate(&event, CU_EVENT_INTERPROCESS) = CUDA_ERROR_INVALID_VALUE"])

    def test_graphs_that_allocate(self):
        done = run("--arch", "h100", "--functional", "--quiet", "--", build(), "graph_memory")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.strip() for line in done.stdout.splitlines()]
        refused = [line for line in lines if line.startswith(("cuMem", "cuGraph")) and not line.endswith("= CUDA_SUCCESS")]
        self.assertEqual([line.split("(")[0] for line in refused if line.endswith("= CUDA_ERROR_NOT_SUPPORTED")],
                         ["cuGraphClone", "cuGraphAddChildGraphNode", "cuGraphDestroyNode", "cuGraphDestroyNode", "cuGraphRemoveDependencies_v2",
                          "cuGraphInstantiateWithFlags"])
        self.assertEqual([line.split("(")[0] for line in refused if line.endswith("= CUDA_ERROR_INVALID_VALUE")],
                         ["cuGraphLaunch", "cuMemFreeAsync", "cuGraphAddMemFreeNode", "cuGraphAddMemFreeNode", "cuGraphLaunch", "cuMemFree_v2",
                          "cuGraphAddMemFreeNode", "cuGraphAddMemFreeNode", "cuGraphAddMemAllocNode", "cuGraphAddMemAllocNode", "cuGraphAddMemFreeNode",
                          "cuGraphAddMemFreeNode"])
        block = 64 << 20
        self.assertEqual([int(line.split(": ")[1]) for line in lines if line.startswith("used: ")],
                         [0, block, block, 0, block, block, 0, block, 0])
        self.assertIn("before - after: 0", lines)

    def test_launches_of_the_old_form(self):
        done = run("--arch", "h100", "--functional", "--quiet", "--", build(), "old_launches")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.strip() for line in done.stdout.splitlines()]
        refused = [line.split(" =")[0] for line in lines if line.endswith("= CUDA_ERROR_INVALID_VALUE")]
        self.assertEqual(refused, ["cuFuncSetBlockShape(scale, 0, 1, 1)", "cuLaunchGrid(scale, 0, 1)"])
        self.assertEqual([line for line in lines if ": " in line], ["first: 3", "first: 1.5", "first: 0.75", "count: 15"])

    def test_functions_of_host_and_device(self):
        done = run("--arch", "h100", "--functional", "--quiet", "--", build(), "unified_functions")
        self.assertEqual(done.returncode, 0, done.stderr)
        codes = [line.split("= ")[1] for line in done.stdout.splitlines() if line.startswith("cuLibraryGetUnifiedFunction")]
        self.assertEqual(codes, ["CUDA_ERROR_NOT_FOUND", "CUDA_ERROR_INVALID_VALUE"])

    def test_the_architecture_by_name(self):
        script = ("import ctypes; n = ctypes.CDLL('libnvidia-ml.so.1'); n.nvmlInit_v2(); d = ctypes.c_void_p(); a = ctypes.c_uint(); "
                  "n.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(d)); print(n.nvmlDeviceGetArchitecture(d, ctypes.byref(a)), a.value)")
        for chip, expected in (("a100", 7), ("rtx4090", 8), ("h100", 9), ("gb203", 10)):
            done = run("--arch", chip, "--", sys.executable, "-c", script)
            self.assertEqual(done.stdout.split(), ["0", str(expected)], chip + done.stderr)

    def test_attached_contexts_and_memory_that_is_left(self):
        done = run("--arch", "h100", "--functional", "--quiet", "--", build(), "attached")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = [line.strip() for line in done.stdout.splitlines()]
        self.assertEqual([line for line in lines if ": " in line],
                         ["made == again: 1", "before - after: 2097152", "before - after: 6291456", "before - after: 0"])
        self.assertEqual([line.split("= ")[1] for line in lines if line.startswith("cuCtxDetach")],
                         ["CUDA_SUCCESS", "CUDA_SUCCESS", "CUDA_ERROR_INVALID_CONTEXT"])

    def test_what_the_configuration_says_of_a_device(self):
        asked = {"cuda.persisting_share": "0.5", "cuda.policy_window": "4096", "cuda.copy_engines": "7", "cuda.sync_domains": "9",
                 "cuda.compression": "0", "cuda.largest_cluster": "4"}
        done = run("--arch", "h100", *(word for pair in asked.items() for word in ("--set", "=".join(pair))), "--functional", "--quiet", "--",
                   build(), "device")
        self.assertEqual(done.returncode, 0, done.stderr)
        said = dict(re.findall(r"device attribute (\d+): CUDA_SUCCESS (-?\d+)", done.stdout))
        # Persisting L2, policy window, copy engines, sync domains, compression, clusters.
        self.assertEqual([said[number] for number in ("108", "109", "40", "126", "107", "120")],
                         [str(50 * 2**20 // 2), "4096", "7", "9", "0", "1"])

    def test_attributes_of_launches(self):
        done = run("--arch", "h100", "--functional", "--quiet", "--", build(), "launch_attributes")
        self.assertEqual(done.returncode, 0, done.stderr)
        lines = done.stdout.splitlines()
        for line in ("launch with 200 0: CUDA_ERROR_INVALID_VALUE", "launch with CU_LAUNCH_ATTRIBUTE_IGNORE 77: CUDA_SUCCESS",
                     "launch with CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT 100: CUDA_SUCCESS",
                     "launch with CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT 500: CUDA_ERROR_INVALID_VALUE",
                     "launch with CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT (unsigned)-1: CUDA_ERROR_INVALID_VALUE",
                     "launch with CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP 4: CUDA_ERROR_INVALID_VALUE",
                     "launch with CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE 0: CUDA_ERROR_NOT_SUPPORTED",
                     "launch with CU_LAUNCH_ATTRIBUTE_DEVICE_UPDATABLE_KERNEL_NODE 1: CUDA_ERROR_NOT_SUPPORTED",
                     "ranks, 16 blocks in clusters of 3 x 1: CUDA_ERROR_INVALID_CLUSTER_SIZE",
                     "clusters of 0, preferred 4 x 1 x 1: CUDA_ERROR_INVALID_CLUSTER_SIZE", "clusters of 2, preferred 4 x 1 x 1: CUDA_SUCCESS",
                     "clusters of 2, preferred 3 x 1 x 1: CUDA_ERROR_INVALID_CLUSTER_SIZE",
                     "cuFuncSetAttribute(pairs, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, 4) = CUDA_ERROR_INVALID_VALUE",
                     "node's CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY CU_SYNC_POLICY_SPIN: CUDA_ERROR_INVALID_VALUE",
                     "stream's CU_LAUNCH_ATTRIBUTE_COOPERATIVE 1: CUDA_ERROR_INVALID_VALUE"):
            self.assertIn(line, lines)
        windows = [line for line in lines if line.startswith("window ")]
        self.assertEqual([line.count("CUDA_SUCCESS") for line in windows], [2, 0, 0, 0, 2, 0], windows)
        ranks = [lines[i + 1].strip() for i, line in enumerate(lines) if line.startswith("ranks, 16") and line.endswith("CUDA_SUCCESS")]
        self.assertEqual(ranks, ["100 10100 20100 30100", "200 201 10200 10201", "800 801 802 803", "1600 1601 1602 1603"])
        # Forks by an event of a launch: each leaves one edge, which begins at the event's port, and both kernels run.
        self.assertEqual([line.strip() for line in lines if line.startswith("  edge ")],
                         [f"edge from port {port} to 0 of type {kind}" for port, kind in ((2, 0), (1, 1), (2, 1), (1, 1))])
        self.assertEqual(lines.count("  2 6"), 3)
        self.assertEqual([line for line in lines if line.startswith("cuStreamEndCapture") and not line.endswith("CUDA_SUCCESS")], [])

    def differences(self, chip):
        """The lines of the sections that were recorded on this GPU, where they are others here."""
        with open(os.path.join(RECORDED, chip + ".txt"), encoding="utf-8") as file:
            expected = file.read().splitlines()
        sections = [line[3:] for line in expected if line.startswith("== ")]
        got, keep = [], False
        for line in calls(chip, build(), sections).splitlines():  # sections that were written since have no answers of a GPU yet
            keep = line in expected if line.startswith("== ") else keep
            got += [line] if keep else []
        self.assertEqual(len(got), len(expected))
        return sorted({f"{b} (here: {a})".strip() for a, b in zip(got, expected) if a != b})

    def test_answers_are_those_of_a_gpu(self):
        with open(os.path.join(RECORDED, "differences.txt"), encoding="utf-8") as file:
            known = {line.strip() for line in file if line.strip() and not line.startswith("#")}
        self.assertEqual(self.differences("h100"), sorted(known), "a gap that closed is taken off differences.txt")
        self.assertEqual(self.differences("h200"), [])

    def test_management_library(self):
        script = ("import ctypes; n = ctypes.CDLL('libnvidia-ml.so.1'); c = ctypes.c_uint(); d = ctypes.c_void_p(); "
                  "b = ctypes.create_string_buffer(96); print(n.nvmlDeviceGetCount_v2(ctypes.byref(c)), n.nvmlInit_v2(), "
                  "n.nvmlDeviceGetCount_v2(ctypes.byref(c)), c.value, n.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(d)), "
                  "n.nvmlDeviceGetName(d, b, 96), b.value.decode(), n.nvmlDeviceGetUUID(d, b, 96), len(b.value), "
                  "n.nvmlDeviceGetHandleByUUID(b, ctypes.byref(d)), n.nvmlDeviceGetName(d, b, 2), n.nvmlDeviceGetPowerUsage(d, None), "
                  "n.nvmlDeviceGetTemperatureThreshold(d, 0, None), n.nvmlDeviceGetCurrPcieLinkWidth(d, None))")
        done = run("--arch", "h100", "--", sys.executable, "-c", script)
        self.assertEqual(done.returncode, 0, done.stderr)
        words = done.stdout.split()
        self.assertEqual(words[:5], ["1", "0", "0", "1", "0"])
        self.assertIn("H100", done.stdout)
        self.assertEqual(words[-7:], ["0", "40", "0", "7", "3", "3", "3"])

    def test_management_library_says_which_devices_reach_each_other(self):
        script = ("import ctypes; n = ctypes.CDLL('libnvidia-ml.so.1'); n.nvmlInit_v2(); d = [ctypes.c_void_p() for i in range(2)]; s = ctypes.c_int(-1); "
                  "[n.nvmlDeviceGetHandleByIndex_v2(i, ctypes.byref(d[i])) for i in range(2)]\n"
                  "for what in (0, 1, 2, 3, 4, 5): print(n.nvmlDeviceGetP2PStatus(d[0], d[1], what, ctypes.byref(s)), s.value)\n"
                  "print(n.nvmlDeviceGetP2PStatus(d[0], d[0], 0, ctypes.byref(s)), s.value, n.nvmlDeviceGetP2PStatus(d[0], None, 0, ctypes.byref(s)))")
        done = run("--devices", "h100,h100", "--", sys.executable, "-c", script)
        # Reads, writes, atomics and the bus work; links say nothing of themselves (5), as nvmlDeviceGetNvLinkState has it.
        self.assertEqual(done.stdout.split("\n"), ["0 0", "0 0", "0 5", "0 0", "0 0", "2 0", "0 0 2", ""], done.stderr)

    def test_a_profiler_is_told_that_there_is_nothing(self):
        script = ("import ctypes; n = ctypes.CDLL('libcupti.so.13'); v = ctypes.c_uint(); t = ctypes.c_char_p(); "
                  "print(n.cuptiGetVersion(ctypes.byref(v)), v.value, n.cuptiSubscribe(ctypes.byref(v), None, None), "
                  "n.cuptiGetResultString(27, ctypes.byref(t)), t.value.decode())")
        done = run("--arch", "h100", "--", sys.executable, "-c", script)
        self.assertEqual(done.stdout.split(), ["0", "130000", "27", "0", "CUPTI_ERROR_NOT_SUPPORTED"], done.stderr)
        self.assertEqual(done.stderr.count("cuPTI is not provided"), 1)

    def test_the_old_structure_of_a_pci_address_is_not_overrun(self):
        script = ("import ctypes; n = ctypes.CDLL('libnvidia-ml.so.1'); n.nvmlInit_v2(); d = ctypes.c_void_p(); "
                  "n.nvmlDeviceGetHandleByIndex_v2(0, ctypes.byref(d)); "
                  "sizes = {'nvmlDeviceGetPciInfo': 52, 'nvmlDeviceGetPciInfo_v2': 52, 'nvmlDeviceGetPciInfo_v3': 68}\n"
                  "for name, size in sizes.items():\n"
                  "    b = ctypes.create_string_buffer(b'\\xaa' * 80, 80); print(getattr(n, name)(d, b), b.raw[:16].split(b'\\0')[0].decode(), "
                  "b.raw[size:] == b'\\xaa' * (80 - size))")
        done = run("--arch", "h100", "--", sys.executable, "-c", script)
        self.assertEqual(done.stdout.splitlines(), ["0 0000:00:00.0 True"] * 3, done.stderr)

    def test_devices_by_uuid_without_its_prefix_and_their_addresses(self):
        script = ("import ctypes; n = ctypes.CDLL('libnvidia-ml.so.1'); n.nvmlInit_v2(); d = ctypes.c_void_p(); i = ctypes.c_uint(); "
                  "b = ctypes.create_string_buffer(80); p = ctypes.create_string_buffer(64)\n"
                  "for device in range(2):\n"
                  "    n.nvmlDeviceGetHandleByIndex_v2(device, ctypes.byref(d)); n.nvmlDeviceGetUUID(d, b, 80)\n"
                  "    for name in (b.value, b.value[4:]):\n"
                  "        d = ctypes.c_void_p(); c = n.nvmlDeviceGetHandleByUUID(name, ctypes.byref(d)); n.nvmlDeviceGetIndex(d, ctypes.byref(i)); print(c, i.value)\n"
                  "    print(n.nvmlDeviceGetPciInfoExt(d, p), p.raw[8], p.raw[32:].split(b'\\0')[0].decode())\n"
                  "print(n.nvmlDeviceGetHandleByUUID(b'GPU-', ctypes.byref(d)), n.nvmlDeviceGetHandleByUUID(b'', ctypes.byref(d)))")
        done = run("--devices", "h100,h100", "--", sys.executable, "-c", script)
        self.assertEqual(done.stdout.splitlines(), ["0 0", "0 0", "0 0 00000000:00:00.0", "0 1", "0 1", "0 1 00000000:01:00.0", "6 6"], done.stderr)

    def test_names_of_graphics_are_there_to_be_looked_up(self):
        script = ("import ctypes; d = ctypes.CDLL('libcuda.so.1'); d.cuInit(0); f = ctypes.c_void_p(); d.cuGraphicsGLRegisterBuffer; d.cuGLGetDevices_v2; "
                  "d.cuGraphicsEGLRegisterImage; d.cuVDPAUGetDevice; print(d.cuGetProcAddress(b'cuGLGetDevices', ctypes.byref(f), 13000, 0)); "
                  "d.cuGLGetDevices_v2(None, None, 0, 0)")
        done = run("--arch", "h100", "--", sys.executable, "-u", "-c", script)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertEqual(done.stdout, "500\n")
        self.assertIn("cuGLGetDevices_v2 is not provided", done.stderr)

    def test_a_call_that_is_not_provided_stops_by_name(self):
        script = "import ctypes; ctypes.CDLL('libcuda.so.1').cuImportExternalMemory(None, None)"
        done = run("--arch", "h100", "--", sys.executable, "-c", script)
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assertIn("cuImportExternalMemory is not provided", done.stderr)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[5:]])
