# SPDX-License-Identifier: Apache-2.0
"""TRACEINJECT_STALL: when nothing completes although work was launched, the file tells what is outstanding, also after a kill."""

import contextlib
import json
import signal
import sqlite3
import subprocess
import time
import unittest

import harness

ENV = {"TRACEINJECT_STALL": "1s", "TRACEINJECT_FLUSH_MS": "100"}
DEVICE = 5  # host_span.detail: a wait for the device
FOREVER = ("--steps", "-1", "--step-us", "10000")


class Stall(harness.TestCase):
    def stalls(self, recording):
        return recording.rows("SELECT start, dur FROM capture_gap WHERE reason = 'stalled' ORDER BY start")

    def wait_for_stall(self, process, name="run.db"):
        deadline = time.monotonic() + harness.LIMIT_S - 10
        while time.monotonic() < deadline:
            with contextlib.suppress(sqlite3.OperationalError, KeyError):  # the tables come with the first commit
                recording = harness.Recording(self.folder / name)
                found = self.stalls(recording)
                recording.close()
                if found:
                    return
            self.assertIsNone(process.poll(), "it ended")
            time.sleep(0.05)
        self.fail("no stall was noticed")

    def wait_for_recording(self, process, name):
        deadline = time.monotonic() + harness.LIMIT_S - 10
        while time.monotonic() < deadline:
            with contextlib.suppress(sqlite3.OperationalError, KeyError):
                recording = harness.Recording(self.folder / name)
                found = len(recording.kernels())
                recording.close()
                if found:
                    return
            self.assertIsNone(process.poll(), "it ended")
            time.sleep(0.05)
        self.fail("nothing was recorded")

    def analyze(self, *arguments):
        done = subprocess.run([harness.BUILD / "bin" / "analyze", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def report(self, *arguments):
        return json.loads(self.analyze(*arguments, "--format", "json"))

    def hang_and_kill(self, *arguments, env=None, after_s=0, beside=()):
        process = self.start(*FOREVER, *arguments, env={**ENV, **(env or {})}, beside=beside)
        self.wait_for_stall(process)
        time.sleep(after_s)
        process.kill()
        ended = self.finish(process)
        self.assertEqual(ended.code, harness.killed_by(signal.SIGKILL))
        recording = self.open()
        self.assertEqual(recording.integrity(), "ok")
        return recording, self.truth(ended)

    def test_a_hung_collective_after_a_kill(self):
        recording, truth = self.hang_and_kill("--stall-at", "20", "--nvtx", "--nccl", "new")
        ((start, dur),) = self.stalls(recording)
        self.assertIsNone(dur, "to the end")
        now = recording.base + start
        completed = [kernel for kernel in truth.kernels() if kernel.end <= now]
        self.assert_same([kernel for kernel in recording.kernels()], completed)
        calls = {call.correlation: call for call in truth.recorded_calls()}
        outstanding = [kernel for kernel in truth.kernels() if kernel.end > now]
        self.assertTrue({kernel.correlation for kernel in outstanding} <= calls.keys())
        ends = [operation["end"] for operation in truth.of("op") if operation["end"] <= now]  # copies complete as well
        first_launch = min(calls[kernel.correlation].start for kernel in outstanding)
        self.assertEqual(now, max(*ends, first_launch), "since the last completion, or since the GPU has something to do again")
        recorded = {correlation for (correlation,) in recording.rows("SELECT correlation FROM api")}
        self.assertEqual({kernel.correlation for kernel in outstanding} - recorded, set(), "launches that wait are in the file")
        ((kind, detail),) = recording.rows("SELECT kind, detail FROM host_span")
        self.assertEqual((kind, detail), (3, DEVICE))
        self.assertEqual(recording.count("gpu", "stalls"), 1)
        report = self.report("run.db")
        ((stall,), (hung,)) = report["stalls"], report["hung_operations"]
        self.assertEqual(int(stall["outstanding_launches"]), len({kernel.correlation for kernel in outstanding}))
        self.assertNotIn("end_ns", stall)
        self.assertEqual((stall["operation"]["function"], stall["operation"]["state"], int(stall["operation"]["bytes"])),
                         ("AllReduce", "outstanding", 32 << 20))
        self.assertEqual([wait["name"] for wait in stall["waits"]], ["the device"])
        self.assertIn("step 19", [one["name"] for one in stall["ranges"]])
        self.assertEqual(hung["processes"][0]["state"], "outstanding")

    def test_the_rank_that_did_not_come(self):
        """Rank 0 waits in its 15th AllReduce, rank 1 ended before it."""
        common = ("--nccl", "new", "--streams", "1")
        job = lambda rank: {**ENV, "RANK": str(rank), "WORLD_SIZE": "2", "LOCAL_RANK": "0"}
        ended = self.play("--steps", "14", *common, env=job(1))
        self.assertEqual(ended.code, 0)
        process = self.start(*FOREVER, "--stall-at", "15", *common, env=job(0))
        self.wait_for_stall(process, "run.rank00000.db")
        process.kill()
        self.finish(process)
        text = " ".join(self.analyze("run.db", "--full").split())
        self.assertTrue(text.startswith("The run hangs at its end: "), text[:200])
        self.assertIn("rank 0: nothing completed on the GPU from", text)
        self.assertIn("blocked in AllReduce number", text)
        self.assertIn("rank 1 did not reach it", text)

    def test_a_killed_rank_and_the_others_that_hang(self):
        """Rank 2 of 4 is killed in its step; the others stand in their 15th AllReduce until they are killed, too."""
        common = ("--nccl", "new", "--streams", "1")
        job = lambda rank: {**ENV, "RANK": str(rank), "WORLD_SIZE": "4", "LOCAL_RANK": str(rank)}
        dead = self.start("--steps", "14", "--exit", "wait", *common, env=job(2))
        self.wait_for_recording(dead, "run.rank00002.db")
        dead.kill()
        self.finish(dead)
        waiting = [self.start(*FOREVER, "--stall-at", "15", *common, env=job(rank)) for rank in (0, 1, 3)]
        for rank, process in zip((0, 1, 3), waiting):
            self.wait_for_stall(process, f"run.rank{rank:05}.db")
        for process in waiting:
            process.kill()
            self.finish(process)
        text = " ".join(self.analyze("ranks", "run.db").split())
        self.assertRegex(text, r"hang: ranks 0-1, 3 hang in AllReduce #\d+ of 33\.55 MB on communicator 0x\w+; rank 2 never entered it\.")
        self.assertRegex(text, r"the recording of rank 2 \(.+\) ended abruptly .+ before those of the waiting ranks")
        # The same from summaries, as on nodes that do not see each other's files.
        for rank in range(4):
            subprocess.run([harness.BUILD / "bin" / "analyze", "summarize", f"run.rank{rank:05}.db", "-o", f"{rank}.summary"],
                           cwd=self.folder, check=True, stderr=subprocess.DEVNULL, timeout=60)
        self.assertEqual(self.analyze("combine", *(f"{rank}.summary" for rank in range(4))), self.analyze("ranks", "run.db"))

    def test_waits_for_streams_and_events(self):
        for sync, detail in (("stream", 4), ("event", 3)):
            with self.subTest(sync=sync):
                recording, _ = self.hang_and_kill("--stall-at", "10", "--sync", sync, "--streams", "1",
                                                  env={"TRACEINJECT_OUTPUT": "run.db"})
                self.assertEqual(recording.rows("SELECT kind, detail FROM host_span"), [(3, detail)])
                (self.folder / "run.db").unlink()
                for rest in self.folder.glob("run.db-*"):
                    rest.unlink()

    def test_nothing_ever_completes(self):
        """The file appears with the first record of a GPU, of which there is none."""
        recording, _ = self.hang_and_kill("--stall-at", "1", "--kernels", "0")
        self.assertEqual(recording.kernels(), [])
        ((_, dur),) = self.stalls(recording)
        self.assertIsNone(dur)

    def test_without_a_call_that_is_seen_to_wait(self):
        """The program only sleeps, with a kernel outstanding: what CUPTI holds is asked for."""
        process = self.start("--steps", "5", "--stall-at", "5", "--sync", "none", "--exit", "wait", env=ENV)
        self.wait_for_stall(process)
        process.kill()
        self.finish(process)
        self.assertEqual(self.open().rows("SELECT count(*) FROM host_span"), [(0,)])

    def test_how_long_it_stands_still(self):
        self.hang_and_kill("--stall-at", "20", "--sync", "device", after_s=3)
        (stall,) = self.report("run.db")["stalls"]
        self.assertGreater(int(stall["length_ns"]), 3_500_000_000, "up to the kill, and not to when it was noticed")

    def test_where_cupti_does_not_answer(self):
        """As where a thread of the program holds a lock of CUDA until the GPU is idle, which it never is."""
        for waits in (("--sync", "device"), ()):
            with self.subTest(waits=waits):
                recording, _ = self.hang_and_kill("--stall-at", "20", "--nvtx", *waits, after_s=2,
                                                  env={"TRACEINJECT_STALL": "3s", "FAKE_CUPTI_FLUSH_HANG": "10"})
                (stall,) = self.report("run.db")["stalls"]
                self.assertGreater(int(stall["length_ns"]), 4_500_000_000, "up to the kill, nearly")
                self.assertEqual((recording.count("cupti", "unanswered"), recording.count("gpu", "stalls")), (1, 1))
                ((start, dur),) = self.stalls(recording)
                self.assertIsNone(dur)
                self.assertGreater(len(recording.kernels()), 10)
                self.assertIn("CUPTI does not respond", recording.health()["gpu", "stalls"][1])
                text = " ".join(self.analyze("run.db", "--full").split())
                self.assertTrue(text.startswith("The run may hang at its end: of 1 process nothing is known"), text[:200])
                self.assertIn("nothing is known to have completed on the GPU", text)
                self.assertIn("CUPTI did not respond", text)
                self.assertIn('open NVTX ranges: "step 19"', text)
                recording.close()
                for path in self.folder.glob("run.db*"):
                    path.unlink()

    def test_where_cupti_does_not_answer_at_the_end_of_a_window(self):
        """In which the stall has not lasted long enough to be one."""
        env = {"TRACEINJECT_STALL": "5s", "TRACEINJECT_WINDOW": "seconds:0-2", "FAKE_CUPTI_DISABLE_HANG": "1"}
        recording, _ = self.hang_and_kill("--stall-at", "20", "--sync", "device", env=env)
        self.assertEqual((recording.count("cupti", "unanswered"), recording.count("gpu", "stalls")), (1, 1))

    def test_where_the_file_system_of_the_trigger_does_not_answer_either(self):
        recording, _ = self.hang_and_kill("--stall-at", "250", "--sync", "device", beside=["fail_files"], env={
            "TRACEINJECT_STALL": "2s", "TRACEINJECT_WINDOW": "seconds:0-1000", "FAKE_CUPTI_FLUSH_HANG": "25",
            "FAIL_FILES_PATH": ".trigger", "FAIL_FILES_CALLS": "look", "FAIL_FILES_STALL_MS": "100000"})
        self.assertEqual((recording.count("cupti", "unanswered"), recording.count("gpu", "stalls")), (1, 1))

    def test_events_go_on_where_cupti_never_answers_once(self):
        process = self.start(*FOREVER, "--nvtx", env={**ENV, "FAKE_CUPTI_FLUSH_HANG": "1"})
        deadline = time.monotonic() + harness.LIMIT_S - 10
        steps = 0
        while steps < 200 and time.monotonic() < deadline:
            with contextlib.suppress(sqlite3.OperationalError, KeyError):
                recording = harness.Recording(self.folder / "run.db")
                ((steps,),) = recording.rows("SELECT count(*) FROM nvtx")
                recording.close()
            time.sleep(0.05)
        process.kill()
        self.finish(process)
        recording = self.open()
        self.assertGreaterEqual(steps, 200)
        self.assertEqual((recording.integrity(), recording.count("cupti", "unanswered"), self.stalls(recording)), ("ok", 1, []))

    def test_where_cupti_never_answers_the_file_keeps_its_size(self):
        process = self.start("--steps", "-1", "--step-us", "100", "--nvtx", env={**ENV, "FAKE_CUPTI_FLUSH_HANG": "1", "TRACEINJECT_MAX_SIZE": "1M"})
        deadline = time.monotonic() + harness.LIMIT_S - 10
        while time.monotonic() < deadline and sum(path.stat().st_size for path in self.folder.glob("run.db")) < 1 << 20:
            time.sleep(0.05)
        time.sleep(5)
        process.kill()
        self.finish(process)
        recording = self.open()
        self.assertEqual(recording.integrity(), "ok")
        ((size,),) = recording.rows("SELECT page_count * page_size FROM pragma_page_count, pragma_page_size")
        self.assertGreater(size, 1 << 20)
        self.assertLess(size, 8 << 20, "of what came before it was full, much is stored at once")
        self.assertGreater(recording.count("nvtx", "dropped"), 1000)

    def test_a_long_kernel_is_told_and_its_end_too(self):
        ended = self.play("--steps", "8", "--stall-at", "4", "--stall-ms", "4000", env=ENV)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        recording, truth = self.open(), self.truth(ended)
        ((start, dur),) = self.stalls(recording)
        long = max(truth.kernels(), key=lambda kernel: kernel.end - kernel.start)
        after = [kernel for kernel in truth.kernels() if kernel.start >= long.end]
        self.assertEqual(recording.base + start + dur, min(kernel.start for kernel in after))
        self.assertLessEqual(set(after), set(recording.kernels()))
        (stall,) = self.report("run.db")["stalls"]
        self.assertNotIn("hangs at its end", self.analyze("run.db", "--full"))
        self.assertEqual(int(stall["length_ns"]), dur)
        self.assertNotIn("outstanding_launches", stall)

    def test_a_program_that_idles_is_none(self):
        for options in (("--exit", "wait"), ("--nvtx", "--exit", "wait")):
            with self.subTest(options=options):
                process = self.start("--steps", "5", *options, env={**ENV, "TRACEINJECT_LOG": "log.txt"})
                self.wait_for_kernels(process, 50)
                time.sleep(3)  # no event tells that nothing was noticed
                process.kill()
                self.finish(process)
                recording = self.open()
                self.assertEqual(self.stalls(recording), [])
                self.assertEqual(recording.count("gpu", "stalls"), 0)
                recording.close()
                for file in self.folder.glob("run.db*"):
                    file.unlink()

    def test_off(self):
        process = self.start(*FOREVER, "--stall-at", "100", env={**ENV, "TRACEINJECT_STALL": "0"})
        self.wait_for_kernels(process, 200)
        time.sleep(3)
        process.kill()
        self.finish(process)
        self.assertEqual(self.stalls(self.open()), [])


if __name__ == "__main__":
    harness.main()
