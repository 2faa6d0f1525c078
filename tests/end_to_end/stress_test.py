# SPDX-License-Identifier: Apache-2.0
"""Programs and surroundings that are hard on a guest: it must neither harm them nor be harmed more than it says."""

import signal
import sys
import time
import unittest

import harness

WORK = ["--steps", "5", "--memcpy", "--nvtx", "--events"]
FAST_FLUSH = {"TRACEINJECT_FLUSH_MS": "50"}


class HardPrograms(harness.TestCase):
    def play_well(self, *flags, code=0, **how):
        ended = self.play(*flags, **how)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (code, "trained\n", ""))
        return ended

    def assert_complete(self, ended, name="run.db"):
        recording = self.open(name)
        self.assert_gpu_work(recording, self.truth(ended))
        self.assertEqual(recording.meta.get("closed"), 1)
        self.assertEqual(recording.integrity(), "ok")
        return recording

    def test_work_launched_after_our_exit_handler(self):
        ended = self.play_well(*WORK, "--late-launch")
        recording, truth = self.open(), self.truth(ended)
        self.assertEqual(recording.meta.get("closed"), 1)
        self.assertEqual(recording.integrity(), "ok")
        # All but the one launch that came after the end of the recording.
        self.assert_same(recording.kernels(), sorted(truth.kernels())[:-1])

    def test_exit_beside_a_thread_that_plays_on(self):
        for _ in range(10):
            ended = self.play(*WORK, "--exit", "thread:6", env={"FAKE_CUPTI_DELAY_MS": "5"})
            self.assertEqual((ended.code, ended.stdout.split("\n")[0], ended.stderr), (6, "trained", ""))
            recording = self.open()
            self.assertEqual(recording.integrity(), "ok")
            self.assertEqual(set(recording.kernels()) - set(self.truth(ended).kernels()), set())
            recording.close()
            (self.folder / "run.db").unlink()

    def test_program_that_becomes_another(self):
        ended = self.play(*WORK, "--step-us", "300000" if harness.RUNTIME else "30000", "--exit", "exec", env=FAST_FLUSH)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\ntrained\n", ""))
        names = [name for name in self.files() if not name.endswith(("-wal", "-shm"))]
        self.assertEqual(names, ["run.db", "run.db.1"])
        first, second = self.open("run.db.1"), self.open("run.db")
        self.assertEqual((first.integrity(), second.integrity()), ("ok", "ok"))
        self.assertEqual(second.meta.get("closed"), 1)
        truth = set(self.truth(ended).kernels())
        self.assertNotEqual(first.kernels(), [])
        self.assertEqual(len(second.kernels()), 20)
        self.assertEqual(set(first.kernels() + second.kernels()) - truth, set())

    def test_vfork_child_that_cannot_run(self):
        ended = self.play_well(*WORK, "--step-us", "30000", "--vfork-child", env=FAST_FLUSH)
        self.assertEqual(self.files(), ["run.db"])
        self.assert_complete(ended)

    def test_forks_while_other_threads_record(self):
        ended = self.play_well(*WORK, "--steps", "100", "--threads", "3", "--fork-loop", "100",
                               env={**FAST_FLUSH, **harness.SHUFFLED})
        self.assertEqual(self.files(), ["run.db"])
        self.assert_complete(ended)

    def test_more_threads_than_queues_one_after_the_other(self):
        # CUPTI takes a buffer for each thread: here there is one for all of them, however late the
        # buffers come back. What is lost when there are fewer has a test of its own.
        ended = self.play_well(*WORK, "--churn", "3000", "--kernel-us", "1",
                               env={"TRACEINJECT_BUFFERS": "8G", "FAKE_CUPTI_DELAY_MS": "2000"})
        recording = self.assert_complete(ended)
        events = [event for event in recording.nvtx() if event.text == "one launch"]
        self.assertEqual(len(events) + recording.count("nvtx", "dropped"), 3000)
        self.assertGreaterEqual(len(events), 1000)

    def test_long_message_is_clipped_and_counted(self):
        self.play_well("--nvtx", "--long-text", "100000")
        recording = self.open()
        self.assertEqual(recording.count("nvtx", "clipped"), 1)
        (text,) = [event.text for event in recording.nvtx() if event.text.startswith("xxx")]
        self.assertEqual(text, "x" * len(text))
        self.assertGreaterEqual(len(text), 256)


# Works a little, then idles; prints by how much its memory grew meanwhile.
IDLE = """
import ctypes, os, time
runtime = ctypes.CDLL("libcudart.so.13")
memory = ctypes.c_void_p()
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGESIZE")
time.sleep(1)
before = resident()
time.sleep(2)
print(resident() - before)
"""


class HardSurroundings(harness.TestCase):
    def test_flush_that_never_returns(self):
        begin = time.monotonic()
        ended = self.play(*WORK, "--exit", "exit:3", env={"FAKE_CUPTI_FLUSH_HANG": "1", "TRACEINJECT_EXIT_MS": "300"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, "trained\n", ""))
        self.assertLess(time.monotonic() - begin, 30, "the end was not bounded by TRACEINJECT_EXIT_MS")

    @harness.without_thread_sanitizer("the program lasts longer than until the first flush")
    def test_exit_without_handlers_makes_no_thread(self):
        """_exit may be called where none can be made, as in a handler of a signal. Who tells of the flush that hangs is there before, and
        of a program that ends before the first flush there is nothing to sample."""
        threads = self.folder / "truth.threads"
        nothing_sampled = {"TRACEINJECT_TELEMETRY_HZ": "0", "TRACEINJECT_STACKS_HZ": "0", "TRACEINJECT_COUNTERS": "0"}
        counts = []
        for number, more in enumerate((nothing_sampled, {}, {"FAKE_CUPTI_FLUSH_HANG": "1"})):
            ended = self.play(*WORK, "--exit", "_exit:3", beside=["count_threads"], env={
                "TRACEINJECT_EXIT_MS": "8000", "COUNT_THREADS": str(threads), "TRACEINJECT_OUTPUT": f"run{number}.db", **more})
            self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, "trained\n", ""))
            counts.append(len(threads.read_text()))
            threads.unlink()
        self.assertEqual(counts, 3 * counts[:1])
        self.assertIn("does not return", self.open("run2.db").health()["start", "failed"][1])

    def test_clock_is_set_back_by_an_hour_while_a_flush_hangs(self):
        """The program's clock is an hour ahead of the one by which the system would wait for a time of day."""
        begin = time.monotonic()
        ended = self.play(*WORK, "--exit", "exit:3", beside=["step_clock"], env={
            "FAKE_CUPTI_FLUSH_HANG": "1", "TRACEINJECT_EXIT_MS": "300", "STEP_CLOCK_WHEN": "/", "STEP_CLOCK_S": "3600"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, "trained\n", ""))
        self.assertLess(time.monotonic() - begin, 30, "the end was not bounded by TRACEINJECT_EXIT_MS")

    def test_file_is_taken_away(self):
        process = self.start("--steps", "100", "--step-us", "10000", "--exit", "exit:3", env=FAST_FLUSH)
        self.wait_for_kernels(process, 10)
        for path in self.folder.glob("run.db*"):
            path.unlink()
        ended = self.finish(process)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, "trained\n", ""))

    def test_file_size_limit_of_the_process(self):
        player = harness.FAKE_GPU / "cuda13" / "fake_train"
        # 350 blocks of 1024 bytes: little more than an empty recording. No truth: it would meet the limit first.
        ended = self.finish(self.start(
            command=["bash", "-c", f"ulimit -f 350; exec {player} --steps 200 --kernels 100 --kernel-us 5 --step-us 1000 --exit exit:3"],
            env={**FAST_FLUSH, "FAKE_GPU_TRUTH": ""}))
        self.assertNotEqual(ended.code, harness.killed_by(signal.SIGXFSZ), "our writing killed the program")
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, "trained\n", ""))

    def assert_nothing_on(self, truth):
        """A recording that ended costs nothing more."""
        on = {line["kind"]: line["on"] for line in truth.of("kind")}
        self.assertEqual({kind for kind in on if on[kind]}, set())

    def play_without_memory(self, call, **env):
        ended = self.play("--steps", "30", "--kernels", "40", "--step-us", "5000", "--nvtx", "--events", "--exit", "exit:3",
                          beside=["fail_malloc"], env={**FAST_FLUSH, "FAIL_MALLOC_FROM": str(call), **env})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (3, "trained\n", ""))
        if not (self.folder / "run.db").exists():
            return None
        recording = harness.Recording.open_killed(self.folder / "run.db")
        if recording is not None:
            self.addCleanup(recording.close)
            self.assertEqual(recording.integrity(), "ok")
            self.assertEqual(set(recording.kernels()) - set(self.truth(ended).kernels()), set())
        if "FAIL_MALLOC_TIMES" not in env and "FAIL_MALLOC_THREAD" not in env:
            self.assert_nothing_on(self.truth(ended))
        for path in self.folder.glob("run.db*"):
            path.unlink()
        return recording

    @harness.without_sanitizer("its own malloc comes before the one that fails")
    def test_no_memory_on_threads_of_the_program(self):
        for call in (*range(2, 12), 20, 40, 60, 80, 100, 150):  # the first is when the library is loaded
            with self.subTest(call=call):
                self.play_without_memory(call, FAIL_MALLOC_THREAD="fake_train")

    @harness.without_sanitizer("its own malloc comes before the one that fails")
    def test_no_memory_for_the_writer(self):
        for call in (1, 20, 100, 300, 700, 1500, 4000):
            with self.subTest(call=call):
                self.play_without_memory(call)

    @harness.without_sanitizer("its own malloc comes before the one that fails")
    def test_no_memory_for_the_writer_once(self):
        told = 0
        for call in range(200, 700, 50):  # before, there is no file; some 650 are made
            with self.subTest(call=call):
                recording = self.play_without_memory(call, FAIL_MALLOC_TIMES="1", FAIL_MALLOC_NEW="1")
                if recording is not None:
                    told += len(recording.rows("SELECT 1 FROM capture_gap WHERE reason = 'out_of_memory' AND dur IS NULL"))
        self.assertGreaterEqual(told, 2, "no recording says why it ended")

    def test_no_memory_for_the_database_once(self):
        for call in range(18000, 24000, 997):  # making the file takes the first 18,000; a transaction fails
            with self.subTest(call=call):
                self.play_without_memory(call, FAIL_MALLOC_TIMES="1")

    def test_no_memory_for_the_samples(self):
        for call in (1, 20, 100, 200, 400, 800):
            with self.subTest(call=call):
                recording = self.play_without_memory(call, FAIL_MALLOC_THREAD="traceinject-tel")
                self.assertEqual(recording.meta.get("closed"), 1)
                self.assertEqual(len(recording.kernels()), 30 * 41, "the rest is recorded")

    @harness.without_sanitizer("freed memory is kept")
    def test_memory_while_the_file_cannot_be_written(self):
        # Long health rows, by names that are no options: 500 KB in each of about 40 transactions that fail.
        env = {f"TRACEINJECT_{letter * 100_000}": "1" for letter in "ABCDE"}
        ended = self.finish(self.start(command=["bash", "-c", f"ulimit -f 350; exec {sys.executable} -c '{IDLE}'"],
                                       env={**FAST_FLUSH, **env, "FAKE_GPU_TRUTH": ""}))
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assertEqual(self.open().rows("SELECT * FROM health"), [], "a transaction went through")
        self.assertLess(int(ended.stdout), 4 << 20)


if __name__ == "__main__":
    harness.main()
