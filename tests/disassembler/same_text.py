"""The nvdisasm of this machine prints, for our corpus, the very text that CUDA 13.0's nvdisasm printed.

    same_text.py NVDISASM CORPUS RECORDED

CORPUS (tar) holds cubins of validate/kernels, made by nvcc 13.0.88 without options. RECORDED (JSON) holds the SHA-256
of `nvdisasm -c -hex CUBIN` as a machine with the toolkit of CUDA 13.0 answered it.
"""

import hashlib
import json
import os
import subprocess
import sys
import tarfile
import tempfile


def main(nvdisasm, corpus, recorded):
    with open(recorded, encoding="utf-8") as file:
        expected = json.load(file)["texts_sha256"]
    different = []
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(corpus) as archive:
            archive.extractall(folder)
        found = {os.path.relpath(os.path.join(path, name), folder)
                 for path, _, names in os.walk(folder) for name in names}
        if found != set(expected) or not found:
            print(f"the corpus holds {sorted(found)}, expected {sorted(expected)}")
            return 1
        for name in sorted(found):
            run = subprocess.run([nvdisasm, "-c", "-hex", os.path.join(folder, name)], capture_output=True, check=False)
            if run.returncode != 0 or hashlib.sha256(run.stdout).hexdigest() != expected[name]:
                different.append(name)
    if different:
        print(f"{nvdisasm} prints another text than CUDA 13.0's for: {' '.join(different)}")
        return 1
    print(f"{len(found)} cubins, the same text for each")
    return 0


if __name__ == "__main__":
    if len(sys.argv) != 4:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
