#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""dead_functions.py finds what was planted, and nothing else, however the sources are compiled."""

import contextlib
import io
import pathlib
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import dead_functions  # noqa: E402

SOURCES = {
    "analyzer/shapes/area.h": """
        namespace traceinject {
        int Area(int side);  // Gone() is named here, and "Gone()" there
        int Half(int length);
        int Gone(int side);
        int OnlyTested(int side);
        class Box {
         public:
          int Volume() const;
          int Weight() const;
          int height() const { return height_; }
          int depth() const { return height_; }
         private:
          int height_ = 3;
        };
        }  // namespace traceinject
        """,
    "analyzer/shapes/area.cc": """
        #include "analyzer/shapes/area.h"
        namespace traceinject {
        int Half(int length) {
          return length / 2;
        }
        int Area(int side) { return side * Half(side); }
        int Gone(
            int side) {
          return side;
        }
        int OnlyTested(int side) { return side + 1; }
        int Box::Volume() const { return height() * Area(height_); }
        int Box::Weight() const { return 7; }
        }  // namespace traceinject
        """,
    "analyzer/shapes/area_test.cc": """
        #include "analyzer/shapes/area.h"
        int Test() { return traceinject::OnlyTested(2) + traceinject::Box().depth(); }
        """,
    "analyzer/shapes/alone.cc": """
        namespace traceinject {
        int Alone(int a) { return a; }
        }  // namespace traceinject
        """,
    "analyzer/main.cc": """
        #include "analyzer/shapes/area.h"
        struct Scale { int Weight() const { return 1; } };
        int main(int arguments, char**) { return traceinject::Box().Volume() + Scale().Weight() + arguments; }
        """,
}

NINJA = """
rule cxx
  command = g++ -std=c++20 -O2 -ffunction-sections -I {root} -c $in -o $out
rule ar
  command = ar rcs $out $in
rule link
  command = : && g++ $in -o $out analyzer/shapes/libshapes.a analyzer/shapes/libshapes.a && :
build main.o: cxx {root}/analyzer/main.cc
{objects}
build analyzer/shapes/libshapes.a: ar {members}
build bin/analyze: link main.o | analyzer/shapes/libshapes.a
"""


class DeadFunctions(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name)
        self.build = self.root / "build"
        self.build.mkdir()
        for name, text in SOURCES.items():
            path = self.root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text.replace("\n        ", "\n"))

    def build_of(self, *sources):
        rules = [f"build analyzer/shapes/{pathlib.Path(source).name}.o: cxx {self.root / source}" for source in sources]
        members = " ".join(f"analyzer/shapes/{pathlib.Path(source).name}.o" for source in sources)
        (self.build / "build.ninja").write_text(NINJA.format(root=self.root, objects="\n".join(rules), members=members))
        subprocess.run(["ninja", "-C", self.build], check=True, capture_output=True)
        return {name for _, name, _ in dead_functions.dead_functions(self.root, self.build, ("bin/analyze",))}

    planted = {"Gone", "OnlyTested", "Weight", "Alone", "depth"}

    def test_file_by_file(self):
        self.assertEqual(self.build_of("analyzer/shapes/area.cc", "analyzer/shapes/alone.cc"), self.planted)

    def test_all_in_one_file(self):
        (self.build / "unity_0.cc").write_text('#include "analyzer/shapes/area.cc"\n#include "analyzer/shapes/alone.cc"\n')
        self.assertEqual(self.build_of("build/unity_0.cc"), self.planted)

    def test_nothing_where_all_is_used(self):
        (self.root / "analyzer/main.cc").write_text(SOURCES["analyzer/main.cc"].replace(
            "+ arguments", "+ arguments + traceinject::Gone(1) + traceinject::OnlyTested(1) + traceinject::Box().depth() + traceinject::Box().Weight()"))
        (self.root / "analyzer/shapes/alone.cc").unlink()
        self.assertEqual(self.build_of("analyzer/shapes/area.cc"), set())

    def test_a_folder_without_a_build(self):
        with contextlib.redirect_stderr(io.StringIO()) as complaint:
            self.assertEqual(dead_functions.main([str(self.build)]), 2)
        self.assertIn("Ninja does not build lib/libtraceinject.so, bin/analyze, bin/traceview", complaint.getvalue())


if __name__ == "__main__":
    unittest.main()
