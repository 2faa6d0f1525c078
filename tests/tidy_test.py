#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""tidy.py finds what is planted, tells of what clang cannot parse, and does not look twice."""

import contextlib
import io
import json
import pathlib
import shutil
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))

import tidy  # noqa: E402

SOURCES = {
    "analyzer/sound.h": "#pragma once\ninline int Half(int value) { return value / 2; }\n",
    "analyzer/sound.cc": '#include "analyzer/sound.h"\nint Quarter(int value) { return Half(Half(value)); }\n',
    "analyzer/moved.cc": """#include <string>
#include <utility>
std::string Twice(std::string text) {
  std::string other = std::move(text);
  return other + text;
}
""",
    "analyzer/other.cc": '#include "analyzer/sound.h"\nint Other() { return ONLY_BY_OPTION; }\n',
    "analyzer/strange.cc": "int Strange() { return __builtin_of_another_compiler(1); }\n",
    "analyzer/sound_test.cc": "int Test() { return 1; }\n",
}


@unittest.skipUnless(shutil.which("clang-tidy"), "clang-tidy is not here")
class Tidy(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = pathlib.Path(folder.name).resolve()
        self.build = self.root / "build"
        for name, text in SOURCES.items():
            (self.root / name).parent.mkdir(exist_ok=True)
            (self.root / name).write_text(text)
        shutil.copy(tidy.ROOT / ".clang-tidy", self.root)
        # Two sources are compiled as one, with a header compiled ahead.
        unity = self.build / "parts/Unity/unity_0_cxx.cxx"
        unity.parent.mkdir(parents=True)
        unity.write_text(f'#include "{self.root}/analyzer/sound.cc"\n#include "{self.root}/analyzer/other.cc"\n')
        self.compile = {name: f"/usr/bin/ccache /usr/bin/c++ -I{self.root} -std=c++20 -Werror -o {name}.o -c {self.root}/{name}"
                        for name in ("analyzer/moved.cc", "analyzer/strange.cc", "analyzer/sound_test.cc")}
        self.write_commands({unity: f"/usr/bin/c++ -I{self.root} -DONLY_BY_OPTION=1 -std=c++20 -Winvalid-pch -include missing_pch.hxx -o u.o -c {unity}",
                             **{self.root / name: command for name, command in self.compile.items()}})

    def write_commands(self, commands):
        (self.build / "compile_commands.json").write_text(json.dumps(
            [{"directory": str(self.build), "file": str(file), "command": command} for file, command in commands.items()]))

    def run_tidy(self, *arguments):
        with contextlib.redirect_stdout(io.StringIO()) as said:
            code = tidy.main([*arguments, str(self.build)], self.root)
        return code, said.getvalue()

    def test_finds_and_tells(self):
        code, said = self.run_tidy("--seconds", "0")
        self.assertEqual(code, 1)
        self.assertIn("analyzer/moved.cc:5:18: error: 'text' used after it was moved [bugprone-use-after-move", said)
        self.assertIn("not parsed: analyzer/strange.cc: ", said)
        self.assertIn("4 of 4 files", said)
        self.assertIn("1 with findings, 1 that clang cannot parse", said)

    def test_what_passed_is_not_looked_at_again(self):
        (self.root / "analyzer/moved.cc").unlink()
        self.assertEqual(self.run_tidy("--seconds", "0")[0], 0)
        before = {path.name: path.stat().st_mtime_ns for path in (self.build / "tidy").iterdir()}
        self.assertEqual(set(before), {"analyzer+sound.cc", "analyzer+other.cc", "analyzer+strange.cc"})
        self.assertEqual(self.run_tidy()[0], 0)
        self.assertEqual(before, {path.name: path.stat().st_mtime_ns for path in (self.build / "tidy").iterdir()})
        (self.root / "analyzer/sound.h").write_text("#pragma once\n#include <string>\n"
                                                    "inline bool Empty(const std::string& text) { return text.size() == 0; }\n"
                                                    "inline int Half(int value) { return value / 2; }\n")
        code, said = self.run_tidy("--seconds", "0")
        self.assertEqual(code, 1)
        self.assertEqual(said.count("analyzer/sound.h:3:53: error: the 'empty' method should be used"), 1)

    def test_time_is_kept(self):
        code, said = self.run_tidy("--seconds", "1e-9")
        self.assertEqual(code, 0)
        self.assertIn("0 of 4 files", said)
        self.assertIn("4 are left", said)

    def test_no_build(self):
        (self.build / "compile_commands.json").unlink()
        with contextlib.redirect_stderr(io.StringIO()):
            self.assertEqual(self.run_tidy()[0], 2)


if __name__ == "__main__":
    unittest.main()
