"""Rules of tests."""

import os
import re

from tree import without_comments

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
