"""One-instruction kernels for the special functions: out[i] = function(first + i * step), in bits.

PTX has no direct way to some of them (sin and cos multiply first, the halves of double functions come with more code), so the
cubin of MUFU.EX2 is copied and the function's number in its machine code (bits 74..77) replaced.
"""
import struct
import subprocess

FUNCTIONS = {"cos": 0, "sin": 1, "ex2": 2, "lg2": 3, "rcp": 4, "rsq": 5, "rcp64h": 6, "rsq64h": 7, "sqrt": 8, "tanh": 9}
HALF = {"ex2_f16": ("ex2.approx.f16", 80), "tanh_f16": ("tanh.approx.f16", 80), "ex2_bf16": ("ex2.approx.ftz.bf16", 90),
        "tanh_bf16": ("tanh.approx.bf16", 90)}
PTX = """.version 9.0
.target sm_{sm}
.address_size 64
.visible .entry special(.param .u64 pout, .param .u32 pfirst, .param .u32 pstep)
{{
 .reg .b64 out, at; .reg .b32 n, b, i, x, y; .reg .b16 u, v, w;
 ld.param.u64 out, [pout]; ld.param.u32 x, [pfirst]; ld.param.u32 y, [pstep];
 mov.u32 b, %ctaid.x; mov.u32 n, %ntid.x; mov.u32 i, %tid.x; mad.lo.u32 i, b, n, i; mad.lo.u32 x, i, y, x;
 {code}
 mad.wide.u32 at, i, 4, out; st.global.u32 [at], y;
 ret;
}}
"""
MUFU = 0x308  # the low twelve bits of the instruction with a register operand


def assemble(ptxas, sm, code, folder, name):
    path = folder / f"special_{name}.sm_{sm}.ptx"
    path.write_text(PTX.format(sm=sm, code=code), encoding="utf-8")
    cubin = path.with_suffix(".cubin")
    subprocess.run([ptxas, f"-arch=sm_{sm}", "-o", str(cubin), str(path)], check=True)
    path.unlink()
    return cubin.read_bytes()


def patched(cubin, function):
    """The cubin with the function of its only MUFU replaced."""
    at = [i for i in range(0, len(cubin) - 15, 16) if struct.unpack_from("<H", cubin, i)[0] & 0xfff == MUFU and cubin[i + 9] >> 2 == 2 and cubin[i + 3] < 255]
    assert len(at) == 1, f"expected one MUFU.EX2, found {len(at)}"
    high = struct.unpack_from("<Q", cubin, at[0] + 8)[0]
    high = high & ~(0xf << 10) | function << 10
    return cubin[:at[0] + 8] + struct.pack("<Q", high) + cubin[at[0] + 16:]


def write(ptxas, sm, folder):
    cubin = assemble(ptxas, sm, "ex2.approx.ftz.f32 y, x;", folder, "ex2")
    for name, function in FUNCTIONS.items():
        (folder / f"special_{name}.sm_{sm}.cubin").write_bytes(patched(cubin, function))
    for name, (mnemonic, minimum) in HALF.items():
        if sm >= minimum:
            assemble(ptxas, sm, f"cvt.u16.u32 u, x; {mnemonic} v, u; cvt.u32.u16 y, v;", folder, name)
