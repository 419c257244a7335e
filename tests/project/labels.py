"""Each test that ctest knows in a build has a label, and each label is one that CONTRIBUTING.md explains.

    labels.py CTEST BUILD ROOT
"""

import json
import pathlib
import re
import subprocess
import sys


def labels_of(test):
    return next((each["value"] for each in test.get("properties", []) if each["name"] == "LABELS"), [])


def wrong(tests, explained):
    for test in tests:
        labels = labels_of(test)
        if not labels:
            yield f"{test['name']}: no label"
        yield from (f"{test['name']}: label {each}, which CONTRIBUTING.md does not explain" for each in labels if each not in explained)


def main():
    ctest, build, root = sys.argv[1:]
    listed = subprocess.run([ctest, "--show-only=json-v1"], cwd=build, capture_output=True, text=True, check=True).stdout
    explained = set(re.findall(r"^\| `(\w+)` \|", pathlib.Path(root, "CONTRIBUTING.md").read_text(encoding="utf-8"), re.M))
    tests = json.loads(listed)["tests"]
    example = [{"name": "a"}, {"name": "b", "properties": [{"name": "LABELS", "value": ["slow"]}]}]
    if len(list(wrong(example, explained))) != 2 or not tests:
        sys.exit("this test cannot fail")
    found = list(wrong(tests, explained))
    print(*found, f"{len(tests)} tests, {len(found)} wrong", sep="\n")
    return 1 if found else 0


sys.exit(main())
