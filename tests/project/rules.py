"""The project's rules that a machine can check, one function per rule in the files beside this one.

    rules.py ROOT RULE [COMPILER]     checks one rule: prints what breaks it, a line each; status 1 if anything does
    rules.py ROOT --list              prints the rules' names

A rule looks at the files that git tracks, or at all files where there is no git.
"""

import sys

import room_rules
import size_rules
import test_rules
import text_rules
from tree import Tree

RULES = {name[len("rule_"):]: function for module in (room_rules, test_rules, text_rules, size_rules)
         for name, function in vars(module).items() if name.startswith("rule_")}


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
