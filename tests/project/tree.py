"""The project's files as the rules see them, and what several rules ask of one."""

import os
import re
import subprocess

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
