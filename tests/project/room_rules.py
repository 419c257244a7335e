"""Rules of rooms and headers: who may include, link and say what."""

import concurrent.futures
import glob
import os
import re
import subprocess

from tree import SOURCE, includes, room_of, without_comments


def rule_rooms(tree, _):
    """A room includes only itself and rooms before it; model/ includes nothing of sim/; includes start at the root."""
    rooms = tree.rooms()
    for path in tree.under(["model/", "sim/"], SOURCE):
        own = room_of(path, rooms)
        if own is None:
            if path.startswith("sim/runtime/"):
                continue
            yield f"{path}: stands in no room of FORETRACE_ROOMS"
            continue
        for number, quoted, name in includes(tree, path):
            if not quoted:
                continue
            if not tree.exists(name):
                yield f'{path}:{number}: "{name}" is no file of the repository; includes are written from its root'
                continue
            other = room_of(name, rooms)
            if other is None:
                yield f'{path}:{number}: "{name}" stands in no room'
            elif rooms.index(other) > rooms.index(own):
                yield f'{path}:{number}: {own} includes "{name}", but {other} comes after it'


def rule_room_table(tree, _):
    """docs/architecture.md has a row for every room, in the rooms' order."""
    rooms = tree.rooms()
    rows = re.findall(r"(?m)^\| ((?:model|sim)/[a-z_/]+) \|", tree.text("docs/architecture.md"))
    for room in rooms:
        if room not in rows:
            yield f"docs/architecture.md: no row for {room}"
    for row in rows:
        if row not in rooms:
            yield f"docs/architecture.md: a row for {row}, which is no room"
    if sorted(rows) == sorted(rooms) and rows != rooms:
        yield f"docs/architecture.md: the rows' order is not FORETRACE_ROOMS'"


def rule_links(tree, _):
    """A room's library links only libraries of rooms before it."""
    rooms = tree.rooms()
    target_room, parts, rooms_links = {}, set(), []
    for path in tree.under(["model/", "sim/"], ["CMakeLists.txt"]):
        for part in re.finditer(r"add_library\(\s*(foretrace_[\w${}]+)", tree.text(path)):
            # A name with a variable in it ("foretrace_lanes_${set}") stands for all that begin alike.
            parts.add(part[1].split("$")[0])
        for call in re.finditer(r"foretrace_room\(\s*(\w+)([^)]*)\)", tree.text(path)):
            target_room["foretrace_" + call[1]] = room_of(path, rooms)
            rooms_links.append((path, "foretrace_" + call[1], re.findall(r"\bforetrace_\w+", call[2])))
    for path, target, needed in rooms_links:
        for other in needed:
            if other not in target_room and any(other.startswith(part) for part in parts):
                continue
            if other not in target_room:
                if other != "foretrace_options":
                    yield f"{path}: {target} links {other}, which no room declares"
            elif rooms.index(target_room[other]) > rooms.index(target_room[target]):
                yield f"{path}: {target} links {other} of {target_room[other]}, which comes after it"


def rule_quiet_model(tree, _):
    """The model opens no file (configs apart), prints nothing and reads no clock; only the command line prints."""
    banned = {"iostream", "fstream", "chrono", "cstdio", "stdio.h", "filesystem", "ctime", "print"}
    for path in tree.under(["model/"], SOURCE):
        allowed = {"fstream", "filesystem"} if path.startswith("model/config/") else set()
        # A failed assertion has to say so before it aborts.
        if path == "model/units/error.cpp":
            allowed = {"cstdio"}
        for number, quoted, name in includes(tree, path):
            if not quoted and name in banned - allowed:
                yield f"{path}:{number}: includes <{name}>"
    printing = re.compile(r"\bstd::(cout|cerr|clog)\b|(?<![\w:])(?:std::)?(printf|puts|exit|_Exit|quick_exit)\s*\(|\bfmt::print\b")
    for path in tree.under(["model/", "sim/"], SOURCE):
        if path.startswith(("sim/app/", "sim/runtime/")) or path == "model/units/error.cpp":
            continue
        if re.search(r"^int main\(", tree.text(path), re.M):
            continue  # a program beside the room's library
        for number, line in enumerate(without_comments(tree.text(path)).split("\n"), 1):
            found = printing.search(re.sub(r'"(?:\\.|[^"\\])*"', '""', line))
            if found:
                yield f"{path}:{number}: {found[0].strip()} in a library; results are returned, errors are thrown"


def rule_cuda_headers(tree, _):
    """CUDA headers appear in validate/ and sim/runtime alone."""
    cuda = re.compile(r"^(cuda|cupti|nvrtc|nvml|cooperative_groups|driver_types|vector_types|mma\.h|crt/)")
    for path in tree.under(["model/", "sim/"], SOURCE):
        if path.startswith("sim/runtime/"):
            continue
        for number, quoted, name in includes(tree, path):
            if not quoted and cuda.match(name):
                yield f"{path}:{number}: includes <{name}>"


def rule_headers(tree, _):
    """A header says first what it is, is included once, and pulls no heavy library into other headers."""
    heavy = re.compile(r"^(nlohmann/|toml\+\+/|boost/)")
    headers = tree.under(["model/", "sim/"], [".h"])
    included_by_headers = {name for path in headers for _, quoted, name in includes(tree, path) if quoted}
    for path in headers:
        text = tree.text(path)
        if not text.startswith("//"):
            yield f"{path}:1: a header opens with a comment: what it models or does"
        if "#pragma once" not in text:
            yield f"{path}: no #pragma once"
        for number, _, name in includes(tree, path):
            if heavy.match(name) and path in included_by_headers and not path.startswith("sim/app/"):
                yield f"{path}:{number}: {name} belongs in a .cpp, or in a header that no other header includes"


def rule_headers_alone(tree, compiler):
    """Every header compiles by itself."""
    headers = tree.under(["model/", "sim/", "validate/kernels/"], [".h"])
    if not compiler:
        yield "no compiler given"
        return

    wheels = glob.glob(os.path.join(tree.root, ".venv/lib/python3*/site-packages/nvidia/cu13/include"))
    cuda = [f for f in [*wheels, "/usr/local/cuda/include"] if os.path.exists(os.path.join(f, "cuda_runtime_api.h"))][:1]
    if not cuda:  # the runtime is not built then either
        headers = [path for path in headers if not path.startswith("sim/runtime/")]

    def compile_alone(path):
        command = [compiler, "-std=c++20", "-fsyntax-only", "-Wall", "-Wextra", "-x", "c++", "-I", tree.root,
                   *(word for folder in cuda for word in ("-isystem", folder)),
                   "-"]
        # A file on standard input stands in the working directory, where quoted includes are looked up first.
        run = subprocess.run(command, cwd=tree.root, input=f'#include "{path}"\n', capture_output=True, text=True, check=False)
        errors = [line for line in run.stderr.split("\n") if "error:" in line or "warning:" in line]
        if run.returncode != 0 or errors:
            return f"{path}: {(errors or run.stderr.split(chr(10)))[0]}"
        return None

    with concurrent.futures.ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        yield from filter(None, pool.map(compile_alone, headers))
