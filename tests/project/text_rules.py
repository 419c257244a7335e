"""Rules of words: what files may say and mention, how they are formatted."""

import ast
import concurrent.futures
import hashlib
import os
import re
import subprocess

from tree import SOURCE, TEXT, without_comments


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


def rule_twice(tree, _):
    """A fixture, a cubin or a measurement's table stands once: no two files of tests/ and validate/ hold the same."""
    seen = {}
    for path in tree.under(["tests/", "validate/"], [""]):
        whole = os.path.join(tree.root, path)
        if os.path.islink(whole):
            continue
        with open(whole, "rb") as file:
            first = seen.setdefault(hashlib.sha256(file.read()).digest(), path)
        if first != path and os.path.getsize(whole) > 0:
            yield f"{path}: holds what {first} does"


def rule_imports(tree, _):
    """Every name that a Python file imports is used there, or its line says `noqa: F401` and so why it is imported."""
    for path in [f for f in tree.files if f.endswith(".py") or tree.text(f).startswith("#!/usr/bin/env python3")]:
        text = tree.text(path)
        lines = text.split("\n")
        for node in ast.walk(ast.parse(text)):
            if not isinstance(node, (ast.Import, ast.ImportFrom)) or "noqa: F401" in lines[node.lineno - 1]:
                continue
            for name in (alias.asname or alias.name.split(".")[0] for alias in node.names):
                if len(re.findall(rf"\b{re.escape(name)}\b", text)) == 1:
                    yield f"{path}:{node.lineno}: {name} is imported and not used"


def rule_citations(tree, _):
    """Comments state their facts or cite docs/: no section of a working paper that the repository does not have."""
    paper = re.compile(r"\bfacts [A-I]\d?\b|\bsass(_checked)?\.md\b|\bDESIGN\b")
    for path in tree.under(["model/", "sim/", "tests/", "validate/"], SOURCE):
        for number, line in tree.lines(path):
            if paper.search(line):
                yield f"{path}:{number}: {line.strip()[:100]}"


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
