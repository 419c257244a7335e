"""Rules of classes, functions and names: how large they may be, and which stand for one thing."""

import re

from tree import room_of, without_comments

MOST_METHODS = 25


def class_bodies(code):
    """(name, names of its bases, body) of each class and struct that is defined in a header's code, those inside others too."""
    for found in re.finditer(r"(?<!enum )\b(?:class|struct)\s+((?:\w+::)*\w+)(?:\s+final)?(?:\s*:(?!:)\s*([^;{]*))?\s*{", code):
        depth, end = 1, found.end()
        while depth and end < len(code):
            depth += {"{": 1, "}": -1}.get(code[end], 0)
            end += 1
        listed = re.sub(r"<[^;{]*?>", "", found[2] or "").split(",")
        bases = [re.sub(r"\b(public|private|protected|virtual)\b", "", base).strip().split("::")[-1] for base in listed]
        yield found[1], [base for base in bases if base], code[found.end():end - 1]


def method_count(name, body):
    """(all, those that override a base's) of the member functions by name and parameters; bodies, nested classes, constructors and destructors apart."""
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
    count = overriding = 0
    for statement in "".join(flat).split(";"):
        statement = re.sub(r"\b(public|private|protected)\s*:", " ", statement)
        statement = re.sub(r"^\s*template\s*<[^;{]*?>\s*(?=\w)", "", statement)
        if re.match(r"\s*(using|friend|static_assert|enum|struct|class)\b", statement):
            continue
        head = re.match(r"[\s\[\]\w:<>,*&~]*?(~?\w+|operator\s*\S+)\s*\(", statement)
        if head and head[1].lstrip("~") != own and "=" not in statement[:head.end()]:
            count += 1
            overriding += re.search(r"\b(override|final)\s*$", statement) is not None
    return count, overriding


def rule_class_sizes(tree, _):
    """A class has at most 25 methods, those of its bases among them."""
    classes = []  # path, name, bases, methods, methods that override
    for path in tree.under(["model/", "sim/"], [".h", ".cpp"]):
        for name, bases, body in class_bodies(without_comments(tree.text(path))):
            classes.append((path, name, bases, *method_count(name, body)))

    def total(name, bases, count, overriding, below=frozenset()):
        """With the methods of its bases; of several classes that have a base's name the one with the most."""
        below = below | {name.split("::")[-1]}
        inherited = sum(max((total(*one[1:], below) for one in classes if one[1].split("::")[-1] == base), default=0)
                        for base in bases if base not in below)
        return max(count, count + inherited - overriding)

    for path, *one in classes:
        name, count = one[0], total(*one)
        if count > MOST_METHODS:
            yield f"{path}: {name} has {count} methods, those of its bases among them; at most {MOST_METHODS}"


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
    "sim/report/metrics_compute.cpp:compute_metrics": 117,
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
    """What stands in column 0 of a room's sources has a name of its own: a quick build compiles them by the dozen (cmake/foretrace.cmake)."""
    rooms, seen = tree.rooms(), {}
    for path in tree.under(["model/", "sim/"], [".cpp"]):
        room = room_of(path, rooms)
        if room in (None, "sim/runtime"):
            continue
        hidden = False
        lines = without_comments(tree.text(path)).split("\n")
        for number, line in enumerate(lines, 1):
            hidden = line.startswith("namespace {") or (hidden and not (line.startswith("}") and "//" in tree.text(path).split("\n")[number - 1]))
            found = HIDDEN.match(line)
            if not found or not (hidden or found[1]):
                continue
            types = found[4] and ",".join(re.sub(r"\s*\w+$", "", each.strip()) for each in found[4].split(","))
            names = [next(filter(None, found.groups()[:3]))]
            if found[1]:  # one statement may declare several
                statement = "\n".join(lines[number - 1:]).split(";", 1)[0]
                names += [name for name in re.findall(r", *\n? *(k[A-Z]\w*) = ", statement) if name not in names]
            for name in names:
                first = seen.setdefault((room, name, types), path)
                if first != path:
                    yield f"{path}:{number}: {name} is a name in {first}, too"
