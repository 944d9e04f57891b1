# SPDX-License-Identifier: Apache-2.0
"""The types of the package, as a type checker sees them."""
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

from .server import same_on_every_engine

HERE = Path(__file__).resolve().parent
EXPECTED = re.compile(r"# E: (.*)$")


@same_on_every_engine("types")
@unittest.skipUnless(shutil.which("mypy"), "mypy is not installed")
class Types(unittest.TestCase):
    def test_right_uses_are_accepted_and_wrong_ones_refused(self):
        with tempfile.TemporaryDirectory() as cache:
            checked = subprocess.run(
                ["mypy", "--strict", "--python-version", "3.9", "--hide-error-context",
                 "--cache-dir", cache, "--follow-imports", "silent", str(HERE / "typed.py")],
                capture_output=True, text=True, timeout=390, check=False,
                env={**os.environ, "MYPYPATH": str(HERE.parent / "src")})
        errors = {}
        for line in checked.stdout.splitlines():
            found = re.match(r".*typed\.py:(\d+): error: (.*)", line)
            if found:
                errors.setdefault(int(found[1]), []).append(found[2])
        lines = (HERE / "typed.py").read_text().splitlines()
        for number, line in enumerate(lines, 1):
            expected = EXPECTED.search(line)
            said = " ".join(errors.pop(number, []))
            if expected:
                self.assertIn(expected[1], said, f"typed.py:{number}")
            else:
                self.assertEqual(said, "", f"typed.py:{number}")
        self.assertEqual(errors, {}, checked.stdout)


if __name__ == "__main__":
    unittest.main()
