"""What `cmake --install` leaves runs by itself.

    installation.py CMAKE BUILD
"""

import os
import subprocess
import sys
import tempfile
import unittest

CMAKE, BUILD = sys.argv[1:3]


class Installation(unittest.TestCase):
    def test_the_program_finds_what_was_installed_with_it(self):
        with tempfile.TemporaryDirectory() as prefix:
            done = subprocess.run([CMAKE, "--install", BUILD, "--prefix", prefix], capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            program = os.path.join(prefix, "bin", "foretrace")
            configs = os.path.join(prefix, "share", "foretrace", "configs")
            # Only this configuration says so: it is the installation's that is read.
            file = os.path.join(prefix, "share", "foretrace", "configs", "h100-sxm.toml")
            with open(file, encoding="utf-8") as text:
                changed = text.read().replace('title = "', 'title = "An installed ', 1)
            with open(file, "w", encoding="utf-8") as text:
                text.write(changed)
            environment = {name: value for name, value in os.environ.items() if name != "FORETRACE_CONFIGS"}
            done = subprocess.run([program, "arch", "h100"], capture_output=True, text=True, check=False, env=environment)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertIn("An installed NVIDIA H100", done.stdout)
            if os.path.exists(os.path.join(BUILD, "lib", "foretrace", "libcudart.so.13")):
                self.assertTrue(os.path.exists(os.path.join(prefix, "lib", "foretrace", "libcudart.so.13")))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
