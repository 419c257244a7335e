"""The project's rules that a machine can check, one function per rule.

    rules.py ROOT RULE [COMPILER]     checks one rule: prints what breaks it, a line each; status 1 if anything does
    rules.py ROOT --list              prints the rules' names

A rule looks at the files that git tracks, or at all files where there is no git.
"""

import concurrent.futures
import glob
import os
import re
import subprocess
import sys

SOURCE = (".h", ".cpp", ".def", ".cu", ".cuh")
TEXT = SOURCE + (".md", ".txt", ".toml", ".json", ".cmake", ".py", ".sh", ".html", ".css", ".js", "")
OUTSIDE = ("build", ".git", ".venv", ".carry", "shared")


class Tree:
    def __init__(self, root):
        self.root = os.path.abspath(root)
        self.files = sorted(self._tracked() or self._walked())
        self._text = {}

    def _tracked(self):
        answer = subprocess.run(["git", "-C", self.root, "ls-files", "-z"], capture_output=True, text=True, check=False)
        if answer.returncode != 0:
            return []
        return [f for f in answer.stdout.split("\0") if f and os.path.isfile(os.path.join(self.root, f))]

    def _walked(self):
        found = []
        for folder, folders, files in os.walk(self.root):
            folders[:] = [f for f in folders if f not in OUTSIDE]
            found += [os.path.relpath(os.path.join(folder, f), self.root) for f in files]
        return found

    def text(self, path):
        if path not in self._text:
            with open(os.path.join(self.root, path), encoding="utf-8", errors="replace") as file:
                self._text[path] = file.read()
        return self._text[path]

    def lines(self, path):
        return enumerate(self.text(path).split("\n"), 1)

    def under(self, folders, endings):
        return [f for f in self.files if f.startswith(tuple(folders)) and f.endswith(tuple(endings))]

    def exists(self, path):
        return os.path.exists(os.path.join(self.root, path))

    def rooms(self):
        """The rooms in their order, from the root CMakeLists.txt."""
        listed = re.search(r"set\(FORETRACE_ROOMS\s+([^)]*)\)", self.text("CMakeLists.txt"))
        return listed.group(1).split()


def without_comments(text):
    """The code alone: comments become blanks, so that line numbers stay."""
    pattern = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)
    return pattern.sub(lambda m: m[0] if m[0][0] in "\"'" else re.sub(r"[^\n]", " ", m[0]), text)


def room_of(path, rooms):
    inside = [r for r in rooms if path.startswith(r + "/")]
    return max(inside, key=len) if inside else None


def includes(tree, path):
    for number, line in tree.lines(path):
        found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
        if found:
            yield number, found[1] == '"', found[2]


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


def rule_machine_paths(tree, _):
    """No path of one person's machine in a tracked file."""
    pattern = re.compile(r"(?:^|[\s\"'`=(:,<])/(?:" + "|".join(["work", "root", "home", "Users"]) + r")/")
    for path in tree.files:
        if os.path.splitext(path)[1] not in TEXT:
            continue
        for number, line in tree.lines(path):
            if pattern.search(line):
                yield f"{path}:{number}: {line.strip()[:100]}"


def rule_doc_paths(tree, _):
    """Every file that the README or docs/ mention exists."""
    top = ("model/", "sim/", "validate/", "configs/", "tests/", "docs/", "scripts/", "cmake/", ".ci/")
    for path in [f for f in tree.files if f.endswith(".md")]:
        for number, line in tree.lines(path):
            names = re.findall(r"\]\(([^)#\s]+)[^)]*\)", line)
            for name in names:
                if "://" not in name and not tree.exists(os.path.normpath(os.path.join(os.path.dirname(path), name))):
                    yield f"{path}:{number}: links to {name}, which does not exist"
            for name in re.findall(r"(?<![\w/.-])((?:%s)[\w./+-]*)" % "|".join(map(re.escape, top)), line):
                name = name.rstrip(".")
                after = line[line.index(name) + len(name):][:1]
                stands_for_another = re.search(r"/(FILE|NAME|CHIP)\b", name)
                if after in ("*", "<", "{", "$") or name in top or stands_for_another:
                    continue
                if not tree.exists(name) and not any(tree.exists(name + e) for e in (".h", ".cpp", ".cu", ".toml")):
                    yield f"{path}:{number}: mentions {name}, which does not exist"


ASSERTING = re.compile(r"\b(EXPECT|ASSERT)_\w+\s*\(|\bFAIL\(\)|\bADD_FAILURE\b")


def asserting_helpers(code):
    """Names of the functions defined in the code that assert something themselves or call one that does."""
    starts = list(re.finditer(r"^ {0,2}\w[\w:<>&*\[\], ]*[\s&*](\w+)\([^;{}]*\)[^;{}()]*\{", code, re.M))
    ends = [m.start() for m in starts[1:]] + [len(code)]
    bodies = {}
    for start, end in zip(starts, ends):
        bodies[start[1]] = bodies.get(start[1], "") + code[start.end():end]
    helpers = {name for name, body in bodies.items() if ASSERTING.search(body) and not name.startswith("TEST")}
    grown = True
    while grown:
        more = {name for name, body in bodies.items() if name not in helpers and calls(body, helpers)}
        grown = bool(more)
        helpers |= more
    return helpers


def calls(code, names):
    return any(found in names for found in re.findall(r"\b(\w+)\s*(?:<[^<>()]*>)?\(", code))


def asserting_macros(code, helpers):
    """Names of the macros whose text asserts or calls a helper; a test may hand them to another macro."""
    defined = re.findall(r"^[ ]*#[ ]*define[ ]+(\w+)\(((?:[^\n]*\\\n)*[^\n]*)", code, re.M)
    return {name for name, text in defined if ASSERTING.search(text) or calls(text, helpers)}


def rule_tests(tree, _):
    """Every test asserts something, none looks at the clock, and every test file is built."""
    test = re.compile(r"^(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)", re.M)
    for path in tree.under(["tests/"], ["_test.cpp"]):
        code = without_comments(tree.text(path))
        beside = tree.under([os.path.dirname(path) + "/"], [".h", ".cpp"])
        helpers = set()
        for other in beside:
            # A test's own body is no helper's.
            helpers |= asserting_helpers(test.sub("TEST_BODY()", without_comments(tree.text(other))))
        macros = asserting_macros(code, helpers)
        starts = list(test.finditer(code))
        if not starts:
            yield f"{path}: holds no test"
        for start, end in zip(starts, [m.start() for m in starts[1:]] + [len(code)]):
            body = code[start.end():end]
            if not ASSERTING.search(body) and not calls(body, helpers) and macros.isdisjoint(re.findall(r"\w+", body)):
                yield f"{path}:{code.count(chr(10), 0, start.start()) + 1}: {start[0]} asserts nothing"
        if re.search(r"<chrono>", code):
            yield f"{path}: reads the clock; timings belong in tests/benchmarks"
        lists = [f for f in tree.under(["tests/"], ["CMakeLists.txt"]) if path.startswith(os.path.dirname(f) + "/")]
        if not any(os.path.relpath(path, os.path.dirname(f)) in tree.text(f) for f in lists):
            yield f"{path}: no CMakeLists.txt names it"


def rule_chip_names(tree, _):
    """No code asks for a chip's name; the table of names and aliases and the command line's help apart."""
    named = ("model/config/requests.cpp", "sim/app/options.cpp", "sim/app/examples.cpp")
    # A name with more before a hyphen is a host's (configs/hosts).
    name = re.compile(r"(?<![\w-])(a100|h100|h200|gb203|gh100|ga100|rtx\s?50[78]0\w*)", re.I)
    for path in tree.under(["model/", "sim/"], SOURCE):
        if path in named:
            continue
        for number, line in enumerate(without_comments(tree.text(path)).split("\n"), 1):
            if name.search(line):
                yield f"{path}:{number}: {line.strip()[:100]}"


def rule_format(tree, _):
    """C++ sources are as scripts/format leaves them (clang-format 14, whose answers other versions do not give)."""
    version = re.search(r"version (\d+)", subprocess.run(["clang-format", "--version"], capture_output=True, text=True, check=False).stdout)
    if not version or version[1] != "14":
        return
    files = tree.under(["model/", "sim/", "tests/", "validate/"], (".h", ".cpp"))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        parts = [files[i::8] for i in range(8) if files[i::8]]
        answers = pool.map(lambda part: subprocess.run(["clang-format", "--dry-run", "--Werror", *part], cwd=tree.root, capture_output=True,
                                                       text=True, check=False), parts)
    said = "\n".join(answer.stderr for answer in answers)
    for path in sorted(set(re.findall(r"(?m)^(\S+?):\d+:\d+: error: ", said))):
        yield f"{path}: not formatted: scripts/format {path}"


def rule_unfinished(tree, _):
    """Nothing that says it is unfinished, and no file that has become a hall."""
    mark = re.compile(r"\b(" + "|".join(["TO" + "DO", "FIX" + "ME", "XX" + "X", "HA" + "CK"]) + r")\b")
    for path in [f for f in tree.files if f.endswith(SOURCE + (".py", ".md", ".toml", ".txt", ".cmake"))]:
        for number, line in tree.lines(path):
            if mark.search(line):
                yield f"{path}:{number}: {line.strip()[:100]}"
        length = tree.text(path).count("\n")
        if path.startswith(("model/", "sim/", "tests/")) and path.endswith((".h", ".cpp")) and length > 500:
            yield f"{path}: {length} lines; a file has at most 500"


def rule_citations(tree, _):
    """Comments state their facts or cite docs/: no section of a working paper that the repository does not have."""
    paper = re.compile(r"\bfacts [A-I]\d?\b|\bsass(_checked)?\.md\b|\bDESIGN\b")
    for path in tree.under(["model/", "sim/", "tests/", "validate/"], SOURCE):
        for number, line in tree.lines(path):
            if paper.search(line):
                yield f"{path}:{number}: {line.strip()[:100]}"


MOST_METHODS = 25


def class_bodies(code):
    """(name, body) of each class and struct that is defined in a header's code, those inside others too."""
    for found in re.finditer(r"\b(?:class|struct)\s+([\w:]+)(?:\s+final)?(?:\s*:\s*[^;{]*)?\s*{", code):
        depth, end = 1, found.end()
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        yield found[1], code[found.end():end - 1]


def method_count(name, body):
    """Member functions by name and parameters; bodies, nested classes, constructors and destructors apart."""
    flat, depth = [], 0
    for character in body:
        if character == "{":
            depth += 1
            if depth == 1:
                flat.append(";")
        elif character == "}":
            depth -= 1
        elif depth == 0:
            flat.append(character)
    own = name.split("::")[-1]
    count = 0
    for statement in "".join(flat).split(";"):
        statement = re.sub(r"\b(public|private|protected)\s*:", " ", statement)
        statement = re.sub(r"^\s*template\s*<[^;{]*?>\s*(?=\w)", "", statement)
        if re.match(r"\s*(using|friend|static_assert|enum|struct|class)\b", statement):
            continue
        head = re.match(r"[\s\[\]\w:<>,*&~]*?(~?\w+|operator\s*\S+)\s*\(", statement)
        if head and head[1].lstrip("~") != own and "=" not in statement[:head.end()]:
            count += 1
    return count


def rule_class_sizes(tree, _):
    """A class has at most 25 methods."""
    for path in tree.under(["model/", "sim/"], [".h", ".cpp"]):
        for name, body in class_bodies(without_comments(tree.text(path))):
            count = method_count(name, body)
            if count > MOST_METHODS:
                yield f"{path}: {name} has {count} methods; at most {MOST_METHODS}"


# The name before the parameters of a definition that begins in column 0 or, inside a class or namespace, in column 2.
FUNCTION_HEAD = re.compile(r"^(?P<indent> {0,2})(?![ #}/]|(?:using|typedef|return|if|for|while|switch|else|case|struct|class|enum|union|namespace|extern|public|private|protected)\b)"
                  r"(?P<text>[^;=]*?(?P<name>(?:[\w:<>~]+::)?(?:operator\s*[^\s(]+|~?\w+))\([^;]*)$")


def functions(code):
    """(name, lines) of each function that is defined in formatted code, from its first line to its closing brace."""
    lines = code.split("\n")
    at = 0
    while at < len(lines):
        found = FUNCTION_HEAD.match(lines[at])
        end = at
        if found:
            # The head may go on; its body opens with a brace at a line's end before anything else ends the statement.
            while end < len(lines) and not re.search(r"[{};]\s*$", lines[end]):
                end += 1
            if end < len(lines) and lines[end].rstrip().endswith("{"):
                close = found["indent"] + "}"
                last = next((i for i in range(end + 1, len(lines)) if lines[i].rstrip() in (close, close + ";")), end)
                yield found["name"], last - at + 1
                at = last if not re.search(r"\b(class|struct|namespace)\b", lines[at]) else at
        at += 1


# Functions that are longer than a function should be; the numbers may only fall.
LARGE_FUNCTIONS = {
    "sim/calibrate/core_rules.cpp:core_rules": 137,
    "sim/emulate/execute/warp_ops.cpp:translate_warp": 125,
    "sim/report/metrics_compute.cpp:compute_metrics": 117,
    "sim/emulate/schedule/block.cpp:Execution::run_warp": 104,
}
MOST_LINES = 100
SMALL_FUNCTIONS = {"model/gpu/gpu.cpp:Gpu::run": 59}  # the page that wires the chip


def rule_function_sizes(tree, _):
    """A function has at most 100 lines, the one that wires the chip fewer than 60; those that have more are known, and do not grow."""
    seen = {}
    for path in tree.under(["model/", "sim/"], [".h", ".cpp"]):
        for name, lines in functions(without_comments(tree.text(path))):
            seen[f"{path}:{name}"] = max(lines, seen.get(f"{path}:{name}", 0))
    for place, lines in seen.items():
        most = SMALL_FUNCTIONS.get(place, LARGE_FUNCTIONS.get(place, MOST_LINES))
        if lines > most:
            yield f"{place}: {lines} lines; at most {most}"
    for place, lines in LARGE_FUNCTIONS.items():
        if tree.exists(place.split(":")[0]) and seen.get(place, 0) < lines:
            yield f"{place}: {seen.get(place, 0)} lines, LARGE_FUNCTIONS says {lines}: it may say less now"


HIDDEN = re.compile(r"(?:inline )?(?:static )?(?:constexpr|const)\b[^=({;]*?\b(k[A-Z]\w*)(?=[\[ ={;])|(?:struct|class|enum(?: class)?) (\w+)[^;]*\{$|"
                    r"(?!using|return|namespace)[\w:<>&*, ]+[ &*](\w+)\(([^()]*)\)[\w ]*\{.*$")


def rule_united(tree, _):
    """What stands in column 0 of a room's sources has a name of its own: a quick build compiles them by the dozen (cmake/foretrace.cmake). sim/emulate apart."""
    rooms, seen = tree.rooms(), {}
    for path in tree.under(["model/", "sim/"], [".cpp"]):
        room = room_of(path, rooms)
        if room in (None, "sim/emulate", "sim/runtime"):
            continue
        hidden = False
        for number, line in enumerate(without_comments(tree.text(path)).split("\n"), 1):
            hidden = line.startswith("namespace {") or (hidden and not (line.startswith("}") and "//" in tree.text(path).split("\n")[number - 1]))
            found = HIDDEN.match(line)
            if not found or not (hidden or found[1]):
                continue
            types = found[4] and ",".join(re.sub(r"\s*\w+$", "", each.strip()) for each in found[4].split(","))
            name = next(filter(None, found.groups()[:3]))
            first = seen.setdefault((room, name, types), path)
            if first != path:
                yield f"{path}:{number}: {name} is a name in {first}, too"


# What the field calls otherwise.
WORDS = {
    "threads a block": "threads per block", "registers a thread": "registers per thread", "bytes a block": "bytes per block",
    "bytes` a lane": "bytes` per lane", "chip-full": "wave", "table of aims": "acceptance criteria",
    "sealed kernel": "held-out kernel", "open kernel": "development kernel", "print this": "show this help", "searched to the bottom": "searched recursively",
    "program by name": "aborts with its name", "fast mode": "sampled", "waiting loop": "spin loop",
}


def rule_words(tree, _):
    """Code, help and documents speak the field's language."""
    pattern = re.compile("|".join(map(re.escape, WORDS)), re.I)
    for path in tree.under(["model/", "sim/", "docs/", "README.md", "CONTRIBUTING.md"], (*SOURCE, ".md")):
        if path == "docs/history.md":
            continue
        for number, line in tree.lines(path):
            for found in pattern.findall(line):
                yield f"{path}:{number}: \"{found}\"; the field says \"{WORDS[found.lower()]}\""


def rule_readme(tree, _):
    """The README has at most 120 lines, and the figures and pictures of the front page: what it says, how accurate it is, a timeline."""
    text = tree.text("README.md") if tree.exists("README.md") else ""
    if text.count("\n") > 120:
        yield f"README.md: {text.count(chr(10))} lines; at most 120"
    for picture in re.findall(r"!\[[^]]*\]\(([^)]*)\)", text):
        if not tree.exists(picture):
            yield f"README.md: shows {picture}, which does not exist"


RULES = {name[len("rule_"):]: function for name, function in globals().items() if name.startswith("rule_")}


def main(arguments):
    if len(arguments) < 2:
        print(__doc__)
        return 2
    if arguments[1] == "--list":
        print(" ".join(RULES))
        return 0
    tree = Tree(arguments[0])
    broken = list(RULES[arguments[1]](tree, arguments[2] if len(arguments) > 2 else None))
    for line in broken:
        print(line)
    if broken:
        print(f"rule {arguments[1]}: {RULES[arguments[1]].__doc__} Broken {len(broken)} times.")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
