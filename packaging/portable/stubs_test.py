#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which symbols stubs.py offers, and what the linker makes of them."""

import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import stubs

LISTING = """
Symbol table '.dynsym' contains 11 entries:
   Num:    Value          Size Type    Bind   Vis      Ndx Name
     0: 0000000000000000     0 NOTYPE  LOCAL  DEFAULT  UND
     1: 0000000000000000     0 FUNC    GLOBAL DEFAULT  UND __tls_get_addr@GLIBC_2.3 (41)
     2: 0000000000000000     0 OBJECT  GLOBAL DEFAULT  ABS GLIBC_2.2.5
     3: 00000000000a2d70    40 FUNC    GLOBAL DEFAULT   16 memcpy@GLIBC_2.2.5
     4: 000000000009be70   265 IFUNC   GLOBAL DEFAULT   16 memcpy@@GLIBC_2.14
     5: 0000000000089380  3821 FUNC    GLOBAL DEFAULT   16 pthread_create@GLIBC_2.2.5
     6: 0000000000089380  3821 FUNC    GLOBAL DEFAULT   16 pthread_create@@GLIBC_2.34
     7: 0000000000088000    10 FUNC    GLOBAL DEFAULT   16 pthread_self@@GLIBC_2.2.5
     8: 00000000000f77e0    18 FUNC    WEAK   DEFAULT   16 stat@@GLIBC_2.33
     9: 00000000001db320     8 OBJECT  WEAK   DEFAULT   34 environ@@GLIBC_2.2.5
    10: 00000000001db320     8 OBJECT  GLOBAL DEFAULT   34 __environ@@GLIBC_2.2.5
    11: 00000000001db400 0x1b000 OBJECT  GLOBAL DEFAULT   34 _nl_msg_cat_cntr@@GLIBC_PRIVATE
"""
PROGRAM = """
#include <pthread.h>
#include <sys/stat.h>
struct stat s;
extern "C" void* Thread(void* argument) { return argument; }
int main() {
  pthread_t thread;
  pthread_create(&thread, nullptr, Thread, nullptr);
  return CALL;
}
"""


class Offered(unittest.TestCase):
    def setUp(self):
        self.symbols = stubs.newest_up_to((2, 28), stubs.read_symbols(LISTING))
        self.by_name = {symbol.name: symbol for symbol in self.symbols}

    def test_one_version_of_each_name_that_is_old_enough(self):
        self.assertEqual({symbol.name: symbol.version for symbol in self.symbols},
                         {"memcpy": "GLIBC_2.14", "pthread_create": "GLIBC_2.2.5", "pthread_self": "GLIBC_2.2.5",
                          "environ": "GLIBC_2.2.5", "__environ": "GLIBC_2.2.5"})
        older = stubs.newest_up_to((2, 13), stubs.read_symbols(LISTING))
        self.assertIn("GLIBC_2.2.5", [symbol.version for symbol in older if symbol.name == "memcpy"])

    def test_libraries_that_had_a_symbol(self):
        self.assertEqual(stubs.former_home(self.by_name["pthread_create"]), "libpthread.so.0")
        self.assertEqual(stubs.former_home(self.by_name["pthread_self"]), "libc.so.6", "it always was there, too")
        self.assertEqual(stubs.former_home(self.by_name["memcpy"]), "libc.so.6")

    def test_names_of_one_object_stay_together(self):
        text = stubs.assembly(self.symbols)
        self.assertRegex(text, r"__environ:\n\.size __environ, 8\n\.weak environ\n\.type environ, %object\nenviron:\n\.size environ, 8\n\.space 8\n")
        self.assertIn(".type memcpy, %function", text)

    def test_versions_without_a_number(self):
        self.assertEqual(stubs.version_number("GLIBC_2.2.5"), (2, 2, 5))
        for version in ("GLIBC_PRIVATE", "GLIBC_ABI_DT_RELR", "GCC_3.0"):
            self.assertIsNone(stubs.version_number(version))


@unittest.skipUnless(shutil.which("gcc") and shutil.which("readelf"), "no gcc or no readelf here")
class Linked(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.folder = pathlib.Path(folder.name)
        subprocess.run([sys.executable, "-B", stubs.__file__, "--floor", "2.28", "--compiler", "gcc", "--out", str(cls.folder / "stubs")],
                       check=True)

    def link(self, call):
        """A shared library, which needs no start code."""
        source = self.folder / "program.cc"
        source.write_text(PROGRAM.replace("CALL", call))
        return subprocess.run(["gcc", "-shared", "-fPIC", "-Wl,-z,defs", source, "-o", self.folder / "program.so", f"-L{self.folder}/stubs",
                               "-static-libgcc"], stderr=subprocess.PIPE, universal_newlines=True, check=False)

    def test_old_versions_are_bound(self):
        self.assertEqual(self.link("0").stderr, "")
        needs = subprocess.run(["readelf", "-d", "-V", "-W", self.folder / "program.so"], stdout=subprocess.PIPE, universal_newlines=True,
                               check=True).stdout
        self.assertRegex(needs, r"File: libpthread\.so\.0 +Cnt: 1\n.*Name: GLIBC_2\.(2\.5|17) ")
        self.assertNotIn("GLIBC_2.34", needs)

    def test_what_is_too_new_is_undefined(self):
        ended = self.link('stat("x", &s)')
        self.assertNotEqual(ended.returncode, 0)
        self.assertIn("undefined reference to `stat'", ended.stderr)


if __name__ == "__main__":
    unittest.main()
