# SPDX-License-Identifier: Apache-2.0
"""Recordings of one architecture are read on the other, with the same result. TRACEINJECT_BUILD and TRACEINJECT_EMULATOR: as in
harness.py; TRACEINJECT_NATIVE: a build folder of this machine's architecture (default: build/release)."""

import json
import math
import os
import pathlib
import subprocess
import unittest

import harness

NATIVE = pathlib.Path(os.environ.get("TRACEINJECT_NATIVE", harness.ROOT / "build" / "release"))
SHIPPED = ("slow_numpy_h100.db.zst", "transformer_h200.db.zst", "straggler_gemm_h200")


@unittest.skipUnless(harness.EMULATOR, "TRACEINJECT_EMULATOR is not set")
class OtherArchitecture(harness.TestCase):
    def report(self, *program, recording):
        ended = subprocess.run([*program, recording, "--format", "json", "--no-progress"], capture_output=True, text=True, check=False)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        return json.loads(ended.stdout)

    def reports_are_the_same(self, recording):
        if not (harness.BUILD / "bin" / "analyze").exists():
            self.skipTest("analyze is not built for the other architecture: tests/run.sh --aarch64")
        emulated = self.report(*harness.EMULATOR, harness.BUILD / "bin" / "analyze", recording=recording)
        self.assert_close(emulated, self.report(NATIVE / "bin" / "analyze", recording=recording), "report")

    def assert_close(self, a, b, where):
        """The same but for the last digits of numbers: one architecture multiplies and adds in a step, the other in two."""
        self.assertEqual(type(a), type(b), where)
        if isinstance(a, dict):
            self.assertEqual(list(a), list(b), where)
            for name in a:
                self.assert_close(a[name], b[name], f"{where}.{name}")
        elif isinstance(a, list):
            self.assertEqual(len(a), len(b), where)
            for i, (one, other) in enumerate(zip(a, b)):
                self.assert_close(one, other, f"{where}[{i}]")
        elif isinstance(a, float):
            self.assertTrue(math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-12), f"{where}: {a} and {b}")
        else:
            self.assertEqual(a, b, where)

    def test_recordings_made_here_are_read_there(self):
        for name in SHIPPED:
            with self.subTest(recording=name):
                self.reports_are_the_same(harness.ROOT / "samples" / "recordings" / name)

    def test_recordings_made_there_are_read_here(self):
        ended = self.play("--steps", "20", *harness.EVERYTHING)
        self.assertEqual(ended.code, 0, ended.stderr)
        self.assertEqual(len(self.open().kernels()), len(self.truth(ended).kernels()))
        self.assertIn("label", self.report(NATIVE / "bin" / "analyze", recording=self.folder / "run.db")["verdict"])
        self.reports_are_the_same(self.folder / "run.db")


if __name__ == "__main__":
    unittest.main()
