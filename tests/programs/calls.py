"""docs/runtime_calls.md lists exactly the runtime's functions that are not provided.

    calls.py REPOSITORY
"""

import os
import re
import sys


def names(repository):
    folder = os.path.join(repository, "sim", "runtime", "api")
    with open(os.path.join(folder, "exports.def"), encoding="utf-8") as file:
        exported = re.findall(r"^FORETRACE_EXPORT\((\w+)\)", file.read(), re.M)
    provided = set()
    for name in os.listdir(folder):
        if name.endswith(".cpp"):
            with open(os.path.join(folder, name), encoding="utf-8") as file:
                provided |= set(re.findall(r"FORETRACE_API[^(;{]*?\b((?!foretrace_)\w+)\(", file.read()))  # foretrace_...: Foretrace's own
    return exported, provided


def main(repository):
    exported, provided = names(repository)
    with open(os.path.join(repository, "docs", "runtime_calls.md"), encoding="utf-8") as file:
        text = file.read()
    listed = re.findall(r"\b_*cuda[A-Za-z]\w*", text.split("## Not provided")[1])
    failed = []
    if f"{len(exported)} of them" not in text:
        failed.append(f"the number of exported names is {len(exported)}")
    failed += [f"{name} is provided but listed as missing" for name in listed if name in provided]
    failed += [f"{name} is not provided and not listed" for name in exported if name not in provided and name not in listed]
    failed += [f"{name} is no function of the runtime" for name in listed if name not in exported]
    failed += [f"{name} is defined but not exported" for name in provided if name not in exported]
    for line in failed:
        print(line)
    return 1 if failed or len(exported) < 400 else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
