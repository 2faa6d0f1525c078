# SPDX-License-Identifier: Apache-2.0
"""Each cause, played on the fake GPU: what it really costs, and the label and saving that `analyze` gives for its recording.

Waits of Python (data loader, checkpoint, garbage collection) are played as waits without a name. Their rows, which a Python process
would have recorded, are written into the file from the truth. Left without them, the wait must be called inconclusive.
"""

import collections
import json
import sqlite3
import subprocess

import harness

ANALYZE = harness.AnalyzeTestCase.analyze
STEPS = 20
FLOOR = 0.2  # of the step: what a planted cause must cost at least
TOLERANCE = 0.15  # of the step: of the predicted saving
# 20 kernels of 500 us on average: 10 ms a step, whatever is planted.
BUSY = ["--steps", str(STEPS), "--nvtx", "--streams", "1", "--kernels", "20", "--kernel-us", "500"]

# What recording a launch costs, which a saving must not contain: of launches as slow as the played ones, as much as on hardware.
RECORDER_NS = 10_000

# source: the table that the truth's waits are written to, with host_span.kind.
Cause = collections.namedtuple("Cause", "flags env source label", defaults=(None, None))
CAUSES = {
    "data wait": Cause([*BUSY, "--wait-us", "8000"], {}, "data_wait", "dataloader"),
    "garbage collection": Cause([*BUSY, "--wait-us", "8000"], {}, "host_span:2", "gc_pause"),
    "checkpoint": Cause([*BUSY, "--wait-us", "60000", "--wait-every", "5"], {}, "host_span:1", "checkpoint"),
    "pageable copy": Cause([*BUSY, "--pageable-mb", "40"], {}, None, "h2d_copy"),
    "sync per layer": Cause(["--steps", str(STEPS), "--nvtx", "--streams", "1", "--kernels", "60", "--kernel-us", "100",
                             "--sync-every", "1"], {}, None, "sync_bound"),
    "allocator": Cause([*BUSY, "--alloc"], {"FAKE_GPU_ALLOC_US": "12000"}, None, "allocator"),
    # So many that waking up after the step's synchronisation, which a busy machine delays, is little of the step.
    "launch bound": Cause(["--steps", str(STEPS), "--nvtx", "--streams", "1", "--kernels", "3000", "--kernel-us", "2"],
                          {"FAKE_CUPTI_LAUNCH_NS": str(RECORDER_NS)}, None, "launch_bound"),
}
# Long kernels, so that a loaded machine does not show as gaps.
CONTROL = Cause(["--steps", str(STEPS), "--nvtx", "--streams", "1", "--kernels", "20", "--kernel-us", "1500"], {}, None,
                "compute_bound")
# Kernels that a program could ask for in another way: nothing is waited for. Of the mean length of a kernel they take 0.5, 0.75, ...;
# the figure is the share of their time that is saved.
KERNELS = ["--steps", str(STEPS), "--nvtx", "--streams", "1", "--kernels", "20", "--kernel-us", "1500", "--work"]
KERNEL_CAUSES = {
    # The first two of three become three times as fast.
    "low_precision_unused": (Cause([*KERNELS, "fp32"], {}), 2 / 3 * 1.25 / 2.25),
    # What is stored between the first and the last of four.
    "unfused_attention": (Cause([*KERNELS, "attention"], {}), 1.75 / 3.5),
    # Four fifths of all but the longest of the last four of five.
    "memory_bound": (Cause([*KERNELS, "pointwise"], {}), 4 / 5 * 3 / 5),
    # Half of the kernels are products of 4095 x 8192 x 8192 numbers, which take three times the 814 us of 4096, the others 750 us.
    "inefficient_gemm": (Cause([*KERNELS, "gemm"], {}), 2 * 814 / (3 * 814 + 750)),
    # Two of the five kinds multiply matrices: half of their time. Samples begin with the first flush, so that is soon and the steps long.
    "throttled": (Cause(["--steps", str(STEPS), "--nvtx", "--streams", "1", "--kernels", "20", "--kernel-us", "4000"],
                        {"FAKE_NVML_THROTTLE": "64", "FAKE_NVML_SM_CLOCK_MHZ": "990", "TRACEINJECT_TELEMETRY_HZ": "50",
                         "TRACEINJECT_FLUSH_MS": "50"}),
                  0.5 * 2 / 5),
}
UNEXPLAINED = Cause([*BUSY, "--wait-us", "8000"], {}, None, "inconclusive")


class Played:
    """A played run: its recording, and the length of its steps and of the device's work in them, in nanoseconds."""

    def __init__(self, test, cause, name):
        # On a version of CUPTI where single calls can be selected, as on hardware.
        ended = test.play(*cause.flags, cuda="cuda13", env={"TRACEINJECT_OUTPUT": name, **cause.env})
        test.assertEqual((ended.code, ended.stderr), (0, ""))
        self.path, self.truth = test.folder / name, test.truth(ended)
        steps = [line for line in self.truth.of("nvtx") if line["text"].startswith("step ") and line["kind"] == 1]
        begin, end = steps[0]["start_before"], steps[-1]["end_after"]
        self.step_ns = (end - begin) / STEPS
        self.kernel_ns = sum(kernel.end - kernel.start for kernel in self.truth.kernels()) / STEPS
        self.recorder_ns = int(cause.env.get("FAKE_CUPTI_LAUNCH_NS", 0)) * len(self.truth.kernels()) / STEPS
        self.pageable_ns = sum(copy.end - copy.start for copy in self.truth.memcpys() if copy.bytes > 1 << 20) / STEPS
        self.waits = self.truth.of("wait")

    def add_rows(self, source):
        """What a recording of Python has for the waits."""
        table, _, kind = source.partition(":")
        database = sqlite3.connect(self.path)
        base = database.execute("SELECT value FROM meta WHERE key = 'base_ns'").fetchone()[0]
        threads = dict(database.execute("SELECT tid, id FROM thread"))
        if table == "data_wait":
            database.execute("INSERT INTO data_loader (id, proc, workers, pin_memory, persistent_workers, batch_size) "
                             "SELECT 1, proc, 0, 0, 0, 4 FROM process")
        for index, wait in enumerate(self.waits):
            common = (wait["start"] - base, wait["end"] - wait["start"], threads[wait["tid"]])
            if table == "data_wait":
                database.execute("INSERT INTO data_wait (start, dur, thread, loader, batch) VALUES (?, ?, ?, 1, ?)", (*common, index))
            else:
                detail = 2 if kind == "2" else None
                database.execute("INSERT INTO host_span (start, dur, thread, kind, detail) VALUES (?, ?, ?, ?, ?)",
                                 (*common, int(kind), detail))
        database.commit()
        database.close()


class Verdict(harness.AnalyzeTestCase):
    def verdict(self, played):
        return self.report(played)["verdict"]

    def report(self, played):
        """The report of `analyze`; skips the test where there is no verdict in it yet."""
        ended = subprocess.run([ANALYZE, played.path, "--format", "json"], capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.returncode, 0, ended.stderr)
        report = json.loads(ended.stdout)
        if "verdict" not in report:
            self.skipTest("analyze --format json has no field verdict")
        return report

    def in_one_of_three(self, check):
        """What other programs take from the processor in the middle of a run looks like a cause of its own. An error of ours is in
        every recording."""
        for attempt in range(3):
            try:
                return check(attempt)
            except AssertionError as error:
                failed = error
        raise failed

    def play_with_rows(self, name, attempt):
        cause = CAUSES[name]
        played = Played(self, cause, f"{name.replace(' ', '_')}{attempt}.db")
        if cause.source:
            table = cause.source.partition(":")[0]
            with sqlite3.connect(played.path) as database:
                known = database.execute("SELECT count(*) FROM sqlite_master WHERE name = ?", (table,)).fetchone()[0]
            if not known:
                self.skipTest(f"run.db has no table {table}")
            played.add_rows(cause.source)
        return played

    def assert_label_and_saving(self, name):
        self.in_one_of_three(lambda attempt: self.check_label_and_saving(name, attempt))

    def check_label_and_saving(self, name, attempt):
        played = self.play_with_rows(name, attempt)
        verdict = self.verdict(played)
        self.assertEqual(verdict["label"], CAUSES[name].label, verdict)
        # The played device does nothing but kernels once the cause is gone; a pinned copy takes a little. Where the host had to wait for
        # a processor, which is no launching and is told apart, its kernels would come earlier without that, too.
        true_ns = played.step_ns - played.recorder_ns - played.kernel_ns
        waited_ns = sum(int(cause["saved_ns"]) for cause in verdict["savings"] if cause["label"] == "host_wait")
        saved_ns = int(verdict["saved_ns"]) + max(waited_ns, 0)
        self.assertAlmostEqual(saved_ns, true_ns, delta=TOLERANCE * played.step_ns, msg=str(verdict))

    def test_what_is_played_costs_enough(self):
        """Otherwise the labels would be asked of something that hardly shows. Needs no verdict."""
        for name, cause in CAUSES.items():
            with self.subTest(name=name):
                played = Played(self, cause, name.replace(" ", "_") + ".db")
                self.assertGreater(1 - played.kernel_ns / played.step_ns, FLOOR)
                if cause.source:
                    self.assertGreater(len(played.waits), 2)
        with self.subTest(name="pageable copy is what is slow"):
            played = Played(self, CAUSES["pageable copy"], "pageable.db")
            self.assertGreater(played.pageable_ns / played.step_ns, FLOOR)
        with self.subTest(name="control"):
            self.in_one_of_three(self.check_control_is_busy)

    def check_control_is_busy(self, attempt):
        played = Played(self, CONTROL, f"control{attempt}.db")
        self.assertLess(1 - played.kernel_ns / played.step_ns, 0.05)

    def test_data_wait(self):
        self.assert_label_and_saving("data wait")

    def test_garbage_collection(self):
        self.assert_label_and_saving("garbage collection")

    def test_checkpoint(self):
        self.assert_label_and_saving("checkpoint")

    def test_steps_with_checkpoints_are_named(self):
        played = self.play_with_rows("checkpoint", 0)
        ended = subprocess.run([ANALYZE, "steps", played.path, "--limit", "0", "--columns", "kind", "--format", "json"], capture_output=True,
                               text=True, timeout=60, check=True)
        kinds = collections.Counter(row["kind"] for row in json.loads(ended.stdout))
        self.assertEqual(kinds["checkpoint"] + kinds["warm-up"], len(played.waits), kinds)
        self.assertGreater(kinds["checkpoint"], 2)

    def test_pageable_copy(self):
        self.assert_label_and_saving("pageable copy")

    def test_sync_per_layer(self):
        self.assert_label_and_saving("sync per layer")

    def test_allocator(self):
        self.assert_label_and_saving("allocator")

    def test_launch_bound(self):
        self.assert_label_and_saving("launch bound")

    def test_control_is_compute_bound(self):
        self.in_one_of_three(lambda attempt: self.assertEqual(
            self.verdict(Played(self, CONTROL, f"control{attempt}.db"))["label"], CONTROL.label))

    def check_kernels(self, label, attempt):
        cause, share = KERNEL_CAUSES[label]
        played = Played(self, cause, f"{label}{attempt}.db")
        verdict = self.verdict(played)
        self.assertEqual(verdict["label"], label, verdict)
        self.assertAlmostEqual(int(verdict["saved_ns"]), share * played.kernel_ns, delta=0.05 * played.step_ns, msg=str(verdict))
        self.assertTrue(verdict["levers"])
        self.assertIn("start_ns", verdict["evidence"][0])

    def test_kernels_that_could_take_less(self):
        for label in KERNEL_CAUSES:
            with self.subTest(label=label):
                if label == "inefficient_gemm" and not (harness.FAKE_GPU / "cuda13" / "gemm_user.so").exists():
                    self.skipTest("cublas_v2.h was not found when this was built")
                self.in_one_of_three(lambda attempt, label=label: self.check_kernels(label, attempt))

    def test_unexplained_wait_is_inconclusive(self):
        verdict = self.verdict(Played(self, UNEXPLAINED, "unexplained.db"))
        self.assertEqual(verdict["label"], UNEXPLAINED.label, verdict)
        self.assertIn("NVTX", json.dumps(verdict), "the remedy is to name the wait by an NVTX range")


if __name__ == "__main__":
    harness.main()
