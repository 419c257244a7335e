"""Each rule of rules.py refuses a small tree that breaks it, and accepts the same tree put right.

    rules_can_fail.py COMPILER RULE...   the rules that CMakeLists.txt runs; they must be all there are
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
import rules  # noqa: E402  (stands beside this file)

COMPILER = sys.argv[1]
RUN_BY_CTEST = sys.argv[2:]

ROOMS = "set(FORETRACE_ROOMS model/units model/sm sim/app)\n"
GOOD = {
    "CMakeLists.txt": ROOMS,
    "model/units/units.h": "// Units.\n#pragma once\nusing Cycle = unsigned long;\n",
    "model/units/CMakeLists.txt": "foretrace_room(units SOURCES a.cpp)\n",
    "model/sm/sm.h": '// An SM.\n#pragma once\n#include "model/units/units.h"\nstruct Sm { Cycle now; };\n',
    "model/sm/CMakeLists.txt": "foretrace_room(sm SOURCES sm.cpp DEPENDS foretrace_units)\n",
    "sim/app/main.cpp": '#include "model/sm/sm.h"\nint main() { return 0; }\n',
    "tests/sm/sm_test.cpp": "TEST(Sm, Counts) {\n  EXPECT_EQ(1, 1);\n}\n"
                            "#define CHECK(name) compare(1);\nTEST(Sm, Macro) { ALL(CHECK) }\n"
                            "void compare(int a) {\n  ASSERT_EQ(a, 1);\n}\nTEST_F(Sm, Compares) {\n  compare(1);\n}\n",
    "tests/sm/CMakeLists.txt": "foretrace_test(sm_test SOURCES sm_test.cpp)\n",
    ".clang-format": "DisableFormat: true\n",
    "docs/architecture.md": "| room | holds |\n|---|---|\n| model/units | units |\n| model/sm | an SM |\n| sim/app | main |\n",
    "README.md": "The SM is in model/sm/sm.h; see [units](model/units/units.h).\n",
}
UNFINISHED = "TO" + "DO"
BAD = {
    "rooms": [{"model/sm/sm.h": '// An SM.\n#pragma once\n#include "sim/app/app.h"\n', "sim/app/app.h": "// App.\n#pragma once\n"},
              {"model/units/units.h": '// Units.\n#pragma once\n#include "model/sm/sm.h"\n'},
              {"model/sm/sm.h": '// An SM.\n#pragma once\n#include "units.h"\n'}],
    "room_table": [{"docs/architecture.md": "| model/units | units |\n| model/sm | an SM |\n"},
                   {"docs/architecture.md": "| model/units | u |\n| model/sm | s |\n| model/gone | g |\n| sim/app | m |\n"},
                   {"docs/architecture.md": "| model/sm | s |\n| model/units | u |\n| sim/app | m |\n"}],
    "links": [{"model/units/CMakeLists.txt": "foretrace_room(units SOURCES a.cpp DEPENDS foretrace_sm)\n"},
              {"model/units/CMakeLists.txt": "foretrace_room(units SOURCES a.cpp DEPENDS foretrace_gone)\n"}],
    "quiet_model": [{"model/sm/sm.cpp": "#include <iostream>\n"}, {"model/sm/sm.cpp": "#include <chrono>\n"},
                    {"model/sm/sm.cpp": "void f() { std::exit(1); }\n"}],
    "cuda_headers": [{"sim/app/main.cpp": "#include <cuda_runtime.h>\n"}],
    "headers": [{"model/sm/sm.h": "#pragma once\n"}, {"model/sm/sm.h": "// An SM.\nstruct Sm {};\n"},
                {"model/units/units.h": "// Units.\n#pragma once\n#include <nlohmann/json.hpp>\n"}],
    "headers_alone": [{"model/sm/sm.h": "// An SM.\n#pragma once\nstruct Sm { Cycle now; };\n"}],
    "machine_paths": [{"README.md": "See " + "/ro" + "ot/notes.txt\n"}],
    "doc_paths": [{"README.md": "See model/sm/gone.h\n"}, {"README.md": "See [gone](docs/gone.md)\n"}],
    "tests": [{"tests/sm/sm_test.cpp": "void helper() {\n  count();\n}\nTEST(Sm, Counts) {\n  helper();\n}\n"},
              {"tests/sm/sm_test.cpp": "TEST(Sm, Counts) {\n  // EXPECT_EQ(1, 1);\n}\n"},
              {"tests/sm/CMakeLists.txt": "\n"},
              {"tests/sm/sm_test.cpp": "#include <chrono>\nTEST(Sm, Counts) {\n  EXPECT_EQ(1, 1);\n}\n"}],
    "chip_names": [{"model/sm/sm.cpp": 'bool f(const char* n) { return n == "h100"; }\n'}],
    "format": [{".clang-format": "BasedOnStyle: Google\n", "model/sm/sm.cpp": "int  f( ){return 1;}\n"}],
    "twice": [{"tests/sm/data/a.cubin": "code", "validate/kernels/b.cubin": "code"}],
    "unfinished": [{"model/sm/sm.cpp": f"// {UNFINISHED}: more\n"}, {"model/sm/sm.cpp": "\n" * 501}],
    "imports": [{"sim/app/a.py": "import os\nimport sys\nsys.exit(0)\n"}, {"scripts/b": "#!/usr/bin/env python3\nfrom os import path as place\n"}],
    "citations": [{"model/sm/sm.cpp": "// As facts D2 say.\n"}, {"model/sm/sm.cpp": "// Source: sass.md 3.9.\n"}],
    "function_sizes": [{"model/sm/sm.cpp": "int f(int a) {\n" + "  ++a;\n" * 99 + "  return a;\n}\n"},
                       {"model/gpu/gpu.cpp": "void Gpu::run(int a,\n              int b) {\n" + "  ++a;\n" * 57 + "}\n"},
                       {"sim/calibrate/core_rules.cpp": "int core_rules() {\n  return 0;\n}\n"}],
    "words": [{"README.md": "At most 1024 threads " + "a block.\n"}, {"model/sm/sm.cpp": "// A chip-" + "full of blocks.\n"}],
    "readme": [{"README.md": "\n" * 121}, {"README.md": "![A picture](docs/pictures/gone.svg)\n"}],
    "united": [{"model/sm/a.cpp": "namespace {\nconstexpr int kMost = 1;\n}  // namespace\n", "model/sm/b.cpp": "constexpr int kMost = 2;\n"},
               {"model/sm/a.cpp": "namespace {\nint f(int a) {\n", "model/sm/b.cpp": "namespace {\nint f(int b) {\n"},
               {"model/sm/a.cpp": "namespace {\nconstexpr int kLeast = 0,\n              kMost = 1;\n}  // namespace\n",
                "model/sm/b.cpp": "constexpr int kMost = 2;\n"}],
    "class_sizes": [{"model/sm/sm.h": "// An SM.\n#pragma once\nclass Sm {\n public:\n  Sm(int a);\n"
                                      + "".join(f"  void f{i}(int a) const {{ g(); }}\n" for i in range(26)) + "};\n"},
                    {"model/sm/pipe.h": "// A pipe.\n#pragma once\nstruct Pipe {\n" + "".join(f"  void f{i}(int a);\n" for i in range(20)) + "};\n",
                     "model/sm/sm.h": "// An SM.\n#pragma once\nclass Sm : public Pipe {\n" + "".join(f"  void g{i}();\n" for i in range(6)) + "};\n"}],
}


def broken(rule, files):
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            path = os.path.join(folder, name)
            os.makedirs(os.path.dirname(path), exist_ok=True)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run(["git", "-C", folder, "init", "-q"], check=False)
        subprocess.run(["git", "-C", folder, "add", "-A"], check=False)
        return list(rules.RULES[rule](rules.Tree(folder), COMPILER))


class RulesCanFail(unittest.TestCase):
    def test_every_rule_is_run_and_has_an_example(self):
        self.assertEqual(sorted(rules.RULES), sorted(RUN_BY_CTEST))
        self.assertEqual(sorted(rules.RULES), sorted(BAD))

    def test_a_good_tree_breaks_no_rule(self):
        for rule in rules.RULES:
            self.assertEqual(broken(rule, GOOD), [], rule)

    def test_each_bad_tree_breaks_its_rule(self):
        for rule, examples in BAD.items():
            if rule == "format" and not shutil.which("clang-format"):
                continue
            for change in examples:
                self.assertNotEqual(broken(rule, {**GOOD, **change}), [], f"{rule}: {change}")


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
