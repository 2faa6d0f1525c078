# SPDX-License-Identifier: Apache-2.0
"""TRACEINJECT_KEEP_LAST: the file stays within its limit, and its last part is whole, also of a killed process."""

import os
import signal
import subprocess
import time
import unittest

import harness

LIMIT = 16 << 20
# About 100,000 rows a second, with a text that no other step has: the limit is reached after some seconds.
BUSY = ["--kernels", "300", "--kernel-us", "5", "--step-us", "4000", "--nvtx", "--memcpy", "--events", "--nccl", "new"]
KEEP = {"TRACEINJECT_KEEP_LAST": "1", "TRACEINJECT_MAX_SIZE": "16M", "TRACEINJECT_FLUSH_MS": "200"}
MOST_LOST_NS = 2_000_000_000
EDGE_NS = 100_000_000  # before the last flush: a call may have been in a buffer with work that was not done

REFERENCES = [("kernel", "shape", "kernel_shape"), ("kernel", "stream", "stream"), ("kernel_shape", "name", "string"),
              ("kernel", "graph_node", "graph_node"), ("api", "thread", "thread"), ("api", "name", "api_name"), ("nvtx", "text", "string"),
              ("nvtx", "thread", "thread"), ("nvtx", "domain", "nvtx_domain"), ("collective", "function", "string"),
              ("collective", "communicator", "communicator"), ("gemm", "shape", "gemm_shape"), ("thread", "name", "string"),
              ("gemm_shape", "function", "string"), ("sync", "stream", "stream"), ("sync", "thread", "thread"),
              ("host_sample", "thread", "thread"), ("worker_sample", "worker", "worker"), ("stream", "name", "string"),
              ("stack_sample", "thread", "thread"), ("stack_sample", "stack", "stack"), ("stack", "parent", "stack"),
              ("stack", "place", "code_place"), ("stack", "module", "string"), ("code_place", "function", "string"), ("code_place", "file", "string")]


class FlightRecorder(harness.TestCase):
    def size(self):
        total = 0
        for name in ("run.db", "run.db-wal"):
            try:
                total += os.path.getsize(self.folder / name)
            except FileNotFoundError:
                pass
        return total

    def kept_from(self, recording):
        """Absolute; None: nothing was dropped."""
        rows = recording.rows("SELECT start + dur FROM capture_gap WHERE reason = 'keep_last'")
        self.assertLessEqual(len(rows), 1)
        return recording.base + rows[0][0] if rows else None

    def watch_until(self, process, enough):
        """The largest size of the file until `enough` of the recording."""
        largest, deadline = 0, time.monotonic() + 100
        while time.monotonic() < deadline:
            self.assertIsNone(process.poll())
            largest = max(largest, self.size())
            time.sleep(0.2)
            if self.size() > LIMIT // 2:
                recording = harness.Recording(self.folder / "run.db")
                try:
                    if enough(recording):
                        return largest
                finally:
                    recording.close()
        self.fail("never enough")

    def assert_whole_after(self, recording, truth, begin, end):
        """Everything that ended between the two moments is there, and nothing was made up."""
        for name in ("kernels", "memcpys"):
            happened, recorded = getattr(truth, name)(), set(getattr(recording, name)())
            due = {one for one in happened if begin < one.end <= end}
            self.assertGreater(len(due), 0, name)
            self.assertEqual(due - recorded, set(), name)
            self.assertEqual(recorded - set(happened), set(), name)

    def assert_no_dangling_references(self, recording):
        for table, column, target in REFERENCES:
            missing = recording.rows(f"SELECT count(*) FROM {table} WHERE {column} IS NOT NULL AND {column} NOT IN (SELECT id FROM {target})")
            self.assertEqual(missing, [(0,)], (table, column))

    def analyze(self):
        return subprocess.run([harness.BUILD / "bin" / "analyze", self.folder / "run.db"], capture_output=True, text=True, timeout=60)

    def test_killed_long_after_the_limit(self):
        process = self.start("--steps", "-1", *BUSY, env=KEEP)
        expired = lambda recording: sum(value for (_, counter), (value, _) in recording.health().items() if counter == "expired")
        # A row takes about 28 bytes. (The truth is what takes time: five times the limit are in slices_test.cc.)
        largest = self.watch_until(process, lambda recording: expired(recording) * 28 > LIMIT)
        killed_ns = time.time_ns()
        process.kill()
        ended = self.finish(process)
        self.assertEqual(ended.code, harness.killed_by(signal.SIGKILL))
        self.assertLessEqual(max(largest, self.size()), LIMIT * 1.05)
        recording, truth = self.open(), harness.Truth.read(ended.truth_path, '"op"')
        self.assertEqual(recording.integrity(), "ok")
        kept_from = self.kept_from(recording)
        self.assert_whole_after(recording, truth, kept_from, killed_ns - MOST_LOST_NS)
        self.assert_no_dangling_references(recording)
        called = {call.correlation for call in recording.calls()}
        kernels = recording.kernels()
        last = max(kernel.end for kernel in kernels)
        newest = [kernel for kernel in kernels if last - MOST_LOST_NS < kernel.end < last - EDGE_NS]
        self.assertGreater(len(newest), 0)
        self.assertEqual([kernel for kernel in newest if kernel.correlation not in called], [], "kernels are there whose calls are not")
        for source in ("kernel", "api", "memcpy"):
            rows = recording.rows(f"SELECT count(*) FROM {source}")[0][0]
            self.assertEqual(recording.count(source, "stored") - recording.count(source, "expired"), rows, source)
        # Names of steps that were dropped are gone: those that are left are at most twice those of kept rows, and a few.
        names = recording.rows("SELECT count(*) FROM string")[0][0]
        used = recording.rows("SELECT count(DISTINCT text) FROM nvtx")[0][0]
        self.assertLess(names, 3 * used + 3000)
        self.assertGreater(recording.count("nvtx", "stored"), 0)

        report = self.analyze()
        self.assertEqual((report.returncode, report.stderr), (0, ""))
        self.assertIn("flight recorder (TRACEINJECT_KEEP_LAST)", report.stdout)
        self.assertNotIn("have no record of the call", report.stdout)
        self.assertNotIn("have no record of what they launched", report.stdout)
        self.assertNotIn("warm-up", report.stdout)
        self.assertNotIn("left out: no row", report.stdout)

    def test_threads_that_come_and_go(self):
        # At most 10,000 threads a second, also on a fast machine, so that most of their 32,768 numbers are not of the last second.
        ended = self.play("--steps", "2", "--churn", "40000", "--nvtx", env={
            **KEEP, "TRACEINJECT_MAX_SIZE": "1G", "TRACEINJECT_KEEP_LAST": "1s", "FAKE_CUPTI_LAUNCH_NS": "100000"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        recording = self.open()
        self.assertGreater(recording.count("api", "expired"), 0)
        self.assert_no_dangling_references(recording)
        rows, = recording.rows("SELECT count(*) FROM thread")[0]
        used, = recording.rows("SELECT count(DISTINCT thread) FROM api")[0]
        # Those of the last second and, as names are looked over now and then only, of some more.
        self.assertGreaterEqual(rows, used)
        self.assertLess(rows, 0.6 * recording.rows("SELECT max(id) FROM thread")[0][0])

    def test_by_time(self):
        process = self.start("--steps", "-1", "--kernels", "50", "--step-us", "5000", "--memcpy",
                             env={**KEEP, "TRACEINJECT_MAX_SIZE": "1G", "TRACEINJECT_KEEP_LAST": "3s"})
        self.watch_until_kept(process, 3)
        process.send_signal(signal.SIGKILL)
        ended = self.finish(process)
        recording, truth = self.open(), harness.Truth.read(ended.truth_path, '"op"')
        last = max(kernel.end for kernel in recording.kernels())
        kept_from = self.kept_from(recording)
        # Slices are a twentieth, and at least as long as a flush.
        self.assertGreaterEqual(last - kept_from, 3_000_000_000 - MOST_LOST_NS)
        self.assert_whole_after(recording, truth, kept_from, last - MOST_LOST_NS)
        self.assertLess(min(kernel.end for kernel in truth.kernels()), kept_from)

    def test_what_comes_after_a_long_pause(self):
        """As that of a checkpoint or of a rank that hangs: by then nothing is left of what was before."""
        ended = self.play("--steps", "59", "--kernels", "20", "--step-us", "20000", "--memcpy", "--wait-us", "2500000", "--wait-every", "30",
                          env={**KEEP, "TRACEINJECT_KEEP_LAST": "1s", "TRACEINJECT_FLUSH_MS": "50"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        recording, truth = self.open(), harness.Truth.read(ended.truth_path, '"op"')
        kept_from = self.kept_from(recording)
        self.assert_whole_after(recording, truth, kept_from, max(kernel.end for kernel in truth.kernels()))
        ends = sorted(kernel.end for kernel in truth.kernels())
        _, before_pause = max((after - before, before) for before, after in zip(ends, ends[1:]))
        self.assertGreater(kept_from, before_pause, "nothing was left of what was before")

    def watch_until_kept(self, process, times):
        """Until that many seconds were dropped."""
        deadline = time.monotonic() + 100
        while time.monotonic() < deadline:
            self.assertIsNone(process.poll())
            time.sleep(0.1)
            if not (self.folder / "run.db").exists():
                continue
            try:
                recording = harness.Recording(self.folder / "run.db")
            except Exception:  # the tables come with the first commit
                continue
            kept_from = self.kept_from(recording)
            base = recording.base
            recording.close()
            if kept_from is not None and kept_from - base > times * 1_000_000_000:
                return
        self.fail("nothing was dropped")

    def test_what_fits_is_kept_from_the_beginning(self):
        recording, truth = self.record(env={**KEEP, "TRACEINJECT_KEEP_LAST": "10m"})
        self.assert_gpu_work(recording, truth)
        self.assertEqual(recording.rows("SELECT * FROM capture_gap"), [])

    def record(self, env):
        ended = self.play("--steps", "20", *BUSY, env=env)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        return self.open(), harness.Truth.read(ended.truth_path, '"op"')

    def test_a_clean_end_leaves_one_file_within_the_limit(self):
        ended = self.play("--steps", "1400", *BUSY, env=KEEP)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assertEqual(self.files(), ["run.db"])
        self.assertLessEqual(self.size(), LIMIT * 1.05)
        recording, truth = self.open(), harness.Truth.read(ended.truth_path, '"op"')
        self.assertEqual(recording.meta.get("closed"), 1)
        kept_from = self.kept_from(recording)
        self.assertIsNotNone(kept_from)
        self.assert_whole_after(recording, truth, kept_from, time.time_ns())


if __name__ == "__main__":
    harness.main()
