"""Tile kernels (cuTile, CUDA Tile C++) through the driver's interface: launched with blocks of one, run with the threads they were compiled for.

    run_tiles.py FORETRACE REPOSITORY FOLDER

The compiler of CUDA 13.0 makes none: a PTX kernel's cubin is given what marks a tile kernel, a section of host code, and its last parameter's
description is taken away, as tensor maps that the driver makes have none.
"""

import ctypes
import os
import subprocess
import sys
import unittest

BODY = """ .reqntid 64 %s {
  .reg .u64 %%rd<5>; .reg .u32 %%r<5>;
  ld.param.u64 %%rd1, [p]; cvta.to.global.u64 %%rd2, %%rd1;
  mov.u32 %%r1, %%ctaid.x; mov.u32 %%r2, %%ntid.x; mov.u32 %%r3, %%tid.x; mad.lo.u32 %%r4, %%r1, %%r2, %%r3;
  mul.wide.u32 %%rd3, %%r4, 4; add.u64 %%rd4, %%rd2, %%rd3; st.global.u32 [%%rd4], %%r4; ret;
}
"""
PTX = (".version 8.0\n.target sm_90\n.address_size 64\n.visible .entry fill(.param .u64 p, .param .align 64 .b8 maps[128])" + BODY % ""
       + ".visible .entry pairs(.param .u64 p)" + BODY % ".reqnctapercluster 2")


def launch(path, name, threads):
    """Two blocks of a kernel; prints the driver's answer, then how many of 256 numbers, the first left out, are right."""
    cuda = ctypes.CDLL("libcuda.so.1")
    context, module, function, memory = (ctypes.c_void_p() for _ in range(4))
    cuda.cuInit(0)
    cuda.cuDevicePrimaryCtxRetain(ctypes.byref(context), 0)
    cuda.cuCtxSetCurrent(context)
    cuda.cuModuleLoad(ctypes.byref(module), path.encode())
    cuda.cuModuleGetFunction(ctypes.byref(function), module, name.encode())
    cuda.cuMemAlloc_v2(ctypes.byref(memory), ctypes.c_size_t(1024))
    cuda.cuMemsetD32_v2(memory, 0, ctypes.c_size_t(256))
    maps = (ctypes.c_char * 128)()
    arguments = (ctypes.c_void_p * 2)(ctypes.cast(ctypes.byref(memory), ctypes.c_void_p), ctypes.cast(maps, ctypes.c_void_p))
    print(cuda.cuLaunchKernel(function, 2, 1, 1, threads, 1, 1, 0, None, arguments, None))
    got = (ctypes.c_uint32 * 256)()
    cuda.cuMemcpyDtoH_v2(got, memory, ctypes.c_size_t(1024))
    print(sum(got[i] == i for i in range(1, 256)))


class Tiles(unittest.TestCase):
    def cubin(self, name, change):
        source, made = os.path.join(FOLDER, "tiles.ptx"), os.path.join(FOLDER, "tiles.cubin")
        os.makedirs(FOLDER, exist_ok=True)
        with open(source, "w", encoding="utf-8") as file:
            file.write(PTX)
        subprocess.run([program_case.nvcc(), "-cubin", "-arch=sm_90", "-o", made, source], check=True)
        with open(made, "rb") as file:
            code = change(file.read())
        with open(os.path.join(FOLDER, name), "wb") as file:
            file.write(code)
        return os.path.join(FOLDER, name)

    def launched(self, path, threads, name="fill"):
        done = subprocess.run([FORETRACE, "run", "--arch", "h100", "--functional", "--quiet", "--", sys.executable, "-B", __file__, "launch", path,
                               name, str(threads)], capture_output=True, text=True, check=False, timeout=60)
        return [int(word) for word in done.stdout.split()], done.stderr

    def test_a_block_of_one_becomes_the_compiled_one(self):
        plain, tile = self.cubin("plain.cubin", lambda code: code), self.cubin("tile.cubin", of_tile)
        self.assertEqual(self.launched(plain, 64), ([0, 127], ""))
        self.assertEqual(self.launched(plain, 1)[0], [1, 0])  # CUDA_ERROR_INVALID_VALUE
        self.assertEqual(self.launched(tile, 1), ([0, 127], ""))
        self.assertEqual(self.launched(tile, 64)[0], [1, 0])

    def test_a_block_becomes_a_cluster_where_it_was_compiled_for_one(self):
        self.assertEqual(self.launched(self.cubin("tile.cubin", of_tile), 1, "pairs"), ([0, 255], ""))

    def test_parameters_that_the_driver_makes(self):
        answer, said = self.launched(self.cubin("maps.cubin", lambda code: of_tile(undescribed(code, 1))), 1)
        self.assertEqual(answer, [801, 0])  # CUDA_ERROR_NOT_SUPPORTED
        self.assertRegex(said, r"^foretrace: fill: a tile kernel with 168 bytes of parameters \(tensor maps\) that NVIDIA's driver makes")


def of_tile(code):
    """A section that nothing asks for takes the name of a tile kernel's host code; the sections' names stand first."""
    assert b"\0.nv.callgraph\0" in code
    return code.replace(b"\0.nv.callgraph\0", b"\0.nv.host\0\0\0\0\0\0", 1)


def undescribed(code, ordinal):
    """The cubin with another attribute in the place of a parameter's description."""
    record = bytes([4, 0x17, 12, 0, 0, 0, 0, 0, ordinal, 0])
    assert code.count(record) == 1
    return code.replace(record, bytes([4, 0xee]) + record[2:])


if __name__ == "__main__":
    if sys.argv[1] == "launch":
        launch(sys.argv[2], sys.argv[3], int(sys.argv[4]))
    else:
        import program_case

        FORETRACE, REPOSITORY, FOLDER = sys.argv[1:4]
        unittest.main(argv=sys.argv[:1] + sys.argv[4:])
