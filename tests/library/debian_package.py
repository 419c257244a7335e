"""The Debian package holds what is promised: debian_package.py CPACK BUILD DPKG_DEB VERSION"""

import pathlib
import subprocess
import sys
import tempfile

CPACK, BUILD, DPKG, VERSION = sys.argv[1:]
EXPECTED = ["./usr/bin/foretrace", "./usr/lib/libforetrace.so", "./usr/include/foretrace/foretrace.h",
            "./usr/lib/cmake/foretrace/foretrace-config.cmake", "./usr/share/foretrace/configs/h100-sxm.toml",
            "./usr/share/foretrace/configs/isa/sm_90.toml", "./usr/share/doc/foretrace/third_party.md"]

with tempfile.TemporaryDirectory() as folder:
    made = subprocess.run([CPACK, "-G", "DEB", "--config", str(pathlib.Path(BUILD) / "CPackConfig.cmake"), "-B", folder],
                          capture_output=True, text=True, check=False)
    packages = list(pathlib.Path(folder).glob("*.deb"))
    if made.returncode != 0 or len(packages) != 1:
        sys.exit(f"no package: {made.stdout}{made.stderr}")
    fields = subprocess.run([DPKG, "-f", str(packages[0]), "Package", "Version", "Depends"], capture_output=True, text=True,
                            check=True).stdout
    listing = subprocess.run([DPKG, "-c", str(packages[0])], capture_output=True, text=True, check=True).stdout
    there = {line.split()[5] for line in listing.splitlines()}
    faults = [f"{path} is missing" for path in EXPECTED if path not in there]
    faults += [f"{word} is missing in: {fields}" for word in ("Package: foretrace", f"Version: {VERSION}", "libzstd1")
               if word not in fields]
    faults += [f"{path} is outside of /usr" for path in there if not path.startswith("./usr/") and path not in ("./", "./usr")]
    if faults:
        sys.exit("\n".join(faults))
