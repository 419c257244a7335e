"""Makes the wheel: what `cmake --install` installs, and the Python packages beside it. A build backend of PEP 517 that needs nothing else.

$FORETRACE_BUILD names a build tree to take; else build/ is taken, and made by the release preset where it is not there.
"""

import base64
import hashlib
import os
import pathlib
import platform
import re
import subprocess
import tempfile
import tomllib
import zipfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGES = ("foretrace", "foretrace_cuda", "foretrace_torch", "foretrace_triton")
# Of an installation, what the package carries.
INSTALLED = ("bin/foretrace", "share/foretrace/configs", "share/foretrace/validate", "lib/foretrace")


def _built() -> pathlib.Path:
    tree = pathlib.Path(os.environ.get("FORETRACE_BUILD", ROOT / "build"))
    if not (tree / "bin/foretrace").is_file():
        subprocess.run(["cmake", "--preset", "release"], cwd=ROOT, check=True)
        subprocess.run(["cmake", "--build", "--preset", "release", "--target", "foretrace"], cwd=ROOT, check=True)
    return tree


def _version() -> str:
    return re.search(r"^project\([^)]*VERSION\s+([0-9.]+)", (ROOT / "CMakeLists.txt").read_text(), re.M).group(1)


def _compiler() -> list[str]:
    """The compiler's parts, as scripts/common.sh pins them."""
    text = (ROOT / "scripts/common.sh").read_text()
    lists = re.findall(r"^cuda_(?:compiler|disassembler)_packages=\(([^)]*)\)", text, re.M)
    return [package for each in lists for package in each.split()]


def _metadata(project: dict) -> str:
    lines = ["Metadata-Version: 2.1", f"Name: {project['name']}", f"Version: {_version()}", f"Summary: {project['description']}",
             f"Requires-Python: {project['requires-python']}", "Provides-Extra: compiler"]
    lines += [f"Requires-Dist: {package} ; extra == 'compiler'" for package in _compiler()]
    return "\n".join(lines) + "\n"


def _entry_points(project: dict) -> str:
    groups = {"console_scripts": project["scripts"], **project["entry-points"]}
    return "\n".join(f"[{group}]\n" + "".join(f"{name} = {target}\n" for name, target in entries.items()) for group, entries in groups.items())


def _files(stage: pathlib.Path):
    """(name in the wheel, file) in a fixed order."""
    for package in PACKAGES:
        for file in sorted((ROOT / "python" / package).rglob("*")):
            if file.suffix == ".py" or file.name == "py.typed":
                yield file.relative_to(ROOT / "python").as_posix(), file
    for part in INSTALLED:
        for file in [stage / part] if (stage / part).is_file() else sorted((stage / part).rglob("*")):
            if file.is_file():
                yield "foretrace/installed/" + file.relative_to(stage).as_posix(), file


def build_wheel(wheel_directory, config_settings=None, metadata_directory=None):
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    tag = f"py3-none-linux_{platform.machine()}"
    info = f"{project['name']}-{_version()}.dist-info"
    name = f"{project['name']}-{_version()}-{tag}.whl"
    texts = {f"{info}/METADATA": _metadata(project), f"{info}/entry_points.txt": _entry_points(project),
             f"{info}/WHEEL": f"Wheel-Version: 1.0\nGenerator: foretrace_wheel\nRoot-Is-Purelib: false\nTag: {tag}\n"}
    records = []
    with tempfile.TemporaryDirectory() as folder, zipfile.ZipFile(pathlib.Path(wheel_directory) / name, "w", zipfile.ZIP_DEFLATED) as wheel:
        stage = pathlib.Path(folder)
        subprocess.run(["cmake", "--install", str(_built()), "--prefix", str(stage)], check=True, stdout=subprocess.DEVNULL)

        def add(path: str, contents: bytes, executable: bool = False):
            entry = zipfile.ZipInfo(path)
            entry.external_attr = (0o100755 if executable else 0o100644) << 16
            entry.compress_type = zipfile.ZIP_DEFLATED
            wheel.writestr(entry, contents)
            digest = base64.urlsafe_b64encode(hashlib.sha256(contents).digest()).rstrip(b"=").decode()
            records.append(f"{path},sha256={digest},{len(contents)}")

        for path, file in _files(stage):
            add(path, file.read_bytes(), os.access(file, os.X_OK))
        for path, text in texts.items():
            add(path, text.encode())
        records.append(f"{info}/RECORD,,")
        wheel.writestr(f"{info}/RECORD", "\n".join(records) + "\n")
    return name


def build_sdist(sdist_directory, config_settings=None):
    raise RuntimeError("foretrace is built from a checkout: pip install PATH, or pip wheel PATH")
