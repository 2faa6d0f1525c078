#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plants in a small repository what include_directions.py has to find."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).with_name("include_directions.py")


class IncludeDirectionsTest(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.addCleanup(self.folder.cleanup)
        self.root = pathlib.Path(self.folder.name) / "tree"
        self.parts = {"low": "", "middle": "low", "top/inner": "low middle", "low/testing": "low"}
        self.write("low/base.h", "#pragma once\n")
        self.write("low/base_test.cc", '#include "low/base.h"\n#include "top/inner/roof.h"\n')
        self.write("low/testing/builder.h", '#include "low/base.h"\n')
        self.write("middle/wall.h", '#include <vector>\n\n#include "low/base.h"\n')
        self.write("top/inner/roof.h", '#include "low/base.h"\n#include "middle/wall.h"\n')
        self.write("top/inner/roof.cc", '#include "top/inner/roof.h"\n#include "top/inner/generated.h"\n')
        self.write("apart/program.cc", '#include "top/inner/roof.h"\n')

    def write(self, name, text=""):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)

    def check(self):
        """The exit code, and the complaints."""
        parts = pathlib.Path(self.folder.name) / "parts.txt"
        parts.write_text("".join(f"{folder}: {allowed}\n" for folder, allowed in self.parts.items()))
        ended = subprocess.run([sys.executable, "-B", CHECK, parts, self.root], capture_output=True, text=True)
        self.assertEqual(ended.stderr, "")
        return ended.returncode, ended.stdout.splitlines()[:-1]

    def test_what_is_declared_may_be_included(self):
        self.assertEqual(self.check(), (0, []))

    def test_an_include_against_the_direction_is_found(self):
        self.write("low/upwards.cc", '#include "low/base.h"\n  #  include "middle/wall.h"\n')
        self.assertEqual(self.check(), (1, [
            "low/upwards.cc includes middle/wall.h, but low/CMakeLists.txt names no middle in DEPENDS"]))

    def test_what_is_reached_through_others_only_is_not_declared(self):
        self.parts["top/inner"] = "middle"
        code, found = self.check()
        self.assertEqual(code, 1)
        self.assertEqual(len(found), 1)
        self.assertIn("top/inner/roof.h includes low/base.h", found[0])

    def test_an_include_without_its_folder_is_found(self):
        self.write("middle/near.cc", '#include "wall.h"\n')
        code, found = self.check()
        self.assertEqual((code, len(found)), (1, 1))
        self.assertIn("middle/near.cc includes wall.h", found[0])

    def test_a_circle_is_found(self):
        self.parts["low"] = "top/inner"
        self.assertEqual(self.check(), (1, ["parts in a circle: low -> top/inner -> low"]))

    def test_a_longer_circle_is_found(self):
        self.parts |= {"a": "b", "b": "c", "c": "d low", "d": "b"}
        self.assertEqual(self.check(), (1, ["parts in a circle: b -> c -> d -> b"]))

    def test_no_part_depends_on_what_is_no_part(self):
        self.parts["middle"] = "low apart"
        self.assertEqual(self.check(), (1, ["middle depends on apart, which is no part"]))

    def test_only_tests_use_what_is_for_tests(self):
        self.parts |= {"middle": "low low/testing", "top/testing": "low/testing"}
        self.assertEqual(self.check(), (1, ["middle depends on low/testing, which is for tests"]))

    def test_a_crowded_folder_is_found(self):
        for number in range(39):
            self.write(f"low/file{number}.cc")
            self.write(f"low/file{number}_test.cc")
        self.assertEqual(self.check(), (0, []))
        self.write("low/one_more.py")
        self.assertEqual(self.check(), (1, ["low holds 41 files that are no tests, more than 40: divide it"]))

    def test_build_folders_are_not_looked_at(self):
        for number in range(50):
            self.write(f"build/release/file{number}.cc")
        self.assertEqual(self.check(), (0, []))

    def test_in_a_checkout_only_our_files_count(self):
        subprocess.run(["git", "init", "-q", self.root], check=True)
        self.write(".gitignore", "made/\n")
        for number in range(50):
            self.write(f"made/file{number}.cc")
        self.assertEqual(self.check(), (0, []))

    def test_no_parts_at_all_is_a_mistake(self):
        self.parts = {}
        self.assertEqual(self.check(), (1, []))


if __name__ == "__main__":
    unittest.main()
