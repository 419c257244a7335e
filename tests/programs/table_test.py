"""scripts/programs' table: what it does with right, wrong, endless and expected-to-stop programs, and that docs/programs.md is what it writes.

    table_test.py
"""

import contextlib
import io
import json
import os
import sys
import tempfile
import unittest

import table

# In the place of foretrace: runs what stands behind the two dashes.
RUNS = '#!/bin/sh\necho run >> "$COUNT"\nwhile [ "$1" != -- ]; do shift; done; shift\nexec "$@"\n'
TABLE = """
[sections]
made_up = "Made up"
[environments.made]
{packages}
[[row]]
name = "{name}"
section = "made_up"
program = "{program}"
chips = ["h100"]
{more}
"""


class Rows(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        at = self.folder.name
        self.count = os.path.join(at, "count")
        os.makedirs(os.path.join(at, "bin"))
        self.foretrace = os.path.join(at, "bin", "foretrace")
        with open(self.foretrace, "w", encoding="utf-8") as file:
            file.write(RUNS)
        os.chmod(self.foretrace, 0o755)
        self.set_variable("FORETRACE", self.foretrace)
        self.set_variable("COUNT", self.count)

    def set_variable(self, name, value):
        old = os.environ.get(name)
        os.environ[name] = value
        self.addCleanup(lambda: os.environ.pop(name, None) if old is None else os.environ.update({name: old}))

    def run_row(self, code, more="", *words, packages="packages = []"):
        program = os.path.join(self.folder.name, "program.py")
        with open(program, "w", encoding="utf-8") as file:
            file.write(code)
        rows = os.path.join(self.folder.name, "table.toml")
        with open(rows, "w", encoding="utf-8") as file:
            file.write(TABLE.format(name="row", program=program, more=more, packages=packages))
        text = io.StringIO()
        with contextlib.redirect_stdout(text), contextlib.redirect_stderr(text):
            status = table.main(["--table", rows, "--folder", os.path.join(self.folder.name, "made"), *words])
        return status, text.getvalue()

    def runs(self):
        return len(table.read(self.count).splitlines())

    def test_the_largest_error_is_kept(self):
        status, said = self.run_row("print('a: right, largest error 2.5e-07 of the largest value'); print('b: right, largest error 3.0e-09 of it')")
        self.assertEqual((status, said), (0, f"{'row':32} {'h100':8} works, 2e-7 (0 s)\n"))

    def test_a_row_is_run_once_for_a_build(self):
        self.run_row("pass")
        self.run_row("pass")
        self.assertEqual(self.runs(), 1)
        self.run_row("pass", "", "--again")
        self.assertEqual(self.runs(), 2)
        self.run_row("print('changed')")
        self.assertEqual(self.runs(), 3)
        with open(self.foretrace, "a", encoding="utf-8") as file:
            file.write("# another build\n")
        self.run_row("print('changed')")
        self.assertEqual(self.runs(), 4)

    def test_what_is_wrong_is_said_and_run_again(self):
        for _ in range(2):
            status, said = self.run_row("raise ValueError('seven')")
            self.assertEqual(status, 1)
            self.assertIn("WRONG (1): ValueError: seven", said)
        self.assertEqual(self.runs(), 2)

    def test_a_limit(self):
        status, said = self.run_row("import time\ntime.sleep(60)", "limit = 1")
        self.assertEqual(status, 1)
        self.assertIn("no end within 1 s", said)

    def test_a_stop_that_is_expected(self):
        status, said = self.run_row("raise SystemExit('cuBLAS is missing')", 'expect = "cuBLAS"')
        self.assertEqual(status, 0)
        self.assertIn("stops so", said)
        self.assertEqual(self.run_row("raise SystemExit('something else')", 'expect = "cuBLAS"')[0], 1)
        self.assertEqual(self.run_row("print('cuBLAS')", 'expect = "cuBLAS"')[0], 1)

    def test_packages_that_cannot_be_had(self):
        with_environment = 'environment = "made"'
        for name, value in (("PIP_NO_INDEX", "1"), ("FORETRACE_REQUIRE_ALL", "0")):
            self.set_variable(name, value)
        made_up = 'packages = ["foretrace-made-up==1.0"]'
        self.assertEqual(self.run_row("pass", with_environment, "--or-skip", packages=made_up)[0], 77)
        self.assertEqual(self.run_row("pass", with_environment, packages=made_up)[0], 2)
        self.set_variable("FORETRACE_REQUIRE_ALL", "1")
        self.assertEqual(self.run_row("pass", with_environment, "--or-skip", packages=made_up)[0], 2)
        status, said = self.run_row("pass", with_environment, packages='packages = ["numpy>=2"]')
        self.assertEqual(status, 2)
        self.assertIn("expected NAME==VERSION", said)

    def test_words_that_are_no_rows(self):
        status, said = self.run_row("pass", "", "--only", "rov")
        self.assertEqual((status, self.runs()), (2, 0))
        self.assertIn("--only rov: no such row or section", said)
        status, said = self.run_row("pass", "colour = 1")
        self.assertEqual(status, 2)
        self.assertIn("row: unknown key colour", said)


class Committed(unittest.TestCase):
    def setUp(self):
        self.table, rows = table.read_table(os.path.join(table.HERE, "table.toml"))
        self.rows = {**table.build_rows(), **rows}

    def test_every_program_is_there(self):
        for row in self.rows.values():
            if "build" not in row:
                program = os.path.join(table.HERE, "python", row["program"].split()[0])
                self.assertTrue(os.path.isfile(program), row["name"])

    def test_every_python_program_is_in_the_table(self):
        used = {row["program"].split()[0] for row in self.rows.values()}
        helpers = {"checks.py", "device_array.py"}
        there = {name for name in os.listdir(os.path.join(table.HERE, "python")) if name.endswith(".py")}
        self.assertEqual(sorted(there - used - helpers), [])

    def test_the_document_is_what_the_table_and_the_results_make(self):
        text = table.read(os.path.join(table.REPOSITORY, "docs", "programs.md"))
        self.assertEqual(text, table.document(text, table.tables(self.table, self.rows, table.committed())),
                         "docs/programs.md: scripts/programs --record writes it")

    def test_nothing_committed_went_wrong(self):
        for name, chips in table.committed().items():
            for chip, known in chips.items():
                self.assertFalse(known["result"].startswith(("WRONG", "no end")), f"{name} on {chip}: {json.dumps(known)}")


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    unittest.main()
