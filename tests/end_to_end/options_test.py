# SPDX-License-Identifier: Apache-2.0
"""The options, seen from outside: what each changes in the recording."""

import os
import shutil
import sys
import time
import unittest

import harness

# Records events on one thread after the other once the recording is over; prints how much memory that took.
AFTER_THE_LIMIT = """
import ctypes, os, threading, time
runtime, program = ctypes.CDLL("libcudart.so.13"), ctypes.CDLL(None)
memory, event = ctypes.c_void_p(), ctypes.c_void_p()
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
runtime.cudaEventCreate(ctypes.byref(event))
runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
while not os.path.exists("library.log") or " closed " not in open("library.log").read():
    time.sleep(0.01)
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
def record(times):
    for _ in range(times):
        program.cudaEventRecord(event, None)
record(20000)
before = resident()
for _ in range(40):
    thread = threading.Thread(target=record, args=(15000,))
    thread.start()
    thread.join()
print(resident() - before)
"""


class Options(harness.TestCase):
    def record(self, *flags, env=(), name="run.db"):
        """Plays a run that has something of every kind."""
        ended = self.play("--steps", "5", *harness.EVERYTHING, *flags, env=env)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        return self.open(name), self.truth(ended)

    def test_unknown_option_is_reported_once(self):
        recording, _ = self.record(env={"TRACEINJECT_OUTPT": "typo.db", "TRACEINJECT_SPEED": "9"})
        value, detail = recording.health()["start", "unknown_option"]
        self.assertEqual(value, 2)
        self.assertIn("TRACEINJECT_OUTPT", detail)
        self.assertIn("TRACEINJECT_SPEED", detail)

    def test_known_options_are_not_reported(self):
        recording, _ = self.record(env={"TRACEINJECT_FLUSH_MS": "200"})
        self.assertNotIn(("start", "unknown_option"), recording.health())
        self.assertEqual(recording.rows("SELECT key, value FROM system_fact WHERE kind = 'option'"),
                         [("TRACEINJECT_FLUSH_MS", "200")])

    def test_bad_values_are_told_and_replaced_by_the_default(self):
        bad = {"TRACEINJECT_FLUSH_MS": "soon", "TRACEINJECT_MAX_SIZE": "many", "TRACEINJECT_KINDS": "kernel,nonsense",
               "TRACEINJECT_NVTX": "perhaps"}
        recording, truth = self.record(env={**bad, "TRACEINJECT_LOG": "log.txt"})
        self.assert_gpu_work(recording, truth)
        self.assertNotEqual(recording.nvtx(), [])
        log = (self.folder / "log.txt").read_text()
        count, detail = recording.health()["start", "invalid_option"]
        self.assertEqual(count, len(bad))
        for name, value in bad.items():
            self.assertIn(f"{name}={value}", log)
            self.assertIn(f"{name}={value}", detail)

    def test_kinds(self):
        recording, truth = self.record(env={"TRACEINJECT_KINDS": "kernel"})
        self.assert_same(recording.kernels(), truth.kernels())
        self.assertEqual((recording.memcpys(), recording.memsets(), recording.calls()), ([], [], []))

    def test_nvtx_off(self):
        # Also in another spelling, and when a parent process that has it on named the library in the environment.
        for name, env in (("0", {}), ("off", {}), ("0", {"NVTX_INJECTION64_PATH": str(harness.LIBRARY)})):
            with self.subTest(name=name, env=env):
                recording, truth = self.record(env={"TRACEINJECT_NVTX": name, "TRACEINJECT_NCCL": "0", **env})
                self.assert_gpu_work(recording, truth)
                self.assertEqual((recording.nvtx(), recording.collectives()), ([], []))
                recording.close()
                (self.folder / "run.db").unlink()

    def test_sync_off(self):
        recording, truth = self.record(env={"TRACEINJECT_SYNC": "0"})
        self.assert_gpu_work(recording, truth)
        self.assertEqual(recording.syncs(), [])

    def test_recording_stops_cleanly_at_the_largest_size(self):
        limit = 512 << 10
        ended = self.play("--steps", "400", "--kernels", "100", "--kernel-us", "5", "--step-us", "2000", "--nvtx",
                          env={"TRACEINJECT_MAX_SIZE": "512K", "TRACEINJECT_FLUSH_MS": "50"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assertEqual(self.files(), ["run.db"])
        recording, truth = self.open(), self.truth(ended)
        ((start, dur, reason),) = recording.rows("SELECT start, dur, reason FROM capture_gap")
        self.assertEqual((dur, reason), (None, "max_size"))
        self.assertEqual(recording.count("file", "max_size"), 1)
        # What one flush brings may exceed the limit: 50 ms of this run are about 200 KiB, more on a busy machine.
        self.assertLess(os.path.getsize(recording.path), 8 * limit)
        recorded = set(recording.kernels())
        self.assertLess(len(recorded), len(truth.kernels()))
        self.assertEqual(recorded - set(truth.kernels()), set())
        gap = recording.base + start
        self.assertGreater(sum(kernel.start >= gap for kernel in truth.kernels()), 0)
        self.assertEqual({kernel for kernel in truth.kernels() if kernel.end < gap} - recorded, set(), "missing before the gap")
        self.assertEqual(recording.meta.get("closed"), 1)
        self.assertEqual(recording.integrity(), "ok")

    def test_wrappers_cost_nothing_after_the_largest_size(self):
        # Threads that come and go must leave no queues behind that nobody reads any more.
        ended = self.finish(self.start(command=[sys.executable, "-c", AFTER_THE_LIMIT],
                                       env={"TRACEINJECT_MAX_SIZE": "64K", "TRACEINJECT_FLUSH_MS": "50", "FAKE_GPU_TRUTH": "",
                                            "TRACEINJECT_LOG": str(self.folder / "library.log")}))
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assertEqual(self.open().count("file", "max_size"), 1)
        self.assertLess(int(ended.stdout), 10 << 20, "bytes that 40 threads left behind")

    def test_names(self):
        for pattern, rank, expected in (("out-%p.db", None, "out-{pid}.db"), ("a.%r.db", "3", "a.3.db"), ("trace", "3", "trace.rank00003"),
                                        ("b.%h.db", None, "b.{host}.db"), ("%%.db", None, "%.db")):
            with self.subTest(pattern=pattern):
                env = {"TRACEINJECT_OUTPUT": pattern}
                if rank is not None:
                    env.update(RANK=rank, WORLD_SIZE="4")
                ended = self.play("--steps", "2", env=env)
                self.assertEqual(self.files(), [expected.format(pid=ended.pid, host=os.uname().nodename)])
                (self.folder / self.files()[0]).unlink()

    def test_flush_makes_rows_visible_to_readers(self):
        process = self.start("--steps", "-1", "--step-us", "2000", env={"TRACEINJECT_FLUSH_MS": "50"})
        self.wait_for_kernels(process, 100)
        process.terminate()
        self.finish(process)

    def test_configured_cupti(self):
        elsewhere = self.folder / "truth.cupti"
        elsewhere.mkdir()
        shutil.copy(harness.FAKE_GPU / "cuda13" / "libcupti.so.13", elsewhere)
        path = str(elsewhere / "libcupti.so.13")
        recording, truth = self.record(env={
            "TRACEINJECT_CUPTI": path, "LD_LIBRARY_PATH": f"{harness.FAKE_GPU / 'cuda13'}:{harness.FAKE_GPU}"})
        self.assert_gpu_work(recording, truth)
        self.assertEqual(recording.rows("SELECT cupti_path FROM process"), [(path,)])

    def test_log_is_made_when_recording_starts(self):
        self.play("--no-gpu", env={"TRACEINJECT_LOG": "log.txt"})
        self.assertEqual(self.files(), [])
        self.record(env={"TRACEINJECT_LOG": "log.txt"})
        self.assertIn("run.db", (self.folder / "log.txt").read_text())

    def test_facts_mask_secrets(self):
        recording, _ = self.record(env={"NCCL_IB_TIMEOUT": "22", "WANDB_API_KEY": "hunter2", "HF_TOKEN": "hunter2"})
        facts = dict(recording.rows("SELECT key, value FROM system_fact WHERE kind = 'env'"))
        self.assertEqual(facts.get("NCCL_IB_TIMEOUT"), "22")
        self.assertNotIn("hunter2", str(facts))


class Clock(harness.TestCase):
    def test_clock_pairs_tie_the_clocks_together(self):
        before = time.time_ns()
        self.play("--steps", "30", "--step-us", "10000", env={"TRACEINJECT_FLUSH_MS": "50"})
        after = time.time_ns()
        recording = self.open()
        pairs = recording.rows("SELECT realtime, cupti FROM clock_pair")
        self.assertNotEqual(pairs, [])
        for realtime, cupti in pairs:
            self.assertLessEqual(before, recording.base + realtime)
            self.assertLessEqual(recording.base + realtime, after)
            # The fake CUPTI's clock is CLOCK_REALTIME too: it was read within the same run.
            self.assertLessEqual(before, recording.base + cupti)
            self.assertLessEqual(recording.base + cupti, after)


if __name__ == "__main__":
    harness.main()
