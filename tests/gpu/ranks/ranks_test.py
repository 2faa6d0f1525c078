#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""ranks.py on made-up jobs: it must pass what is right, fail what is not, and say why. Needs no GPU and no PyTorch."""

import json
import os
import pathlib
import subprocess
import sys
import tempfile
import types
import unittest

HERE = pathlib.Path(__file__).parent
sys.path.insert(0, str(HERE))
import ranks

OPTIONS = types.SimpleNamespace(share=5, tolerance=10)
TRUTH = {"finding": "straggler", "reason": "host", "culprit": 1, "step_ms_off": 20.0, "step_ms_on": 40.0}

# Plays the ranks.py of the samples: the same options, made-up step times, and a recording where it is told to write one. A job over
# sockets stands for ever, and the one that shares parameters fails.
WORKLOAD = '''
import json, os, pathlib, sys, time
words = sys.argv[1:]
on = 40.0
if "NCCL_SHM_DISABLE" in os.environ:
    time.sleep(60)
if "fsdp" in words:
    sys.exit(3)
if "communication" in words:
    on = 60.0 if "NCCL_P2P_DISABLE" in os.environ else 20.0
for cause in [words[i + 1] for i, word in enumerate(words) if word == "--cause"]:
    if os.environ["RANK"] == "0":
        print("a warning of a library")
        print(json.dumps({"cause": cause, "step_ms_on": on, "step_ms_off": 20.0 if "--schedule" not in words else None,
                          "finding": "straggler" if cause.startswith("straggler") else None, "reason": None,
                          "culprit": 1 if cause.startswith("straggler") else None}))
if "TRACEINJECT_OUTPUT" in os.environ:
    pathlib.Path(os.environ["TRACEINJECT_OUTPUT"]).with_suffix(f".rank{os.environ['RANK']}.db").write_text("")
'''
# Plays analyze: what it finds lies beside it.
ANALYZE = '''#!/usr/bin/env python3
import json, pathlib, sys
findings = json.loads(pathlib.Path(__file__).with_name("findings.json").read_text())
print(json.dumps({"ranks": [{"rank": 0}, {"rank": 1}], "findings": findings[pathlib.Path(sys.argv[2]).name]}))
'''


def finding(name="straggler", saved_ms=20, rows=(1,), reason="host"):
    return {"name": name, "saved_ns": str(saved_ms * 10**6), "rows": list(rows), "reason": reason}


def judged(findings, truth=None):
    report = {"ranks": [{"rank": 0}, {"rank": 1}], "findings": findings}
    row = ranks.judge(OPTIONS, "a cause", TRUTH | (truth or {}), report)
    return row["faults"], row["weak"]


class Judge(unittest.TestCase):
    def test_what_is_right_passes(self):
        self.assertEqual(judged([finding(), finding("imbalance")]), ([], False))

    def test_saving_may_be_off_by_the_tolerance_of_the_difference_only(self):
        for saved_ms, passes in ((22, True), (23, False), (18, True), (17, False)):
            self.assertEqual(judged([finding(saved_ms=saved_ms)])[0] == [], passes, saved_ms)

    def test_each_fault_is_told(self):
        self.assertEqual(judged([]), (["nothing is found"], False))
        self.assertEqual(judged([finding("imbalance"), finding()]), (["wrong finding"], False))
        self.assertEqual(judged([finding(rows=(0,))])[0], ["wrong rank: 1 expected"])
        self.assertEqual(judged([finding(rows=(0, 1))])[0], ["wrong rank: 1 expected"])
        self.assertEqual(judged([finding(reason="more_work")])[0], ["wrong reason: host expected"])
        self.assertEqual(judged([{"name": "straggler", "rows": [1], "reason": "host"}])[0], ["no saving is told"])
        self.assertEqual(judged([finding()], {"error": "exit codes [1, 0]"})[0], ["no truth: exit codes [1, 0]"])

    def test_weak_plant_proves_nothing(self):
        self.assertEqual(judged([], {"step_ms_off": 39.0}), ([], True))
        self.assertEqual(judged([finding(saved_ms=1)], {"step_ms_off": 39.0}), ([], True))
        self.assertEqual(judged([finding("imbalance")], {"step_ms_off": 39.0}), (["too weak, and something else is found"], True))

    def test_control_finds_nothing(self):
        control = {"finding": None, "step_ms_off": None}
        self.assertEqual(judged([], control), ([], False))
        self.assertEqual(judged([finding()], control), (["something is found where nothing was planted"], False))


class WholeRun(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        (self.folder / "workload.py").write_text(WORKLOAD)
        (self.folder / "torch.py").write_text("")  # what the parents of the forked ranks import
        (self.folder / "analyze").write_text(ANALYZE)
        (self.folder / "analyze").chmod(0o755)

    def run_ranks(self, findings, *words):
        (self.folder / "findings.json").write_text(json.dumps(findings))
        command = [sys.executable, "-B", HERE / "ranks.py", "--out", self.folder / "out", "--analyze", self.folder / "analyze", *words]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=100, env=os.environ | {"PYTHONPATH": str(self.folder)})
        document = json.loads((self.folder / "out" / "results.json").read_text())
        return ended.returncode, ended.stdout.splitlines()[-1], {row["cause"]: row for row in document["causes"]}

    def record(self, findings, *words):
        return self.run_ranks(findings, "--library", "/nowhere/libtraceinject.so", "--workload", self.folder / "workload.py", *words)

    def test_every_kind_of_cause_and_again(self):
        findings = {"straggler_gemm": [finding()], "transport_shm": [finding("slow_transport", 40, ())], "control_ddp": []}
        code, last, rows = self.record(findings, *(word for cause in findings for word in ("--cause", cause)))
        self.assertEqual((code, last), (0, "3 passed, 0 failed, 0 too weak to be judged"), rows)
        self.assertEqual([rows[cause]["true_ms"] for cause in findings], [20, 40, None])
        code, last, rows = self.run_ranks(findings | {"control_ddp": [finding()]}, "--rescore")
        self.assertEqual((code, last), (1, "2 passed, 1 failed, 0 too weak to be judged"), rows)

    def test_a_job_that_fails_or_stands_fails_alone(self):
        findings = {"transport_sockets": [], "transport_shm": [finding("slow_transport", 40, ())], "control_fsdp": []}
        code, _, rows = self.record(findings, "--timeout", "4", *(word for cause in findings for word in ("--cause", cause)))
        self.assertEqual(code, 1)
        self.assertEqual(rows["transport_shm"]["faults"], [])
        self.assertIn("no answer within", rows["transport_sockets"]["faults"][0])
        self.assertIn("exit codes [3, 3]", rows["control_fsdp"]["faults"][0])


if __name__ == "__main__":
    unittest.main()
