# SPDX-License-Identifier: Apache-2.0
"""The wheel of the built tree, installed by pip into a fresh environment of each Python that is found: it records, reports, draws, and
reads there.

TRACEINJECT_WHEEL: another wheel, which is installed in all Pythons; that of the built tree is in the oldest and the newest.
"""

import json
import os
import pathlib
import platform
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import harness

sys.path.insert(0, str(harness.ROOT / "packaging" / "python"))
import build_wheel  # noqa: E402

VERSION = re.search(r"project\(traceinject VERSION ([0-9.]+)", (harness.ROOT / "CMakeLists.txt").read_text()).group(1)
TRAIN = harness.FAKE_GPU / "cuda13" / "fake_train"
STEPS = 12
# What a program of a user does with a recording.
READ = """
import json, sys
import traceinject
with traceinject.open("run.db") as run:
    kernels = run.kernels()
    print(json.dumps({"kernels": len(kernels), "ns": sum(row.dur_ns for row in kernels), "label": run.verdict().label,
                      "sql": run.sql("SELECT count(*) AS n FROM memcpy").to_dicts()[0]["n"], "copies": len(run.memcpys()),
                      "preload": traceinject.preload_path(), "file": traceinject.__file__}))
"""


def run(*command, **how):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=120, check=False, **how)


def pythons():
    """Those of this machine that the package is for, each version once, and that can make environments with pip."""
    found = {}
    for path in [pathlib.Path("/usr/bin/python3"), *sorted(pathlib.Path.home().glob(".pyenv/versions/*/bin/python"))]:
        asked = run(path, "-c", "import sys, venv, ensurepip; print(*sys.version_info[:2])") if path.exists() else None
        if asked and asked.returncode == 0 and tuple(map(int, asked.stdout.split())) >= (3, 8):
            found.setdefault(asked.stdout.strip().replace(" ", "."), path)
    return found


def make_wheel(output):
    """For the machines that its name promises, or, of a tree that was built for this one, for machines like it."""
    places = [place for place in (harness.BUILD / "portable", harness.BUILD / "bin" / "analyze", harness.LIBRARY,
                                  harness.BUILD / "bin" / "traceview") if place.exists()]
    manual = harness.BUILD / "share" / "man"
    try:
        return build_wheel.build(places, VERSION, output, manual)
    except build_wheel.Refused:
        return build_wheel.build(places, VERSION, output, manual, f"linux_{platform.machine()}")


@harness.without_sanitizer("its runtime would have to be the first library of Python")
@unittest.skipUnless(shutil.which("readelf"), "no readelf here: apt install binutils")
class Wheel(harness.AnalyzeTestCase):
    @classmethod
    def setUpClass(cls):
        if not cls.analyze.exists() or not harness.LIBRARY.exists():
            raise unittest.SkipTest("the programs are not built")
        cls.pythons = pythons()
        if not cls.pythons:
            raise unittest.SkipTest("no Python of 3.8 or newer with venv and ensurepip here: apt install python3-venv")
        cls.place = pathlib.Path(tempfile.mkdtemp(prefix="traceinject-wheel-"))
        cls.addClassCleanup(shutil.rmtree, cls.place, ignore_errors=True)
        cls.wheel = os.environ.get("TRACEINJECT_WHEEL")
        if cls.wheel:
            cls.wheel = pathlib.Path(cls.wheel).resolve()
        else:
            cls.wheel = make_wheel(cls.place)
            by_version = sorted(cls.pythons, key=lambda name: tuple(map(int, name.split("."))))
            cls.pythons = {name: cls.pythons[name] for name in {by_version[0], by_version[-1]}}

    def install(self, name, python):
        """The folder of programs of a fresh environment."""
        home = self.folder / f"venv-{name}"
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "PIP_DISABLE_PIP_VERSION_CHECK": "1"}
        wanted = ["install", "--no-index", "--no-compile", self.wheel]
        # Where the Python has a pip, that one: another takes seconds to be unpacked.
        made = run(python, "-m", "venv", "--without-pip", home, env=environment)
        installed = run(python, "-m", "pip", "--python", home / "bin" / "python", *wanted, env=environment)
        if installed.returncode != 0:
            made = run(python, "-m", "venv", "--clear", home, env=environment)
            installed = run(home / "bin" / "python", "-m", "pip", *wanted, env=environment)
        self.assertEqual((made.returncode, installed.returncode), (0, 0), made.stdout + made.stderr + installed.stdout + installed.stderr)
        return home / "bin"

    def ran(self, *command, code=0):
        ended = self.finish(self.start(command=[str(word) for word in command], preload=False))
        self.assertEqual(ended.code, code, ended.stderr)
        return ended

    def check(self, programs):
        """What users do."""
        recorded = self.ran(programs / "traceinject", "record", "--", TRAIN, "--steps", STEPS)
        self.assertEqual(recorded.stdout, "trained\n")
        self.assertIn("verdict: ", recorded.stderr)
        truth = harness.Truth.read(next(self.folder.glob("truth.[0-9]*")))
        for words in (["analyze", "run.db"], ["traceinject", "run.db"], ["python", "-m", "traceinject", "report", "run.db"]):
            self.assertIn("verdict: ", self.ran(programs / words[0], *words[1:]).stdout)
        read = json.loads(self.ran(programs / "python", "-c", READ).stdout)
        self.assertEqual(read["kernels"], len(truth.kernels()))
        self.assertEqual(read["ns"], sum(kernel.end - kernel.start for kernel in truth.kernels()))
        self.assertEqual((read["sql"], read["copies"]), (len(truth.memcpys()), len(truth.memcpys())))
        self.assertIn(programs.parent.resolve(), pathlib.Path(read["preload"]).parents)
        self.assertEqual(self.ran(programs / "traceinject", "preload").stdout.strip(), read["preload"])
        self.assertEqual(self.ran(programs / "analyze", "preload").stdout.strip(), read["preload"])
        self.assertTrue((programs.parent / "share" / "man" / "man1" / "analyze.1").exists(), "where man looks")
        if (programs / "traceview").exists():
            self.ran(programs / "traceinject", "view", "run.db", "--check")
            self.ran(programs / "traceview", "run.db", "--screenshot", "picture.png")
            self.assertTrue((self.folder / "picture.png").read_bytes().startswith(b"\x89PNG"))

    def check_endings(self, programs):
        """Exit codes are those of the program, and signals reach it."""
        self.ran(programs / "traceinject", "record", "--", "sh", "-c", "exit 7", code=7)
        waiting = self.start(command=[str(programs / "traceinject"), "record", "--no-report", "--", "sh", "-c", "echo up; exec sleep 60"],
                             preload=False)
        self.assertEqual(waiting.stdout.readline(), "up\n")
        waiting.terminate()
        self.assertEqual(self.finish(waiting).code, 128 + 15)

    def test_every_python(self):
        for name, python in self.pythons.items():
            with self.subTest(python=name):
                programs = self.install(name, python)
                self.check(programs)
                if python == next(iter(self.pythons.values())):
                    self.check_endings(programs)
                for path in [*self.folder.glob("run.db*"), *self.folder.glob("truth.[0-9]*"), *self.folder.glob("*.png")]:
                    path.unlink()


if __name__ == "__main__":
    harness.main()
