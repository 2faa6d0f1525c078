#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""verdict.py on made-up programs: it must pass what is right, fail what is not, and say why. Needs no GPU and no PyTorch."""

import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tempfile
import types
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import model_error
import verdict
import waterfall
import host_load  # where verdict.py finds it

HERE = pathlib.Path(__file__).parent
SCHEMA = (HERE.parents[2] / "schemas" / "run_db.sql").read_text()
OPTIONS = types.SimpleNamespace(share=20, tolerance=15)

# Plays bottlenecks.py: the same options, made-up step times, and a recording where it is told to write one.
WORKLOAD = '''
import json, os, pathlib, sqlite3, sys, time
words = sys.argv[1:]
causes = [words[i + 1] for i, word in enumerate(words) if word == "--cause"]
for cause in causes:
    if cause == "gc":
        time.sleep(60)
    if cause == "checkpoint":
        sys.exit(7)
    print("a warning of a library")
    print(json.dumps({"cause": cause, "step_ms_off": 20.0 if "off,on" in words else None, "step_ms_on": 40.0,
                      "optimizer_steps": 70, "total_batches": 70, "data_wait_ms": 100.0}))
if "TRACEINJECT_OUTPUT" in os.environ:
    sqlite3.connect(os.environ["TRACEINJECT_OUTPUT"]).executescript(pathlib.Path(__file__).with_name("schema.sql").read_text())
'''
# Plays analyze: the verdict that lies beside it.
ANALYZE = '''#!/usr/bin/env python3
import json, pathlib, sys
verdicts = json.loads(pathlib.Path(__file__).with_name("verdicts.json").read_text())
cause = pathlib.Path(sys.argv[1]).stem
print(json.dumps({"verdict": verdicts[cause]} if verdicts.get(cause) else {}) if "json" in sys.argv else "text")
'''


def judged(cause="sync", label="sync_bound", saved_ms=20, off=20.0, on=40.0, expected=("sync_bound",)):
    truth = {"step_ms_off": off, "step_ms_on": on}
    row = verdict.judge(OPTIONS, cause, truth, {"label": label, "saved_ns": str(saved_ms * 10**6)}, list(expected))
    verdict.hold_against_truth(OPTIONS, row)
    return row["faults"]


class Judge(unittest.TestCase):
    def test_right_label_and_saving_pass(self):
        self.assertEqual(judged(), [])

    def test_saving_may_be_off_by_the_tolerance_only(self):
        for saved_ms, passes in ((26, True), (27, False), (14, True), (13, False)):
            self.assertEqual(judged(saved_ms=saved_ms) == [], passes, saved_ms)

    def test_wrong_label_fails(self):
        self.assertEqual(judged(label="allocator"), ["wrong label"])

    def test_weak_plant_fails_only_if_something_else_is_blamed(self):
        for label, faults in (("sync_bound", []), ("compute_bound", []), ("inconclusive", []), ("allocator", ["wrong label"])):
            self.assertEqual(judged(label=label, off=35.0, saved_ms=20), faults, label)

    def test_missing_truth_fails(self):
        row = verdict.judge(OPTIONS, "sync", {"error": "exit code 1"}, {"label": "sync_bound", "saved_ns": "1"}, ["sync_bound"])
        self.assertEqual(row["faults"], ["no truth: exit code 1"])

    def test_control_needs_no_truth_and_blames_nothing(self):
        self.assertEqual(judged("conv", "compute_bound", 0, None, 30.0, ["compute_bound"]), [])
        self.assertEqual(judged("conv", "launch_bound", 9, None, 30.0, ["compute_bound"]), ["wrong label"])

    def test_rows_of_repeats_are_judged_as_one(self):
        truth = {"step_ms_off": 20.0, "step_ms_on": 40.0}
        rows = [verdict.judge(OPTIONS, "launch", truth, {"label": "launch_bound", "saved_ns": str(saved_ms * 10**6)}, ["launch_bound"])
                for saved_ms in (5, 21, 22)]
        row = verdict.median_of(rows)
        verdict.hold_against_truth(OPTIONS, row)
        self.assertEqual((row["predicted_ms"], row["error_percent"], row["faults"]), (21.0, 2.5, []))


class Coverage(unittest.TestCase):
    def row(self, low, high, **changes):
        truth = {"step_ms_off": 20.0, "step_ms_on": 40.0}
        said = {"label": "sync_bound", "saved_ns": "20000000", "saved_low_ns": str(low * 10**6), "saved_high_ns": str(high * 10**6)} | changes
        row = verdict.judge(OPTIONS, "sync", truth, said, ["sync_bound"])
        verdict.hold_against_truth(OPTIONS, row)
        return row

    def test_measured_savings_inside_of_stated_intervals_are_counted(self):
        self.assertEqual(verdict.coverage([self.row(18, 22), self.row(21, 24), self.row(10, 19), self.row(20, 20)]), (2, 4))

    def test_wrong_labels_and_missing_intervals_do_not_count(self):
        self.assertEqual(verdict.coverage([self.row(18, 22, label="allocator"), self.row(18, 22, saved_low_ns=None)]), (0, 0))


class LoadedHost(unittest.TestCase):
    """A cause of 30 ms, on a host whose load costs some, too."""

    def row(self, label, load_ms, saved_ms=30, cause="sync", cause_ms=30):
        expected = ["sync_bound"] if cause_ms else ["compute_bound"]
        truth = {"step_ms_rest": 40.0, "step_ms_off": 40.0 + load_ms if cause_ms else None, "step_ms_on": 40.0 + load_ms + cause_ms}
        row = verdict.judge(OPTIONS, cause, truth, {"label": label, "saved_ns": str(saved_ms * 10**6)}, expected)
        verdict.hold_against_truth(OPTIONS, row)
        return row

    def test_the_cause_is_right_whatever_the_load_costs(self):
        for load_ms in (0, 20, 100):
            self.assertEqual(self.row("sync_bound", load_ms)["faults"], [], load_ms)

    def test_the_host_is_blamed_where_the_load_costs_as_much(self):
        self.assertEqual(self.row("host_code", 20)["faults"], ["wrong label"])
        blamed = self.row("host_code", 40, saved_ms=90)
        self.assertEqual(blamed["faults"], [])
        self.assertIsNone(blamed["error_percent"])
        self.assertEqual(self.row("allocator", 40)["faults"], ["wrong label"])

    def test_so_it_is_in_a_control(self):
        self.assertEqual(self.row("launch_bound", 4, cause="conv", cause_ms=0)["faults"], ["wrong label"])
        self.assertEqual(self.row("launch_bound", 20, cause="conv", cause_ms=0)["faults"], [])

    def test_what_the_host_costs_is_between_the_cause_and_that_with_the_load(self):
        for saved_ms, passes in ((14, False), (20, True), (60, True), (80, True), (95, False)):
            truth = {"step_ms_rest": 10.0, "step_ms_off": 60.0, "step_ms_on": 90.0}
            row = verdict.judge(OPTIONS, "launch", truth, {"label": "launch_bound", "saved_ns": str(saved_ms * 10**6)}, ["launch_bound"])
            verdict.hold_against_truth(OPTIONS, row)
            self.assertEqual(row["faults"] == [], passes, (saved_ms, row["error_percent"]))

    def test_what_recording_adds_is_no_part_of_the_truth(self):
        truth = {"step_ms_rest": 40.0, "step_ms_off": 40.0, "step_ms_on": 70.0}
        row = verdict.judge(OPTIONS, "sync", truth, {"label": "sync_bound", "saved_ns": "20000000"}, ["sync_bound"])
        row |= {"recording_on_ms": 6.0, "recording_off_ms": 1.0}
        verdict.hold_against_truth(OPTIONS, row)
        self.assertEqual(row["true_ms"], 25.0)

    def test_the_block_with_the_cause_is_judged(self):
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.db"
            database = sqlite3.connect(path)
            database.executescript(SCHEMA)
            database.execute("INSERT INTO meta VALUES ('base_ns', 1000000)")
            database.execute("INSERT INTO memset VALUES (500, 1, 0, 0, 0, 1, 1, NULL)")
            database.commit()
            database.close()
            blocks = [{"state": state, "start_unix_ns": 2_000_000 + i * 1000, "end_unix_ns": 2_000_900 + i * 1000}
                      for i, state in enumerate(("rest", "off", "on", "off"))]
            self.assertEqual(verdict.block_to_judge(path, {"blocks": blocks}), ["--from", "1001500ns", "--to", "1002400ns"])
            self.assertEqual(verdict.block_to_judge(path, {"blocks": blocks}, "off"), ["--from", "1002500ns", "--to", "1003400ns"])
            self.assertEqual(verdict.block_to_judge(path, {"blocks": blocks[2:3]}), [])
            self.assertEqual(verdict.block_to_judge(path, {}), [])


class HostLoad(unittest.TestCase):
    def test_each_level_has_its_number_of_processes_on_these_processors(self):
        processors = os.sched_getaffinity(0)
        for level, each in host_load.LOADS.items():
            load = host_load.HostLoad(level)
            load.start()
            processes = load.processes
            self.assertEqual(len(processes), round(each * len(processors)), level)
            self.assertLessEqual(set(load.pinned_to), processors)
            self.assertTrue(all(process.poll() is None for process in processes), level)
            load.stop()
            self.assertTrue(all(process.returncode == 0 for process in processes), level)

    def test_two_for_each_processor_are_spread_evenly(self):
        pinned_to = host_load.HostLoad("heavy").pinned_to
        self.assertEqual({processor: pinned_to.count(processor) for processor in pinned_to},
                         {processor: 2 for processor in os.sched_getaffinity(0)})


class ModelError(unittest.TestCase):
    def test_the_source_has_what_the_results_say(self):
        ended = subprocess.run([sys.executable, "-B", HERE / "model_error.py", "--check"], capture_output=True, text=True)
        self.assertEqual(ended.returncode, 0, f"analyzer/verdict/savings/model_error.cc must have these rows:\n{ended.stdout}")

    def test_a_wider_scatter_is_a_wider_interval(self):
        low, high = model_error.middle([1.0, 1.1, 0.9])
        wider = model_error.middle([1.0, 1.3, 0.7])
        self.assertLess(wider[0], low)
        self.assertGreater(wider[1], high)


class Repeats(unittest.TestCase):
    def merged(self, labels, saved_ms):
        rows = []
        for label, saved in zip(labels, saved_ms):
            truth = {"step_ms_off": 20.0, "step_ms_on": 40.0}
            rows.append(verdict.judge(OPTIONS, "sync", truth, {"label": label, "saved_ns": str(saved * 10**6)}, ["sync_bound"]))
        row = verdict.median_of(rows)
        verdict.hold_against_truth(OPTIONS, row)
        return row

    def test_the_median_is_judged(self):
        row = self.merged(["sync_bound"] * 3, [21, 90, 20])
        self.assertEqual((row["predicted_ms"], row["faults"]), (21, []))

    def test_one_wrong_label_fails(self):
        row = self.merged(["sync_bound", "allocator", "sync_bound"], [20, 20, 20])
        self.assertEqual((row["label"], row["faults"]), ("sync_bound, allocator", ["wrong label"]))


class DataParallel(unittest.TestCase):
    """Two ranks; all-reduce kernels run partly beside compute kernels."""

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.out = pathlib.Path(directory.name)
        (self.out / "recordings" / "ddp").mkdir(parents=True)

    def write(self, rank, communication_end):
        path = self.out / "recordings" / "ddp" / f"run.rank{rank:05}.db"
        db = sqlite3.connect(path)
        db.executescript(SCHEMA)
        db.execute("INSERT INTO thread VALUES (1, 1, 100, NULL)")
        db.execute("INSERT INTO stream(id, proc, device, context, stream_id) VALUES (1, 1, 0, 1, 7), (2, 1, 0, 1, 8)")
        db.execute("INSERT INTO nvtx_domain VALUES (1, 1, '')")
        db.execute("INSERT INTO string VALUES (1, 'gemm'), (2, 'ncclDevKernel_AllReduce'), (3, 'step 0'), (4, 'warmup 0')")
        for shape in (1, 2):
            db.execute("INSERT INTO kernel_shape VALUES (?, ?, 1,1,1, 1,1,1, NULL,NULL,NULL, 32, 0, 0, 0)", (shape, shape))
        # Before the steps: communication with nothing beside it, which must not count.
        db.execute("INSERT INTO nvtx VALUES (0, 1000, 1, 1, 1, 4, NULL, NULL, NULL), (1000, 1000, 1, 1, 1, 3, NULL, NULL, NULL)")
        db.execute("INSERT INTO kernel VALUES (0, 900, 2, 2, 1, NULL), (1000, 900, 1, 1, 2, NULL)")
        db.execute("INSERT INTO kernel VALUES (1500, ?, 2, 2, 3, NULL)", (communication_end - 1500,))
        db.commit()
        db.close()

    def test_exposed_share_is_of_the_steps_and_of_the_worst_rank(self):
        self.write(0, 1900)
        self.write(1, 1920)
        self.assertAlmostEqual(verdict.exposed_share(verdict.files_of(self.out, "ddp")[0]), 0)
        self.assertAlmostEqual(verdict.exposed_share(verdict.files_of(self.out, "ddp")[1]), 20 / 920)
        self.assertEqual(verdict.expected_labels(self.out, "ddp"), ["compute_bound"])

    def test_exposed_communication_may_be_named(self):
        self.write(0, 1900)
        self.write(1, 2000)
        self.assertAlmostEqual(verdict.exposed_share(verdict.files_of(self.out, "ddp")[1]), 0.1)
        self.assertEqual(verdict.expected_labels(self.out, "ddp"), ["compute_bound", "comm_exposed"])


class WholeRun(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.folder = pathlib.Path(directory.name)
        (self.folder / "bottlenecks.py").write_text(WORKLOAD)
        (self.folder / "schema.sql").write_text(SCHEMA)
        (self.folder / "torch.py").write_text("")  # what the parent of the forked programs imports
        (self.folder / "analyze").write_text(ANALYZE)
        (self.folder / "analyze").chmod(0o755)

    def run_verdict(self, causes, verdicts, *more, record=True):
        (self.folder / "verdicts.json").write_text(json.dumps(verdicts))
        command = [sys.executable, "-B", HERE / "verdict.py", "--out", self.folder / "out", "--analyze", self.folder / "analyze", *more]
        if record:
            command += ["--library", "/nowhere/libtraceinject.so", "--workload", self.folder / "bottlenecks.py"]
            command += [word for cause in causes for word in ("--cause", cause)]
        environment = os.environ | {"PYTHONPATH": str(self.folder)}
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, env=environment)
        document = json.loads((self.folder / "out" / "verdict.json").read_text())
        rows = {row["cause"]: row["faults"] for row in document["causes"]}
        return ended.returncode, ended.stdout.splitlines()[-1], rows

    def test_repeats_are_judged_together_and_again(self):
        verdicts = {"sync": {"label": "sync_bound", "saved_ns": "20000000"}}
        # One row for the cause; of the waits and marks, which the made-up recordings do not hold, one a repeat.
        expected = (1, "1 passed, 2 failed", {"sync": []})
        self.assertEqual(self.run_verdict(["sync"], verdicts, "--repeats", "2", "--keep"), expected)
        self.assertTrue((self.folder / "out" / "2" / "recordings" / "sync.db").exists())
        self.assertEqual(self.run_verdict([], verdicts, "--rescore", record=False), expected)

    def test_forked_and_separate_programs(self):
        verdicts = {"sync": {"label": "sync_bound", "saved_ns": "20000000"}, "conv": {"label": "compute_bound"}}
        for more in ([], ["--separate"]):
            code, last, rows = self.run_verdict(["sync", "conv"], verdicts, *more)
            self.assertEqual(rows, {"sync": [], "conv": []}, more)
            self.assertFalse((self.folder / "out" / "recordings").exists())
            self.assertIn("| sync | - | 20.00 | 40.00 | 40.00 | 20.00 | 20.00 | - to - | - | +0.0 | sync_bound | sync_bound | PASS |",
                          (self.folder / "out" / "verdict.md").read_text())
            has_marks = "CREATE TABLE data_wait" in SCHEMA  # then the empty recordings lack the waits that the program had
            self.assertEqual((code, last), (1, "2 passed, 2 failed") if has_marks else (0, "2 passed, 0 failed"))

    def test_each_failure_is_told(self):
        code, last, rows = self.run_verdict(["sync", "allocator", "launch"], {
            "sync": {"label": "allocator", "saved_ns": 1}, "allocator": {"label": "allocator", "saved_ns": "36000000"}})
        self.assertEqual(code, 1)
        self.assertTrue(last.startswith("0 passed"), last)
        self.assertEqual(rows["sync"], ["wrong label", "saving off by more than 10 % of the step"])
        self.assertEqual(rows["allocator"], ["saving off by more than 10 % of the step"])
        self.assertEqual(rows["launch"], ["the report has no verdict"])

    def test_a_program_that_fails_or_hangs_fails_alone(self):
        verdicts = {cause: {"label": label, "saved_ns": "20000000"} for cause, label in (("sync", "sync_bound"), ("allocator", "allocator"))}
        code, _, rows = self.run_verdict(["sync", "checkpoint", "gc", "allocator"], verdicts, "--timeout", "3", "--truth-timeout", "3")
        self.assertEqual(code, 1)
        self.assertEqual(rows["sync"], [])
        self.assertIn("exit code 7", rows["checkpoint"][0])
        self.assertIn("no answer within 3 s", rows["gc"][0])
        self.assertEqual(rows["allocator"], [])

    def test_kept_recordings_are_judged_again(self):
        self.run_verdict(["sync"], {"sync": {"label": "inconclusive"}}, "--keep")
        self.assertTrue((self.folder / "out" / "recordings" / "sync.db").exists())
        _, _, rows = self.run_verdict([], {"sync": {"label": "sync_bound", "saved_ns": "20000000"}}, "--rescore", record=False)
        self.assertEqual(rows, {"sync": []})


class Bars(unittest.TestCase):
    """waterfall.py: the bar that a cause is about has to move by what the cause costs, and no other."""

    PARTS = {"GEMMs": "products", "memory-bound kernels": "memory_bound", "achieved": "achieved"}

    def faults(self, moved, sums=(100.0, 100.0)):
        return waterfall.faults_of(dict(zip(self.PARTS, moved)), self.PARTS, "products", 10.0, sums)

    def test_the_right_bar_passes_within_a_tenth(self):
        self.assertEqual(self.faults((9.2, 0.9, -0.5)), [])
        self.assertEqual(self.faults((10.9, 0, 0)), [])

    def test_too_little_and_another_bar_fail(self):
        self.assertEqual(self.faults((8.5, 1.4, 0)), ["products moved by 8.50 ms, not by 10.00", "memory-bound kernels moved by +1.40 ms"])

    def test_bars_that_do_not_add_up_fail(self):
        self.assertEqual(self.faults((10.0, 0, 0), (100.0, 99.9)), ["the bars add up to 99.9 %"])


if __name__ == "__main__":
    unittest.main()
