"""python -m foretrace_cuda PROGRAM.py ARGUMENTS, or -m MODULE ARGUMENTS: runs it with foretrace_cuda imported first."""

import os
import runpy
import sys

import foretrace_cuda  # noqa: F401


def main():
    arguments = sys.argv[1:]
    module = arguments[:1] == ["-m"]
    if len(arguments) < 1 + module or (not module and arguments[0].startswith("-")):
        print("expected: python -m foretrace_cuda PROGRAM.py ARGUMENTS, or -m MODULE ARGUMENTS", file=sys.stderr)
        sys.exit(2)
    if module:
        sys.argv = arguments[1:]
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")


main()
