#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What abi.py says of programs that need too much."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import abi

FLOOR = (2, 28)
VERSIONS = """Version definition section '.gnu.version_d' contains 1 entry:
  0x001c: Rev: 1  Flags: none  Index: 2  Cnt: 1  Name: GLIBC_2.99

Version needs section '.gnu.version_r' contains 2 entries:
  000000: Version: 1  File: libc.so.6  Cnt: 3
  0x0010:   Name: GLIBC_2.2.5  Flags: none  Version: 3
  0x0020:   Name: GLIBC_2.29  Flags: none  Version: 2
  0x0030:   Name: GLIBC_ABI_DT_RELR  Flags: none  Version: 4
  0x0040: Version: 1  File: libother.so.1  Cnt: 1
  0x0050:   Name: OTHER_1.0  Flags: none  Version: 5
"""


class Abi(unittest.TestCase):
    def test_reads_what_a_file_needs(self):
        self.assertEqual(abi.needed_versions(VERSIONS), ["GLIBC_2.2.5", "GLIBC_2.29", "GLIBC_ABI_DT_RELR"])
        self.assertEqual(abi.newest(abi.needed_versions(VERSIONS)), (2, 29))
        self.assertEqual(abi.needed_libraries(" 0x1 (NEEDED)  Shared library: [libm.so.6]\n 0xe (SONAME) Library soname: [libx.so]\n"), ["libm.so.6"])

    def test_names_what_is_too_much(self):
        self.assertEqual(abi.complaints(["libc.so.6", "libpthread.so.0"], ["GLIBC_2.2.5", "GLIBC_2.28"], FLOOR), [])
        self.assertEqual(abi.complaints(["libc.so.6"], ["GLIBC_2.29"], FLOOR), ["needs GLIBC_2.29"])
        self.assertEqual(abi.complaints([], ["GLIBC_ABI_DT_RELR"], FLOOR), ["needs GLIBC_ABI_DT_RELR"])
        self.assertEqual(abi.complaints(["libstdc++.so.6"], [], FLOOR), ["needs libstdc++.so.6"])

    def run_on(self, path, floor):
        return subprocess.run([sys.executable, "-B", abi.__file__, "--floor", floor, str(path)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, universal_newlines=True, check=False)

    @unittest.skipUnless(shutil.which("readelf") and shutil.which("ls"), "no readelf or no ls here")
    def test_fails_on_a_program_of_this_machine(self):
        program = pathlib.Path(shutil.which("ls")).resolve()
        ended = self.run_on(program, "2.1")
        self.assertEqual(ended.returncode, 1)
        self.assertIn(f"{program}: needs GLIBC_2.", ended.stderr)

    @unittest.skipUnless(shutil.which("readelf"), "no readelf here")
    def test_fails_on_what_is_no_program(self):
        with tempfile.NamedTemporaryFile() as file:
            ended = self.run_on(file.name, "2.28")
            self.assertEqual(ended.returncode, 1)
            self.assertIn("readelf cannot read it", ended.stderr)


if __name__ == "__main__":
    unittest.main()
