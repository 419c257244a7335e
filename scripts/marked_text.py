"""What scripts write into documents stands between two markers there: `<!-- NAME -->` and the next one that begins with `<!-- end`, each on a line."""
import re
import sys


def put(text, name, lines, where):
    """`text` with `lines` (each with its end) between the markers of `name`; the program ends with a line where `where` does not have them once."""
    new, times = re.subn(rf"^(<!-- {re.escape(name)} -->\n).*?^(<!-- end[^\n]*-->)", lambda m: m[1] + lines + m[2], text, flags=re.S | re.M)
    if times != 1:
        sys.exit(f"{where}: expected the markers of '{name}' once, found them {times} times")
    return new


def write(file, name, lines):
    """Puts `lines` between the markers of `name` in a file."""
    file.write_text(put(file.read_text(), name, lines, file))
