"""Every form of forms.py that the assembler takes for an architecture is one that the emulator executes, or one of gaps.txt:
check.py COVERAGE REPOSITORY FOLDER [--write] [sm_80 ...].

The kernels of an architecture are assembled together, those of each family as one file; what ptxas refuses is left out and asked no more. `emulate_coverage`
says what of the machine code would stop a warp; functions of the driver that it calls are not provided either. --write writes gaps.txt and the numbers
of forms. Status 77, left out: another release of ptxas than that of gaps.txt, which takes other forms.
"""
import pathlib
import re
import subprocess
import sys

import forms

HERE = pathlib.Path(__file__).resolve().parent
GAPS = HERE / "gaps.txt"
RELEASE = "13.0"
CHIPS = ("sm_80", "sm_90a", "sm_100a", "sm_120a")
KINDS = {"r": "b32", "a": "b32", "m": "b32", "s": "u32", "c": "b32", "f": "f32", "d": "f64", "h": "b16", "w": "b64", "g": "u64", "p": "pred"}
LOADED = {"b32": "ld.global.b32", "u32": "ld.global.u32", "f32": "ld.global.f32", "f64": "ld.global.f64", "b16": "ld.global.b16", "b64": "ld.global.b64", "u64": "ld.global.u64"}


def kernel(number: int, form: str) -> list[str]:
    """A kernel of one form: what it names is loaded before and, where it may have been written, stored behind."""
    named = sorted(set(re.findall(r"%([a-z])(\d+)", form)), key=lambda name: (name[0], int(name[1])))
    lines = [f".visible .entry form_{number}(.param .u64 memory)", "{", ".reg .u64 %x0;", "ld.param.u64 %x0, [memory];"]
    for place, (letter, index) in enumerate(named):
        register, kind = f"%{letter}{index}", KINDS[letter]
        lines.append(f".reg .{kind} {register};")
        if kind == "pred":
            lines += [f"{{ .reg .b32 word; ld.global.b32 word, [%x0+{8 * place}]; setp.ne.b32 {register}, word, 0; }}"]
        else:
            lines.append(f"{LOADED[kind]} {register}, [%x0+{8 * place}];")
    if form.startswith("wgmma"):
        lines.append("wgmma.fence.sync.aligned;")
    lines.append(form)
    if form.startswith("wgmma"):
        lines.append("wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;")
    for place, (letter, index) in enumerate(named):
        if letter in "rfdh":
            lines.append(f"st.global.{KINDS[letter].replace('f', 'b')} [%x0+{8 * place}], %{letter}{index};")
    return [*lines, "ret;", "}"]


def ptx(arch: str, chosen: list[tuple[int, str]]) -> tuple[str, list[int]]:
    """The file's text, and for each of its lines the number of the form that it is of."""
    lines, owners = [".version 9.0", f".target {arch}", ".address_size 64"], [-1, -1, -1]
    for number, form in chosen:
        text = kernel(number, form)
        lines += text
        owners += [number] * len(text)
    return "\n".join(lines) + "\n", owners


def assemble(ptxas: str, arch: str, name: str, chosen: list[tuple[int, str]], folder: pathlib.Path) -> tuple[pathlib.Path, int]:
    """The cubin of those forms that the assembler takes, and how many they are."""
    source, target = folder / f"{arch}_{name}.ptx", folder / f"{arch}_{name}.cubin"
    while chosen:
        text, owners = ptx(arch, chosen)
        source.write_text(text)
        done = subprocess.run([ptxas, f"-arch={arch}", "-O1", "-o", target, source], capture_output=True, text=True, check=False)
        if done.returncode == 0:
            break
        bad = {owners[int(line) - 1] for line in re.findall(r"line (\d+); (?:error|fatal)", done.stderr)} - {-1}
        if not bad:
            sys.exit(f"{source}: {done.stderr[:2000]}")
        chosen = [each for each in chosen if each[0] not in bad]
    return target, len(chosen)


def main(coverage: str, repository: str, folder: pathlib.Path, words: list[str]) -> int:
    tool = subprocess.run(["bash", "-c", 'source "$0/scripts/common.sh"; cuda_tool nvcc', repository], capture_output=True, text=True, check=True).stdout.strip()
    ptxas = str(pathlib.Path(tool).parent / "ptxas")
    if f"release {RELEASE}," not in subprocess.run([ptxas, "--version"], capture_output=True, text=True, check=True).stdout:
        print(f"{ptxas} is not of release {RELEASE}")
        return 77
    folder.mkdir(parents=True, exist_ok=True)
    chips = [word for word in words if word.startswith("sm_")] or CHIPS
    said = []
    for arch in chips:
        cubins, count = [], 0
        for name, family in forms.all_forms().items():
            cubin, taken = assemble(ptxas, arch, name, list(enumerate(family)), folder)
            if taken:
                cubins.append(cubin)
            count += taken
        text = subprocess.run([coverage, *cubins], capture_output=True, text=True, check=False).stdout
        said.append(f"{arch}: {count} forms")
        said += sorted({f"{arch} {re.sub(r'^ *[0-9]+ sm_[0-9]+ ', '', line.split('  | ')[0])}" for line in text.splitlines() if "  | " in line})
        called = {name.decode() for cubin in cubins for name in re.findall(rb"__cuda_syscall_\w+", cubin.read_bytes())}
        said += [f"{arch} calls {name}" for name in sorted(called)]
        broken = [line for line in text.splitlines()[:-1] if "  | " not in line]
        if broken:
            print("\n".join(broken))
            return 1
    if "--write" in words:
        GAPS.write_text("\n".join(said) + "\n")
        return 0
    wanted = [line for line in GAPS.read_text().splitlines() if re.split("[ :]", line)[0] in chips]
    for line in sorted(set(said) ^ set(wanted)):
        print(("not in gaps.txt: " if line in said else "no longer so: ") + line)
    return 0 if said == wanted else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3]), sys.argv[4:]))
