#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A program that calls a library by the jumps of trampolines.py, where the library is there and where it is not."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import trampolines

LIBRARY = """
extern "C" double Mixed(int a, double b, int c, int d, int e, int f, int g, int h, double i) { return a + b + c + d + e + f + g + h + i; }
extern "C" int Number() { return 7; }
"""
# The second call of Number goes by its address, as a callback would.
PROGRAM = """
#include <cstdio>
extern "C" double Mixed(int, double, int, int, int, int, int, int, double);
extern "C" int Number();
int main() {
  int (*volatile number)() = Number;
  const int first = Number(), second = number();
  std::printf("%d %d", first, second);
  if (first != 0) std::printf(" %.1f", Mixed(1, 0.5, 2, 3, 4, 5, 6, 7, 0.25 * 2));
}
"""


@unittest.skipUnless(shutil.which("g++") and shutil.which("readelf"), "no g++ or no readelf here")
class Trampolines(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        for name, text in (("library.cc", LIBRARY), ("program.cc", PROGRAM)):
            (self.folder / name).write_text(text)
        self.library = self.folder / "libcalled.so"
        self.compile("library.cc", "-shared", "-fPIC", "-Wl,-soname,libcalled.so", "-o", self.library)
        subprocess.run([sys.executable, "-B", trampolines.__file__, "--compiler", "g++", "--out", str(self.folder / "jumps.s"),
                        str(self.library)], check=True)
        self.compile("program.cc", "jumps.s", pathlib.Path(__file__).with_name("load_libraries.cc"), "-ldl", "-o", "program")

    def compile(self, *arguments):
        subprocess.run(["g++", "-std=c++20", *map(str, arguments)], cwd=self.folder, check=True)

    def printed(self):
        return subprocess.run([str(self.folder / "program")], env={"LD_LIBRARY_PATH": str(self.folder)}, stdout=subprocess.PIPE,
                              universal_newlines=True, check=True).stdout

    def test_calls_the_library(self):
        self.assertEqual(self.printed(), "7 7 29.0")

    def test_returns_zero_without_it(self):
        self.library.unlink()
        self.assertEqual(self.printed(), "0 0")

    def test_is_not_linked_with_it(self):
        needs = subprocess.run(["readelf", "-d", "-W", str(self.folder / "program")], stdout=subprocess.PIPE, universal_newlines=True,
                               check=True).stdout
        self.assertNotIn("libcalled", needs)


if __name__ == "__main__":
    unittest.main()
