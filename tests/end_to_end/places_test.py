# SPDX-License-Identifier: Apache-2.0
"""A slow line among decoys, planted in a program and named by the verdict and by `analyze code`."""

import json
import os
import pathlib
import subprocess
import sys
import time
import unittest

import harness

PROGRAM = pathlib.Path(__file__).resolve().parent / "places_program.py"
TRACEVIEW = harness.BUILD / "bin" / "traceview"
STEPS = 150


def line_of(kind):
    return next(number for number, line in enumerate(PROGRAM.read_text().split("\n"), 1) if line.endswith(f"# {kind}"))


class Places(harness.TestCase):
    def record(self, kind):
        """What the program says of itself."""
        environment = {**harness.STAND_IN, "TRACEINJECT_FLUSH_MS": "100"}
        ended = self.finish(self.start(command=[sys.executable, str(PROGRAM), kind, str(STEPS)], env=environment))
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        return json.loads(ended.stdout)

    def analyze(self, *arguments):
        ended = subprocess.run([harness.BUILD / "bin" / "analyze", *arguments], cwd=self.folder, capture_output=True, text=True, check=True)
        return ended.stdout

    def planted(self, kind):
        told = self.record(kind)
        verdict = json.loads(self.analyze("report", "run.db", "--format", "json"))["verdict"]
        self.assertEqual(verdict["label"], "host_code")
        line = verdict["code"][0]
        self.assertEqual((line["function"], line["line"]), (kind, line_of(kind)))
        self.assertIn(f"places_program.py:{line_of(kind)} in {kind}", verdict["evidence"][0]["text"])
        # What the GPU still had to do when the line began is no idle time.
        slow_ns = told["slow"] / STEPS * 1e9
        self.assertLess(int(line["ns"]), 1.1 * slow_ns)
        self.assertGreater(int(line["ns"]), 0.6 * slow_ns)
        rows = json.loads(self.analyze("code", "run.db", "--format", "json"))
        rows = rows if isinstance(rows, list) else next(iter(rows.values()))
        self.assertEqual((rows[0]["function"], rows[0]["line"]), (kind, line_of(kind)))
        self.assertIn(f"hottest line: places_program.py:{line_of(kind)} in {kind}: the GPU idles", " ".join(self.analyze("watch", "run.db", "--once").split()))
        return verdict

    def test_a_line_that_computes(self):
        verdict = self.planted("compute")
        self.assertIn("computes", verdict["levers"][0]["change"])

    def test_a_line_that_sleeps(self):
        verdict = self.planted("sleep")
        self.assertIn("sleeps", verdict["levers"][0]["change"])

    def test_decoys_alone_are_no_host_code(self):
        self.record("none")
        self.assertNotEqual(json.loads(self.analyze("report", "run.db", "--format", "json"))["verdict"]["label"], "host_code")

    def test_stacks_are_exported(self):
        self.record("sleep")
        self.analyze("export", "run.db", "-o", "run.speedscope.json")
        profile = json.loads((self.folder / "run.speedscope.json").read_text())
        names = [frame["name"] for frame in profile["shared"]["frames"]]
        self.assertIn("sleep", names)
        for one in profile["profiles"]:
            self.assertEqual(len(one["samples"]), len(one["weights"]))
            self.assertEqual(one["endValue"], sum(one["weights"]))
        self.analyze("export", "run.db", "-o", "run.folded")
        lines = (self.folder / "run.folded").read_text().splitlines()
        self.assertTrue(any(f"sleep (places_program.py:{line_of('sleep')})" in line for line in lines))

    @unittest.skipUnless(TRACEVIEW.exists(), "built without traceview")
    def test_the_line_is_opened_in_the_editor(self):
        self.record("sleep")
        said = self.folder / "said"
        editor = self.folder / "code"
        editor.write_text(f"#!/bin/sh\nprintf '%s\\n' \"$@\" > '{said}.new'\nmv '{said}.new' '{said}'\n")
        editor.chmod(0o700)
        (self.folder / "steps.txt").write_text('click "tab: Code"\nclick "code row 0"\nopen-editor\ndump-state state.json\n')
        subprocess.run([TRACEVIEW, "run.db", "--script", "steps.txt"], cwd=self.folder, check=True, capture_output=True,
                       env={**os.environ, "VISUAL": str(editor)})
        state = json.loads((self.folder / "state.json").read_text())
        self.assertEqual(state["selection"]["row"], "idle")
        self.assertTrue(any(row["row"].endswith(": Python") for row in state["rows"]))
        for _ in range(1000):
            if said.exists():
                break
            time.sleep(0.01)
        self.assertEqual(said.read_text().splitlines(), ["--goto", f"{PROGRAM}:{line_of('sleep')}"])


if __name__ == "__main__":
    harness.main()
