#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""rank_verdicts.py on made-up verdicts: it must pass what is right, fail what is not, and say why. Needs no GPU and no PyTorch."""

import json
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import rank_verdicts

OPTIONS = types.SimpleNamespace(share=5, tolerance=10)
TRUTH = {"finding": "straggler", "culprit": 1, "step_ms_off": 20.0, "step_ms_on": 40.0}
# Plays analyze: the verdict lies in the folder that it is asked about.
ANALYZE = """#!/usr/bin/env python3
import pathlib, sys
print(pathlib.Path(sys.argv[1], "report.json").read_text())
"""


def verdict(label="straggler", place="rank 1", saved_ms=20):
    return {"label": label, "place": place, "saved_ns": str(saved_ms * 10**6), "confidence": 0.9}


def judged(found, **truth):
    row = rank_verdicts.judge(OPTIONS, "a cause", TRUTH | truth, found)
    return row["faults"], row["weak"]


class Judge(unittest.TestCase):
    def test_what_is_right_passes(self):
        self.assertEqual(judged(verdict()), ([], False))
        self.assertEqual(judged(verdict("slow_link", ""), finding="slow_transport", culprit=None), ([], False))

    def test_each_fault_is_told(self):
        self.assertEqual(judged(verdict("comm_exposed")), (["wrong label"], False))
        self.assertEqual(judged({"label": "inconclusive"}), (["wrong label"], False))
        self.assertEqual(judged(verdict(place="rank 0"))[0], ["wrong rank: 1 expected"])
        self.assertEqual(judged(verdict(saved_ms=23))[0], ["saving off by more than 10 % of the measured difference"])
        self.assertEqual(judged(verdict(), error="exit code 1")[0], ["no truth: exit code 1"])

    def test_weak_plant_proves_nothing(self):
        self.assertEqual(judged(verdict("compute_bound"), step_ms_off=39.0), ([], True))

    def test_control_has_no_verdict_between_ranks(self):
        for label in ("compute_bound", "comm_exposed", "inconclusive"):
            self.assertEqual(judged(verdict(label), finding=None), ([], False))
        self.assertEqual(judged(verdict(), finding=None)[0], ["a verdict where nothing was planted"])


class WholeRun(unittest.TestCase):
    def test_recordings_of_ranks(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "analyze").write_text(ANALYZE)
            (folder / "analyze").chmod(0o755)
            found = {"straggler_gemm": verdict(), "control_ddp": verdict("compute_bound"), "transport_shm": verdict("comm_exposed")}
            for cause, one in found.items():
                (folder / "recordings" / cause).mkdir(parents=True)
                (folder / "recordings" / cause / "report.json").write_text(json.dumps({"verdict": one}))
            truth = {"straggler_gemm": TRUTH, "transport_shm": TRUTH | {"finding": "slow_transport", "culprit": None}}
            recorded = {cause: {"finding": None} for cause in found} | {"control_fsdp": {"error": "exit code 1"}}
            (folder / "truth.json").write_text(json.dumps({"truth": truth, "recorded": recorded}))
            ended = subprocess.run([sys.executable, "-B", HERE / "rank_verdicts.py", "--out", folder, "--analyze", folder / "analyze"],
                                   capture_output=True, text=True, timeout=60)
            self.assertEqual(ended.returncode, 1, ended.stderr)
            self.assertEqual(ended.stdout.splitlines()[-1], "2 passed, 1 failed, 0 too weak to be judged", ended.stdout)


if __name__ == "__main__":
    unittest.main()
