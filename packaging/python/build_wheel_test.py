# SPDX-License-Identifier: Apache-2.0
"""The wheel that build_wheel.py makes of small programs, which are compiled here."""

import base64
import csv
import hashlib
import io
import os
import pathlib
import platform
import shutil
import subprocess
import tempfile
import unittest
import zipfile

import build_wheel

MACHINE = platform.machine()
COMPILER = shutil.which("cc") or shutil.which("gcc")
# Of a library that claims to be the C library of the future.
FUTURE_MAP = "GLIBC_2.99 { global: from_the_future; };"
INFO = "traceinject-1.2.dist-info"


def compile_file(source, output, *flags):
    subprocess.run([COMPILER, "-x", "c", "-", "-x", "none", "-o", output, *flags], input=source, text=True, check=True, capture_output=True)


@unittest.skipUnless(COMPILER and shutil.which("readelf"), "no C compiler or no readelf here")
@unittest.skipUnless(MACHINE in build_wheel.MACHINES.values(), f"no wheels are made for {MACHINE}")
class BuildWheel(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="traceinject-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.programs = cls.place / "programs"
        cls.programs.mkdir()
        compile_file("int puts(const char *); void say(void) { puts(\"\"); }", cls.programs / "libtraceinject.so", "-shared", "-fPIC")
        compile_file("int number(void) { return 0; }", cls.programs / "analyze", "-shared", "-fPIC")
        shutil.copy(cls.programs / "analyze", cls.programs / "list_options")
        (cls.programs / "notes.txt").write_text("no program")
        cls.manual = cls.place / "man"
        (cls.manual / "man1").mkdir(parents=True)
        (cls.manual / "man1" / "analyze.1").write_text(".TH ANALYZE 1\n")

    def setUp(self):
        self.output = pathlib.Path(tempfile.mkdtemp(dir=self.place))

    def build(self, *places, **how):
        return build_wheel.build(places or [self.programs], "1.2", self.output, self.manual, **how)

    def future(self):
        """A folder whose program asks for a C library that is not out yet."""
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.place))
        (folder / "map").write_text(FUTURE_MAP)
        compile_file("int from_the_future(void) { return 1; }", folder / "libc.so.6", "-shared", "-fPIC", "-nostdlib", "-Wl,-soname,libc.so.6",
                     f"-Wl,--version-script={folder}/map")
        compile_file("int from_the_future(void); int main(void) { return from_the_future(); }", folder / "analyze",
                     "-shared", "-fPIC", "-nostdlib", str(folder / "libc.so.6"))
        (folder / "libc.so.6").unlink()
        return folder

    def test_name_tells_the_machines(self):
        self.assertEqual(self.build().name, f"traceinject-1.2-py3-none-manylinux_2_28_{MACHINE}.whl")
        self.assertEqual(self.build(platform=f"linux_{MACHINE}").name, f"traceinject-1.2-py3-none-linux_{MACHINE}.whl")
        with zipfile.ZipFile(self.build()) as wheel:
            self.assertIn(f"Tag: py3-none-manylinux_2_28_{MACHINE}\n", wheel.read(f"{INFO}/WHEEL").decode())

    def test_holds_programs_that_can_be_run_and_no_others(self):
        with zipfile.ZipFile(self.build()) as wheel:
            modes = {entry.filename: entry.external_attr >> 16 for entry in wheel.infolist()}
            scripts = wheel.read(f"{INFO}/entry_points.txt").decode()
            self.assertEqual(wheel.read("traceinject/bin/analyze"), (self.programs / "analyze").read_bytes())
        self.assertEqual({name for name in modes if "/bin/" in name}, {"traceinject/bin/analyze", "traceinject/bin/libtraceinject.so"})
        self.assertEqual(modes["traceinject/bin/analyze"], 0o100755)
        self.assertEqual(modes["traceinject/run.py"], 0o100644)
        self.assertIn("traceinject/py.typed", modes)
        self.assertIn("traceinject-1.2.data/data/share/man/man1/analyze.1", modes)
        self.assertIn("analyze = traceinject.command_line:analyze\n", scripts)
        self.assertNotIn("traceview", scripts, "it was not there")

    def test_record_has_the_hash_of_every_file(self):
        with zipfile.ZipFile(self.build()) as wheel:
            record = list(csv.reader(io.StringIO(wheel.read(f"{INFO}/RECORD").decode())))
            self.assertEqual([row[0] for row in record], wheel.namelist())
            for name, told, size in record[:-1]:
                content = wheel.read(name)
                digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).decode().rstrip("=")
                self.assertEqual((told, int(size)), (f"sha256={digest}", len(content)), name)
            self.assertEqual(record[-1], [f"{INFO}/RECORD", "", ""])

    def test_same_files_make_the_same_bytes(self):
        first = self.build().read_bytes()
        for path in self.programs.iterdir():
            os.utime(path, (1, 1))
        self.assertEqual(self.build().read_bytes(), first)

    def test_refuses_what_needs_a_newer_c_library(self):
        with self.assertRaisesRegex(build_wheel.Refused, r"analyze: needs GLIBC_2.99, newer than manylinux_2_28.*--platform linux_"):
            self.build(self.future(), self.programs)
        self.assertEqual(list(self.output.iterdir()), [], "no half a wheel is left")
        self.build(self.future(), self.programs, platform=f"linux_{MACHINE}")
        self.build(self.future(), self.programs, platform=f"manylinux_2_99_{MACHINE}")
        with self.assertRaisesRegex(build_wheel.Refused, r"libtraceinject.so: needs GLIBC_2"):
            self.build(platform=f"manylinux_2_1_{MACHINE}")

    def test_refuses_what_needs_other_libraries(self):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.place))
        compile_file("int part(void) { return 2; }", folder / "libpart.so.1", "-shared", "-fPIC", "-Wl,-soname,libpart.so.1")
        compile_file("int part(void); int whole(void) { return part(); }", folder / "analyze", "-shared", "-fPIC",
                     str(folder / "libpart.so.1"))
        self.build(folder, self.programs)  # with the library beside it
        with self.assertRaisesRegex(build_wheel.Refused, "needs libpart.so.1, which not every machine"):
            self.build(folder / "analyze", self.programs)

    def test_refuses_what_is_not_there(self):
        with self.assertRaisesRegex(build_wheel.Refused, "libtraceinject.so is not in"):
            self.build(self.programs / "analyze")
        with self.assertRaisesRegex(build_wheel.Refused, "no such file"):
            self.build(self.place / "nowhere")


if __name__ == "__main__":
    unittest.main(verbosity=2)
