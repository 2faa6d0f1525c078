#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What harmless.py and others.py make of outcomes: a difference must be found, and a comparison of nothing must be refused. Needs no GPU."""

import contextlib
import importlib.util
import io
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import textwrap
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import checks  # noqa: E402
import harmless  # noqa: E402
import others  # noqa: E402
import outcomes  # noqa: E402

HARMLESS = pathlib.Path(harmless.__file__)


def judged(judge, *arguments):
    """{check: outcome} that a judge adds."""
    with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
        path = pathlib.Path(folder) / "checks.jsonl"
        path.write_text("")
        judge(checks.Checks(path, "test"), *arguments)
        return {row["check"]: row["outcome"] for row in map(json.loads, path.read_text().splitlines())}


class Outcomes(unittest.TestCase):
    @staticmethod
    def outcomes(*rows):
        """(test, outcomes without, outcomes with)"""
        made = outcomes.Outcomes()
        for name, plain, recorded in rows:
            for arm, told in zip(outcomes.ARMS, (plain, recorded)):
                for outcome in told.split():
                    made.add(arm, name, outcome)
        return made

    def test_differences_and_flaky_ones(self):
        made = self.outcomes(("f::same", "passed", "passed"), ("f::differs", "passed passed", "failed failed"), ("f::flaky", "passed", "failed passed"),
                             ("f::fails_in_both", "failed", "failed"), ("f::never_reached", "passed", ""))
        self.assertEqual(made.differing(), ["f::differs"])
        self.assertEqual(made.flaky(), ["f::flaky"])
        self.assertEqual(made.not_compared(), {"f::never_reached"})
        self.assertEqual(len(made.compared()), 4)

    def test_what_both_skip_is_not_compared(self):
        made = self.outcomes(("f::a", "skipped", "skipped"), ("f::b", "skipped", "passed"), ("f::process f.0 end", "ended", "ended"))
        self.assertEqual(made.compared(), {"f::b"})
        self.assertEqual(made.differing(), ["f::b"])

    def test_a_file_that_cannot_be_collected(self):
        made = self.outcomes(("f::a", "passed", "passed"))
        for arm in outcomes.ARMS:
            made.add(arm, "g::process g.0 collection", "error", "ModuleNotFoundError: No module named 'other'")
        found = judged(outcomes.judge, made, 1)
        self.assertEqual(found["g can be run"], "FAIL")
        self.assertEqual(found["tests compared"], "PASS")

    def test_end_of_a_process_is_an_outcome(self):
        made = self.outcomes(("f::a", "passed", "passed"), ("f::process f.0 end", "ended", "signal SIGSEGV"))
        self.assertEqual(judged(outcomes.judge, made, 1)["outcomes that differ"], "FAIL")

    def test_nothing_proves_nothing(self):
        self.assertEqual(set(judged(outcomes.judge, self.outcomes(), 1).values()), {"FAIL", "PASS"})
        self.assertEqual(judged(outcomes.judge, self.outcomes(), 1)["tests compared"], "FAIL")
        made = self.outcomes(*((f"f::{number}", "passed", "passed") for number in range(10)))
        self.assertEqual(set(judged(outcomes.judge, made, 10).values()), {"PASS"})
        self.assertEqual(judged(outcomes.judge, made, 11)["tests compared"], "FAIL")
        failing = self.outcomes(*((f"f::{number}", "failed", "failed") for number in range(10)))
        self.assertEqual(judged(outcomes.judge, failing, 10)["tests that pass without the library"], "FAIL")

    def test_library_has_to_be_in_one_arm_alone_and_to_record(self):
        def told(plain, recorded, rows):
            return list(judged(outcomes.judge_library, {"plain": plain, "recorded": recorded}, rows, {"kernel": 5}).values())
        self.assertEqual(told([False], [True, True], {"kernel": 5}), ["PASS", "PASS"])
        self.assertEqual(told([False], [True, False], {"kernel": 5}), ["FAIL", "PASS"])
        self.assertEqual(told([True], [True], {"kernel": 4}), ["FAIL", "FAIL"])
        self.assertEqual(told([], [], {}), ["FAIL", "FAIL"])

    def test_selections(self):
        self.assertEqual(harmless.parse_selection("test_optim.py"), ("test_optim.py", 700, "not large_tensor"))
        self.assertEqual(harmless.parse_selection("distributed/test_x.py:7=not slow"), ("distributed/test_x.py", 7, "not slow"))
        self.assertEqual(harmless.parse_shard("2/3"), (2, 3))
        self.assertRaises(ValueError, harmless.parse_shard, "3/2")


TESTS = """
    import os, pathlib

    RECORDED = "libtraceinject" in os.environ.get("LD_PRELOAD", "")

    def test_crashes():
        if RECORDED:
            os.abort()

    def test_same():
        pass

    def test_fails():
        assert not RECORDED, "not alone"

    def test_flaky():
        seen = pathlib.Path(__file__).with_name("seen")
        if RECORDED and not seen.exists():
            seen.write_text("")
            assert False

    def test_fails_always():
        assert False
"""
CRASH_AT_END = """
    import atexit, os

    if "libtraceinject" in os.environ.get("LD_PRELOAD", ""):
        atexit.register(os.abort)

    def test_same():
        pass
"""


@unittest.skipUnless(importlib.util.find_spec("pytest"), "this Python has no pytest")
class Runs(unittest.TestCase):
    """Of made-up tests, with a made-up PyTorch and with a library that does nothing."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp())
        self.addCleanup(shutil.rmtree, self.folder)
        (self.folder / "checkout" / "test").mkdir(parents=True)
        torch = self.folder / "python" / "torch"
        (torch / "utils" / "data").mkdir(parents=True)
        (torch / "__init__.py").write_text("from . import cuda\n__version__ = '0'\n")
        (torch / "cuda.py").write_text("def is_available():\n    return False\n")
        for package in ("utils", "utils/data"):
            (torch / package / "__init__.py").write_text("")
        subprocess.run(["cc", "-shared", "-x", "c", "/dev/null", "-o", self.folder / "libtraceinject.so"], check=True)

    def run_on(self, tests, *arguments):
        (self.folder / "checkout" / "test" / "test_made_up.py").write_text(textwrap.dedent(tests))
        ended = subprocess.run([sys.executable, HARMLESS, "check", "--library", self.folder / "libtraceinject.so", "--checkout", self.folder / "checkout",
                                "--out", self.folder / "out", "--select", "test_made_up.py", "--shards", "1", "--jobs", "2",
                                "--pythonpath", self.folder / "python", *arguments], capture_output=True, text=True, check=False)
        results = json.loads((self.folder / "out" / "outcomes.json").read_text())
        results["checks"] = {row["check"]: row["outcome"] for row in json.loads((self.folder / "out" / "results.json").read_text())["checks"]}
        return ended, results

    def test_planted_differences_are_found(self):
        ended, results = self.run_on(TESTS, "--least", "5")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        found = {row["id"].split("::")[1]: row for row in results["differing"]}
        self.assertEqual(sorted(found), ["test_crashes", "test_fails"])
        self.assertEqual(found["test_crashes"]["recorded"], ["signal SIGABRT"] * 4)
        self.assertIn("not alone", found["test_fails"]["messages"]["recorded"])
        self.assertEqual([row["id"] for row in results["flaky"]], ["test_made_up.py::test_flaky"])
        self.assertEqual(results["compared"], 5)
        self.assertEqual(results["checks"]["outcomes that differ"], "FAIL")
        self.assertEqual(results["checks"]["library in the processes"], "PASS")

    def test_crash_after_the_last_test_is_found(self):
        ended, results = self.run_on(CRASH_AT_END, "--least", "1")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual([row["recorded"] for row in results["differing"]], [["signal SIGABRT"] * 4])

    def test_a_file_that_lacks_others_of_the_checkout_is_told(self):
        ended, results = self.run_on("import not_in_the_checkout\n", "--least", "0")
        self.assertEqual(ended.returncode, 1, ended.stdout + ended.stderr)
        self.assertEqual(results["checks"]["test_made_up.py can be run"], "FAIL")
        self.assertIn("No module named 'not_in_the_checkout'", ended.stdout)

    def test_equal_outcomes_pass_if_there_are_enough(self):
        same = "def test_same():\n    pass\n"
        ended, _ = self.run_on(same, "--least", "1")
        self.assertEqual(ended.returncode, 0, ended.stdout + ended.stderr)
        for lacking in (["--least", "2"], ["--least", "1", "--recorded", "kernel=1"]):
            ended, _ = self.run_on(same, *lacking)
            self.assertEqual(ended.returncode, 1, lacking)


class Others(unittest.TestCase):
    def shown(self, code=0, stdout="step 1 took 2.5 ms", stderr="", kept=None):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "stdout").write_text(stdout)
            (folder / "stderr").write_text(stderr)
            usual = {"steps": ["a", "b"], "parameters": ["c"], "random": {"python": "d"}, "compiled": {"frames": {"ok": 2}}, "peak_bytes": 7}
            (folder / "result.json").write_text(json.dumps({**usual, **(kept or {})}))
            return others.Shown(folder, code)

    def judged(self, plain, recorded, rows=5, again=None, name="p"):
        return judged(others.judge, name, plain, recorded, rows, lambda: [again or plain])

    def test_the_same_passes_and_anything_else_fails(self):
        plain = self.shown()
        self.assertEqual(self.judged(plain, self.shown(stdout="step 1 took 13.25 ms")), {"p: identical": "PASS", "p: recorded": "PASS"})
        for other in (self.shown(code=1), self.shown(stdout="step 1 failed"), self.shown(stderr="a warning"), self.shown(kept={"steps": ["a", "x"]}),
                      self.shown(kept={"parameters": ["x"]}), self.shown(kept={"random": {"python": "x"}}), self.shown(kept={"peak_bytes": 8}),
                      self.shown(kept={"compiled": {"frames": {"ok": 3}}}), self.shown(stdout="loss 0x1.8p+0")):
            self.assertEqual(self.judged(plain, other)["p: identical"], "FAIL")
        self.assertEqual(self.judged(plain, plain, rows=0)["p: recorded"], "FAIL")

    def test_losses_are_compared_exactly(self):
        plain, other = self.shown(stdout="loss 0x1.8p+0"), self.shown(stdout="loss 0x1.9p+0")
        self.assertEqual(self.judged(plain, other)["p: identical"], "FAIL")

    def test_what_differs_without_the_library_too_does_not_count(self):
        plain, other = self.shown(), self.shown(kept={"peak_bytes": 8})
        self.assertEqual(self.judged(plain, other, again=other)["p: identical"], "PASS")
        other = self.shown(kept={"steps": ["x"]})
        self.assertEqual(self.judged(plain, other, again=other)["p"], "SKIP")

    def test_a_program_that_did_nothing_is_not_compared(self):
        for plain in (self.shown(code=1), self.shown(kept={"steps": []})):
            self.assertEqual(self.judged(plain, plain), {"p": "SKIP"})
        plain = self.shown(kept={"compiled": {}})
        self.assertEqual(self.judged(plain, plain, name="p compiled")["p compiled: compiled"], "FAIL")


if __name__ == "__main__":
    unittest.main()
