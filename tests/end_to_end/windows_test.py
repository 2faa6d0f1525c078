# SPDX-License-Identifier: Apache-2.0
"""TRACEINJECT_WINDOW and analyze trigger: outside a window nothing is recorded, inside it everything, and the file says which is which."""

import collections
import json
import os
import subprocess
import sys
import time

import harness
import python_test

STEP_US = 40_000


class Windows(python_test.Program):
    OPTIONS = {}

    def play_steps(self, count, env, meanwhile=None):
        """The time around each step, and the recording."""
        process = self.start(command=[sys.executable, str(python_test.HERE / "train_python.py"), "--scene", "windows", "--items", str(count),
                                      "--item-us", str(STEP_US)],
                             env={**harness.STAND_IN, "TRACEINJECT_FLUSH_MS": "100", **self.OPTIONS, **env})
        if meanwhile is not None:
            meanwhile(process)
        ended = self.finish(process)
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.check_calls(ended)
        return [tuple(times) for times in json.loads(ended.stdout)["times"]]

    def check_calls(self, ended):
        """CUPTI comes into the process once, and stays."""
        self.assertEqual(len(self.truth(ended).of("cupti")), 1)

    def gaps(self, recording):
        return [(recording.base + start, None if dur is None else recording.base + start + dur) for start, dur in
                recording.rows("SELECT start, dur FROM capture_gap WHERE reason = 'window' ORDER BY start")]

    def assert_recorded_outside_gaps(self, recording, times):
        """The numbers of the steps that were recorded: all that lie outside the gaps, and none that lies inside one."""
        gaps = self.gaps(recording)
        recorded = {size for (size,) in recording.rows("SELECT bytes FROM memset") if size <= len(times)}
        for number, (start, end) in enumerate(times, 1):
            if all(end < begin or (until is not None and start > until) for begin, until in gaps):
                self.assertIn(number, recorded)
            if any(start > begin and (until is None or end < until) for begin, until in gaps):
                self.assertNotIn(number, recorded)
        self.assertEqual(recording.integrity(), "ok")
        self.check_calls_of_work(recording)
        return recorded

    def check_calls_of_work(self, recording):
        """Also where the program had initialised CUDA long before."""
        self.assertEqual(recording.without_call("memset"), 0)

    def test_steps(self):
        times = self.play_steps(40, {"TRACEINJECT_WINDOW": "steps:10-14"})
        recording = self.open()
        recorded = self.assert_recorded_outside_gaps(recording, times)
        self.assertLessEqual(set(range(10, 15)), recorded)
        self.assertNotIn(1, recorded)
        self.assertNotIn(40, recorded)
        gaps = self.gaps(recording)
        self.assertEqual(len(gaps), 2, "before and after")
        self.assertIsNone(gaps[1][1], "to the end")
        self.assertEqual(recording.rows("SELECT count(*) FROM step_mark"), [(40,)], "steps are told at any time")

    def test_some_of_every_so_many_steps(self):
        times = self.play_steps(60, {"TRACEINJECT_WINDOW": "every:20:2"})
        recording = self.open()
        recorded = self.assert_recorded_outside_gaps(recording, times)
        self.assertLessEqual({19, 20, 39, 40, 59, 60}, recorded)
        self.assertLess(len(recorded), 40)
        self.assertEqual(len(self.gaps(recording)), 3 + (self.gaps(recording)[-1][1] is None))

    def test_steps_without_a_pause_are_all_recorded(self):
        times = self.play_steps(20, {"TRACEINJECT_WINDOW": "all"})
        recording = self.open()
        self.assertEqual(self.assert_recorded_outside_gaps(recording, times), set(range(1, 21)))
        self.assertEqual(self.gaps(recording), [])

    def test_size_that_is_reached_in_a_window(self):
        """Recording ends there for good: no later window opens, and the program goes on."""
        times = self.play_steps(100, {"TRACEINJECT_WINDOW": "every:40:30", "TRACEINJECT_MAX_SIZE": "64K"})
        recording = self.open()
        reasons = recording.rows("SELECT reason, dur IS NULL FROM capture_gap ORDER BY start")
        self.assertEqual(reasons, [("window", 0), ("max_size", 1)])
        self.assertEqual((recording.count("file", "max_size"), recording.meta["closed"], recording.integrity()), (1, 1, "ok"))
        recorded = {size for (size,) in recording.rows("SELECT bytes FROM memset")}
        self.assertGreater(len(recorded), 0)
        self.assertLess(max(recorded), 41)
        self.assertEqual(len(times), 100)

    def trigger(self, *arguments):
        done = subprocess.run([harness.BUILD / "bin" / "analyze", "trigger", *arguments], cwd=self.folder, capture_output=True, text=True,
                              timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def wait_for(self, condition):
        deadline = time.monotonic() + 50
        while time.monotonic() < deadline:
            if condition():
                return
            time.sleep(0.05)
        self.fail("it never came")

    def test_trigger(self):
        log = self.folder / "log.txt"
        said = lambda text, count=1: lambda: log.exists() and log.read_text().count(text) >= count

        def meanwhile(process):
            self.wait_for(said("recording with"))
            time.sleep(0.5)
            self.assertFalse((self.folder / "run.db").exists(), "nothing before the trigger")
            self.assertEqual(self.trigger("start"), "run.db.trigger: start\n")
            self.wait_for(said("window opened"))
            self.wait_for(lambda: (self.folder / "run.db").exists())
            self.trigger("stop", "run.db")
            self.wait_for(said("window closed"))
            self.trigger("start", "--for", "300ms")
            self.wait_for(said("window opened", 2))
            self.wait_for(said("window closed", 2))

        times = self.play_steps(350, {"TRACEINJECT_WINDOW": "trigger", "TRACEINJECT_LOG": "log.txt"}, meanwhile)
        recording = self.open()
        recorded = self.assert_recorded_outside_gaps(recording, times)
        self.assertEqual(len(self.gaps(recording)), 3)
        self.assertGreater(len(recorded), 0)
        self.assertLess(len(recorded), 350)
        self.assertIn("start until", self.trigger("status"))

    def looks_at_trigger(self, **env):
        """How often a process of five seconds looks at the trigger file."""
        count = self.folder / "truth.looks"
        ended = self.play("--steps", "50", "--step-us", "100000", beside=["fail_files"], env={
            "FAIL_FILES_PATH": ".trigger", "FAIL_FILES_CALLS": "look", "FAIL_FILES_COUNT": str(count), "TRACEINJECT_FLUSH_MS": "50",
            "TRACEINJECT_OUTPUT": f"run{len(self.files())}.db", **self.OPTIONS, **env})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        looks = len(count.read_text()) if count.exists() else 0
        count.unlink(missing_ok=True)
        return looks

    @harness.without_thread_sanitizer("the program lasts longer")
    def test_the_trigger_is_seldom_looked_at(self):
        """Thousands of ranks may do so at one file system."""
        self.assertLessEqual(self.looks_at_trigger(), 1)
        self.assertIn(self.looks_at_trigger(TRACEINJECT_WINDOW="seconds:0-2"), (1, 2, 3))

    def test_file_system_that_does_not_tell_of_the_trigger(self):
        """What is recorded is written meanwhile."""
        process = self.start("--steps", "-1", "--step-us", "10000", beside=["fail_files"], env={
            "FAIL_FILES_PATH": ".trigger", "FAIL_FILES_CALLS": "look", "FAIL_FILES_STALL_MS": "50000", "TRACEINJECT_FLUSH_MS": "50",
            "TRACEINJECT_WINDOW": "seconds:0-1000", **self.OPTIONS})
        begin = time.monotonic()
        self.wait_for_kernels(process, 10)
        time.sleep(max(0, begin + 3 - time.monotonic()))  # it looked by now
        recording = self.open()
        kernels = len(recording.kernels())
        self.wait_for_kernels(process, kernels + 100)
        process.terminate()
        self.finish(process)

    def test_an_old_trigger_is_not_for_this_run(self):
        (self.folder / "run.db.trigger").write_text("stop\n")
        os.utime(self.folder / "run.db.trigger", (1, 1))
        times = self.play_steps(10, {})
        self.assertEqual(self.assert_recorded_outside_gaps(self.open(), times), set(range(1, 11)))

    @harness.without_thread_sanitizer("what runs at the edge of a window is told as late as the program is slow")
    def test_ranges_and_launches_of_the_player(self):
        """With NVTX, NCCL and threads of a program that is not Python: what ended in the window is there."""
        ended = self.play("--steps", "400", "--step-us", "10000", "--nvtx", "--nccl", "new", "--memcpy", "--events", "--threads", "2",
                          env={"TRACEINJECT_WINDOW": "seconds:1-2", "TRACEINJECT_FLUSH_MS": "100", **self.OPTIONS})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.check_calls(ended)
        recording, truth = self.open(), self.truth(ended)
        (_, opened), (closed, end) = self.gaps(recording)
        self.assertIsNone(end)
        recorded = set(recording.kernels())
        calls = {call.correlation: call for call in truth.recorded_calls()}
        # A thread of the fake GPU may be held up between the end of a kernel and the telling of it, which is in the call that launches it.
        called = {correlation for correlation, call in calls.items() if opened < call.start and call.end < closed}
        due = {kernel for kernel in truth.kernels() if kernel.start > opened and kernel.end < closed and kernel.correlation in called}
        self.assertGreater(len(due), 10)
        self.assertEqual(due - recorded, set())
        self.check_launches(recording, due)
        self.assertEqual({kernel for kernel in recorded if kernel.correlation in calls and calls[kernel.correlation].start > closed}, set(),
                         "launched after it; what was launched before may begin later")
        self.assertEqual({one for one in recording.nvtx() if one.start > closed and one.domain != "NCCL"}, set())
        self.assertGreater(len([one for one in recording.nvtx() if opened < one.start < closed]), 10)
        self.assertEqual(recording.count("start", "disabled_source"), 0)
        self.assertNotEqual(recording.communicators(), [], "made before the window opened")


    def test_threads_that_are_in_a_call_at_the_edge_of_a_window(self):
        """Turned on or off meanwhile, that call would be one that CUPTI takes the thread to be in for ever."""
        ended = self.play("--steps", "140", "--kernel-us", "10000", "--sync", "device", "--memcpy", "--nvtx",
                          env={"TRACEINJECT_WINDOW": "every:2s:1s", "TRACEINJECT_FLUSH_MS": "50", "FAKE_CUPTI_MISCOUNT": "1", **self.OPTIONS})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.check_calls(ended)
        recording = self.open()
        self.assertGreater(len(self.gaps(recording)), 2)
        correlations = [kernel.correlation for kernel in recording.kernels()]
        self.assertGreater(len(correlations), 100)
        self.assertEqual(len(correlations), len(set(correlations)))
        if not self.OPTIONS:  # once CUPTI was left it tells no launches
            self.check_launches(recording, recording.kernels())

    def test_edges_at_which_no_thread_came_by(self):
        """In a step of a second and a half it calls nothing of ours for most of the time."""
        ended = self.play("--steps", "5", "--step-us", "1500000",
                          env={"TRACEINJECT_WINDOW": "every:2s:1s", "TRACEINJECT_FLUSH_MS": "100", **self.OPTIONS})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        recording = self.open()
        self.assertEqual(recording.integrity(), "ok")
        self.assertGreaterEqual(recording.count("cupti", "unsafe_edges"), 2)

    def check_launches(self, recording, kernels):
        self.assertEqual({kernel.correlation for kernel in kernels} - {call.correlation for call in recording.calls()}, set())


class WorkInFlight(harness.TestCase):
    def test_what_runs_long_after_its_launch(self):
        """The GPU is always busy, and the host further and further ahead: a window's work runs after it, and after a window's beginning runs
        what was launched before."""
        ended = self.play("--steps", "100", "--kernels", "100", "--kernel-us", "1000", "--step-us", "40000", "--sync", "none",
                          env={"TRACEINJECT_WINDOW": "every:2s:1s", "TRACEINJECT_FLUSH_MS": "100"})
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        recording = self.open()
        (_, begin), (end, _), *_ = [(recording.base + start, recording.base + start + (dur or 0)) for start, dur in
                                    recording.rows("SELECT start, dur FROM capture_gap ORDER BY start")]
        starts = sorted(kernel.start for kernel in recording.kernels())
        self.assertGreater(starts[0] - begin, 100_000_000)
        self.assertGreater(sum(start > end for start in starts), 100, "recorded as they were launched in the window")
        done = subprocess.run([harness.BUILD / "bin" / "analyze", "run.db", "--format", "json"], cwd=self.folder, capture_output=True, text=True,
                              timeout=60)
        (device,) = json.loads(done.stdout)["devices"]
        self.assertGreater(device["partition"]["busy_share"], 0.95)
        self.assertGreater(int(device["window"]["end_ns"]) - int(device["window"]["start_ns"]), end - begin, "it is whole")


class DetachedBetweenWindows(Windows):
    """The same where CUPTI is left between windows."""

    OPTIONS = {"TRACEINJECT_DETACH": "1", "FAKE_CUPTI_FRAGILE": "1"}

    def check_calls(self, ended):
        """Between windows nothing calls CUPTI: it comes back for the next one, beginning with a look at whether it is free."""
        _, *calls = [line["call"] for line in self.truth(ended).of("cupti")]
        recording = self.open()
        closed = len([end for _, end in self.gaps(recording)]) - (self.gaps(recording)[:1] != [] and self.gaps(recording)[0][0] == recording.base)
        if calls[-1:] == ["cuptiActivityGetNextRecord"]:  # at the end, of a buffer that came back while it was left
            calls.pop()
        left = calls.count("cuptiFinalize")
        self.assertEqual(left, closed + recording.count("file", "max_size"))
        self.assertEqual(calls, (["cuptiFinalize", "cuptiSubscribe"] * left)[:len(calls)])
        self.assertEqual(recording.count("cupti", "detached"), left)
        for counter in ("kept", "errors", "dropped"):
            self.assertEqual(recording.count("cupti", counter), 0)
        recording.close()

    def check_calls_of_work(self, recording):
        """Of the runtime's calls, none is recorded where CUPTI is to be left."""

    @harness.without_thread_sanitizer("calls take so long that those at the edges of windows are not told apart by their times")
    def test_many_windows_beside_launching_threads(self):
        ended = self.play("--steps", "500", "--step-us", "10000", "--threads", "3", "--memcpy", "--memset", "--events", "--sync", "stream",
                          env={"TRACEINJECT_WINDOW": "every:2s:1s", "TRACEINJECT_FLUSH_MS": "50", **self.OPTIONS})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.check_calls(ended)
        recording = self.open()
        self.assertGreater(recording.count("cupti", "detached"), 1)
        self.assertIn("no longer reports launches", recording.health()["start", "disabled_source"][1])
        truth = self.truth(ended)
        assert_windows_are_whole(self, recording, truth, kernels_on=turned_on(truth, CONCURRENT_KERNEL))


CONCURRENT_KERNEL = 10  # a kind of CUPTI's


def turned_on(truth, kind):
    """When the recording of it was."""
    return [line["time"] for line in truth.of("kind") if line["kind"] == kind and line["on"]]


def assert_windows_are_whole(test, recording, truth, edge_ns=0, kernels_on=()):
    """What was launched in a window is there, and of what was launched outside of them nothing. So near an edge nothing is looked at.
    Kinds are turned on one by one, and a gap lasts until all are: beside threads that launch, kernels are there since `kernels_on`."""
    gaps = [(recording.base + start, float("inf") if dur is None else recording.base + start + dur)
            for start, dur in recording.rows("SELECT start, dur FROM capture_gap")]
    launched = {call["correlation"]: (call["start"], call["end"]) for call in truth.of("api")}
    recorded = collections.defaultdict(list)
    for kernel in recording.kernels():
        recorded[kernel.correlation & 0xFFFFFFFF].append(kernel.start)

    def is_recorded(kernel):
        """Correlation ids begin anew each time that CUPTI is left; those that are alike are further apart than a time on another clock is off."""
        return any(abs(start - kernel.start) < 1_000_000 for start in recorded[kernel.correlation & 0xFFFFFFFF])

    inside = 0
    for kernel in truth.kernels():
        begin, end = launched[kernel.correlation]
        if any(abs(begin - edge) < edge_ns for gap in gaps for edge in gap):
            continue
        if not any(begin <= until and end >= since for since, until in gaps):
            inside += 1
            edge = min((abs(begin - edge) for gap in gaps for edge in gap), default=None)
            like = [start - kernel.start for start in recorded[kernel.correlation & 0xFFFFFFFF]]
            test.assertTrue(is_recorded(kernel), f"{kernel}, {edge} ns from an edge; of its correlation, later by: {like}")
        elif any(since < begin and end < min([until, *(on for on in kernels_on if since < on)]) for since, until in gaps):
            test.assertFalse(is_recorded(kernel), kernel)
    test.assertGreater(inside, 10)


if __name__ == "__main__":
    harness.main()
