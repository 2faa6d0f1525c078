# SPDX-License-Identifier: Apache-2.0
"""Faults around a recorded program, each played without and with the library: output and exit code are the same, nothing
hangs, what was recorded is sound, and what was lost is counted. table.py lists them, with those that other tests play.

TRACEINJECT_CHURN: short threads of one test (10000; 100000 with TRACEINJECT_LONG=1). TRACEINJECT_STALL_S: seconds for which a
disk stalls (1; 30 with TRACEINJECT_LONG=1). TRACEINJECT_PROCESSES: processes at once (64).
"""

import errno
import os
import pathlib
import shutil
import signal
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "end_to_end"))
import harness  # noqa: E402

LONG = os.environ.get("TRACEINJECT_LONG") == "1"
CHURN = int(os.environ.get("TRACEINJECT_CHURN") or (100_000 if LONG else 10_000))
STALL_S = int(os.environ.get("TRACEINJECT_STALL_S") or (30 if LONG else 1))
PROCESSES = int(os.environ.get("TRACEINJECT_PROCESSES") or 64)
FAST_FLUSH = {"TRACEINJECT_FLUSH_MS": "50"}
WORK = ["--steps", "5", "--memcpy", "--memset", "--nvtx", "--events"]
# Some three seconds.
LONGER = ["--steps", "150", "--step-us", "20000", "--nvtx", "--events", "--exit", "exit:3"]
PLAYER = harness.FAKE_GPU / "cuda13" / "fake_train"


class Faults(harness.TestCase):
    def assert_unharmed(self, ended, code=3, stdout="trained\n"):
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (code, stdout, ""))

    def open_sound(self, ended, name="run.db"):
        """A recording that is intact and made nothing up."""
        recording = self.open(name)
        self.assertEqual(recording.integrity(), "ok")
        if ended.truth_path.exists():
            self.assertEqual(set(recording.kernels()) - set(self.truth(ended).kernels()), set())
        return recording

    def assert_complete(self, ended, name="run.db"):
        recording = self.open_sound(ended, name)
        self.assert_gpu_work(recording, self.truth(ended))
        self.assert_nothing_lost(recording)
        self.assertEqual(recording.meta.get("closed"), 1)
        return recording

    def assert_all_accounted_for(self, recording):
        for source in ("kernel", "memcpy", "sync"):
            self.assertEqual(recording.count(source, "seen"), recording.count(source, "stored") + recording.count(source, "dropped"),
                             source)
        self.assertEqual(recording.rows("SELECT count(*) FROM kernel"), [(recording.count("kernel", "stored"),)])

    def remove_recordings(self):
        for path in [*self.folder.glob("run.db*"), *self.temporary.iterdir()]:
            path.unlink()

    def open_reason(self):
        """What was left where temporary files belong, because the recording could not be written."""
        recording = self.open("truth.tmp/run.db")
        self.assertEqual((recording.integrity(), recording.kernels()), ("ok", []))
        return recording

    def play_program(self, *arguments, **how):
        return self.play_both(command=[sys.executable, HERE / "programs.py", *arguments], **how)


class Disk(Faults):
    def failing(self, error, calls="write", path="run.db", when=None, **more):
        """The environment in which calls on files of the recording's own folder fail."""
        return {**FAST_FLUSH, "FAIL_FILES_PATH": f"{self.folder}/{path}", "FAIL_FILES_CALLS": calls, "FAIL_FILES_ERROR": str(int(error)),
                **({"FAIL_FILES_WHEN": str(when)} if when else {}), **more}

    def play_failing_from_the_middle(self, error, flags=LONGER, **more):
        """Returns the end of a program whose recording cannot be written from a moment on."""
        when = self.folder / "truth.when"
        process = self.start(*flags, beside=["fail_files"], env=self.failing(error, when=when, **more))
        self.wait_for_kernels(process, 50)
        when.touch()
        ended = self.finish(process)
        when.unlink()
        self.assert_unharmed(ended)
        return ended

    def test_disk_is_full_for_a_while(self):
        for error in (errno.ENOSPC, errno.EDQUOT):
            with self.subTest(error=errno.errorcode[error]):
                recording = self.open_sound(self.play_failing_from_the_middle(error, FAIL_FILES_TIMES="5"))
                self.assertGreater(recording.count("writer", "errors"), 0)
                self.assertGreater(recording.count("kernel", "dropped"), 0)
                self.assert_all_accounted_for(recording)
                self.assertEqual(recording.meta.get("closed"), 1)
                recording.close()
                self.remove_recordings()

    def test_disk_stays_full(self):
        for error, words in ((errno.ENOSPC, "full"), (errno.EDQUOT, "I/O"), (errno.EROFS, "I/O")):
            with self.subTest(error=errno.errorcode[error]):
                ended = self.play_failing_from_the_middle(error)
                recording, reason = self.open_sound(ended), self.open_reason()
                self.assertNotIn("closed", recording.meta)
                value, detail = reason.health()["writer", "errors"]
                self.assertGreater(value, 0)
                self.assertIn(words, detail)
                self.assertEqual(reason.count("kernel", "stored"), len(recording.kernels()))
                self.assertEqual(reason.count("kernel", "stored") + reason.count("kernel", "dropped"), len(self.truth(ended).kernels()))
                for opened in (recording, reason):
                    opened.close()
                self.remove_recordings()

    def test_disk_cannot_sync(self):
        """From the beginning, as on some file systems, and from the middle, where the log is copied back all the time."""
        ended = self.play_both(*WORK, "--exit", "exit:3", beside=["fail_files"], env=self.failing(errno.EINVAL, "sync"))
        self.assert_unharmed(ended)
        self.assert_complete(ended).close()
        self.remove_recordings()
        ended = self.play_failing_from_the_middle(errno.EIO, [*LONGER, "--kernels", "100"], calls="sync", TRACEINJECT_KEEP_LAST="1",
                                                  TRACEINJECT_MAX_SIZE="16M")
        self.assert_complete(ended)

    def test_disk_syncs_slowly(self):
        """As beside a large checkpoint of the training: the program's end does not wait for the disk."""
        count = self.folder / "truth.syncs"
        ended = self.play(*LONGER, beside=["fail_files"], env=self.failing(0, "sync", FAIL_FILES_STALL_MS="400", FAIL_FILES_COUNT=str(count)))
        self.assert_complete(ended)
        # Two when the file is made, one of the log, or two on a slow machine.
        self.assertIn(len(count.read_text()), (3, 4), "two more at the end")

    def test_no_file_can_be_made(self):
        for error, calls in ((errno.ENOSPC, "write"), (errno.ENOSPC, "open"), (errno.EROFS, "open"), (errno.EACCES, "open"),
                             (errno.EDQUOT, "open,write")):
            with self.subTest(error=errno.errorcode[error], calls=calls):
                ended = self.play_both(*WORK, "--exit", "exit:3", beside=["fail_files"], env=self.failing(error, calls))
                self.assert_unharmed(ended)
                self.assertEqual(self.files(), [])
                reason = self.open_reason()
                self.assertIn("run.db", reason.health()["start", "failed"][1])
                dropped, kernels = reason.count("kernel", "dropped"), len(self.truth(ended).kernels())
                # Nothing is asked of CUPTI once the reason is told, which a slow program outlives.
                self.assertTrue(0 < dropped <= kernels if harness.RUNTIME else dropped == kernels, (dropped, kernels))
                reason.close()
                self.remove_recordings()

    def test_log_beside_the_file_cannot_be_made(self):
        # As where the number of files is limited: the file itself is there.
        ended = self.play_both(*WORK, "--exit", "exit:3", beside=["fail_files"], env=self.failing(errno.ENOSPC, "open", path="run.db-"))
        self.assert_unharmed(ended)
        self.assertEqual(self.files(), [])
        self.assertIn("run.db", self.open_reason().health()["start", "failed"][1])

    def test_small_file_system(self):
        """A real one of 300 KB: memory that is mapped from a file of it must not be touched beyond what there is room for."""
        small = self.folder / "truth.small"
        small.mkdir()
        script = (f"mount -t tmpfs -o size=300k none {small} || exit 77; \"$@\"; code=$?; cp {small}/* {self.folder}; exit $code")
        command = ["unshare", "--map-root-user", "--mount", "sh", "-c", script, "small", PLAYER, "--steps", "200", "--kernels", "50",
                   "--kernel-us", "5", "--step-us", "5000", "--exit", "exit:3"]
        ended = self.play(command=command, env={**FAST_FLUSH, "TRACEINJECT_OUTPUT": str(small / "run.db")})
        if ended.code in (1, 77):
            self.skipTest(f"no file system can be mounted here: {ended.stderr}")
        self.assert_unharmed(ended)
        recording = harness.Recording.open_killed(self.folder / "run.db")
        self.addCleanup(recording.close)
        self.assertEqual(recording.integrity(), "ok")
        # There may be room for the counters, where there was none for the rows.
        told = self.open_reason() if (self.temporary / "run.db").exists() else recording
        self.assertIn("full", told.health()["writer", "errors"][1])
        self.assertGreater(told.count("kernel", "dropped"), 0)

    def test_folder_vanishes(self):
        process = self.start(*LONGER, env={**FAST_FLUSH, "TRACEINJECT_OUTPUT": "truth.out/run.db"})
        self.wait_for_kernels(process, 50, "truth.out/run.db")
        shutil.rmtree(self.folder / "truth.out")
        ended = self.finish(process)
        self.assert_unharmed(ended)
        self.assertFalse((self.folder / "truth.out").exists(), "a removed folder was made anew")
        reason = self.open_reason()
        self.assertIn("removed", reason.health()["writer", "errors"][1])
        self.assertGreater(reason.count("kernel", "dropped"), 0)

    def test_working_folder_vanished_before(self):
        script = f"mkdir truth.gone; cd truth.gone; rmdir ../truth.gone; exec {PLAYER} --exit exit:3"
        ended = self.play_both(command=["bash", "-c", script])
        self.assert_unharmed(ended)
        self.assertIn("working directory", self.open_reason().health()["start", "failed"][1])

    def play_slow(self, *flags, stall_s=STALL_S, **env):
        """One write stalls, in the middle of a program that lasts longer."""
        ended = self.play_failing_from_the_middle(0, [*flags, "--exit", "exit:3"], FAIL_FILES_TIMES="1",
                                                  FAIL_FILES_STALL_MS=str(stall_s * 1000), **env)
        recording = self.open_sound(ended)
        self.assert_all_accounted_for(recording)
        self.assertGreaterEqual(recording.count("writer", "flush_max_us"), stall_s * 1_000_000, "nothing was slow")
        self.assertEqual(recording.meta.get("closed"), 1)
        return ended, recording

    def test_slow_disk(self):
        ended, recording = self.play_slow("--steps", str(50 * (STALL_S + 2)), "--step-us", "20000", "--events", "--memcpy")
        self.assert_gpu_work(recording, self.truth(ended))
        self.assert_nothing_lost(recording)

    def test_slow_disk_below_more_than_the_queues_hold(self):
        stall_s = max(STALL_S, 4)  # on busy processors, a quarter of the steps are made in time
        steps = 1000 * (stall_s + 2)  # without the truth, which would slow them down
        _, recording = self.play_slow("--steps", str(steps), "--step-us", "1000", "--kernels", "300", "--kernel-us", "1", "--events",
                                      stall_s=stall_s, TRACEINJECT_BUFFERS="16M", FAKE_GPU_TRUTH="")
        self.assertGreater(recording.count("buffers", "exhausted"), 0, "the queues held everything")
        # Records of calls are dropped, too.
        self.assertGreaterEqual(recording.count("cupti", "dropped"), steps * 301 - recording.count("kernel", "seen"))

    def test_disk_that_stalls_at_the_end(self):
        for how in ("exit:3", "_exit:3"):
            with self.subTest(how=how):
                begin = time.monotonic()
                ended = self.play(*WORK, "--exit", how, beside=["fail_files"], env=self.failing(
                    0, FAIL_FILES_STALL_MS="50000", TRACEINJECT_EXIT_MS="300"))
                self.assert_unharmed(ended)
                self.assertLess(time.monotonic() - begin, 30, "the end was not bounded by TRACEINJECT_EXIT_MS")
                self.remove_recordings()

    def test_calls_that_are_interrupted(self):
        """Every third call on the file fails with EINTR, as under a storm of signals."""
        ended = self.play_both(*WORK, "--exit", "exit:3", beside=["fail_files"],
                               env=self.failing(errno.EINTR, "open,write", FAIL_FILES_EVERY="3"))
        self.assert_unharmed(ended)
        self.assert_complete(ended)

    def test_ten_thousand_older_files(self):
        for number in range(10_000):
            (self.folder / f"run.db{f'.{number}' if number else ''}").touch()
        ended = self.play(*WORK, "--exit", "exit:3")
        self.assert_unharmed(ended)
        self.assert_complete(ended)
        self.assertEqual(len(self.files()), 10_001)
        self.assertEqual((self.folder / "run.db.10000").stat().st_size, 0)


class Limits(Faults):
    def address_space_of_the_player(self, flags):
        """Bytes that it takes at most, without the library."""
        process = self.start(*flags, "--exit", "wait", preload=False)
        while process.stdout.readline() != "ready\n":
            pass
        status = pathlib.Path(f"/proc/{process.pid}/status").read_text()
        process.kill()
        self.finish(process)
        return int(status.split("VmPeak:")[1].split()[0]) << 10

    def play_below_a_limit(self, more_mb, **env):
        """With so many megabytes of addresses more than the player needs alone."""
        flags = ["--steps", "60", "--kernels", "50", "--step-us", "5000", "--nvtx", "--events"]
        limit = self.address_space_of_the_player(flags) + (more_mb << 20)
        command = ["prlimit", f"--as={limit}", PLAYER, *flags, "--exit", "exit:3"]
        ended = self.play_both(command=command, env={**FAST_FLUSH, **env})
        self.assert_unharmed(ended)
        return ended

    @harness.without_sanitizer("it takes terabytes of addresses")
    def test_address_space_without_room_for_a_file(self):
        for more_mb in range(16, 64, 8):
            with self.subTest(more_mb=more_mb):
                log = self.temporary / "log"
                self.play_below_a_limit(more_mb, TRACEINJECT_LOG=str(log))
                self.assertRegex(log.read_text(), r"not recording: the limit of the address space \(ulimit -v\) leaves \d+ MiB")
                log.unlink()
                self.assertEqual((self.files(), list(self.temporary.iterdir())), ([], []))

    @harness.without_sanitizer("it takes terabytes of addresses")
    def test_address_space_without_room_for_the_buffers(self):
        for more_mb in (128, 200, 300):
            with self.subTest(more_mb=more_mb):
                ended = self.play_below_a_limit(more_mb)
                recording = self.open_sound(ended)
                self.assertEqual(recording.kernels(), [])
                times, why = recording.health()["start", "failed"]
                self.assertEqual(times, 1)
                self.assertIn("recording may take 320 MiB: raise it, or lower TRACEINJECT_BUFFERS", why)
                self.remove_recordings()

    @harness.without_sanitizer("it takes terabytes of addresses")
    def test_address_space_with_room(self):
        for more_mb, buffers in ((128, "16M"), (350, ""), (500, "")):
            with self.subTest(more_mb=more_mb, buffers=buffers):
                self.assert_complete(self.play_below_a_limit(more_mb, TRACEINJECT_BUFFERS=buffers))
                self.remove_recordings()

    def test_no_descriptor_for_the_file(self):
        for when in ("first", "later"):
            with self.subTest(taken=when):
                ended = self.play_program("no_descriptor_left", when, env=FAST_FLUSH)
                self.assert_unharmed(ended, 0, "worked True\n")
                if when == "later":
                    recording = self.open_sound(ended)
                    self.assert_gpu_work(recording, self.truth(ended))
                for path in self.folder.glob("run.db*"):
                    path.unlink()

    def test_seccomp_filter_of_a_container(self):
        for error in (errno.ENOSYS, errno.EPERM):
            with self.subTest(error=errno.errorcode[error]):
                ended = self.play_refused("newer", error)
                self.assert_complete(ended)
                (self.folder / "run.db").unlink()

    @harness.without_sanitizer("it makes calls of its own that are refused")
    def test_seccomp_filter_that_allows_no_file(self):
        for error in (errno.ENOSYS, errno.EPERM):
            with self.subTest(error=errno.errorcode[error]):
                self.play_refused("strict", error)
                for path in [*self.folder.glob("*run.db*"), *self.temporary.iterdir()]:
                    path.unlink()

    def play_refused(self, mode, error):
        # The truth is a file, too: in the strict mode there is none.
        command = [harness.BUILD / "faults" / "refuse_calls", mode, str(int(error)), PLAYER, *LONGER]
        env = FAST_FLUSH if mode == "newer" else {**FAST_FLUSH, "FAKE_GPU_TRUTH": ""}
        plain = self.play(command=command, env=env, preload=False)
        if plain.code == 77:
            self.skipTest(plain.stderr)
        self.assert_unharmed(plain)
        ended = self.play(command=command, env=env)
        self.assert_unharmed(ended)
        return ended


class Processes(Faults):
    def test_stopped_and_continued(self):
        process = self.start(*LONGER, env=FAST_FLUSH)
        for _ in range(3):
            self.wait_for_kernels(process, 50)
            os.killpg(process.pid, signal.SIGSTOP)
            time.sleep(0.3)
            os.killpg(process.pid, signal.SIGCONT)
        ended = self.finish(process)
        self.assert_unharmed(ended)
        self.assert_complete(ended)

    def test_thread_that_becomes_another_program(self):
        ended = self.play_program("exec_from_thread", env=FAST_FLUSH)
        self.assert_unharmed(ended, 0, "worked\n")
        first, second = self.open("run.db.1"), self.open_sound(ended)
        self.assertEqual(first.integrity(), "ok")
        self.assertGreater(len(first.memsets()), 10)
        self.assertEqual(len(second.memsets()), 50)
        self.assertEqual(second.meta.get("closed"), 1)

    def test_short_threads(self):
        # Each has a buffer of its own, of which there are 128.
        ended = self.play_both("--churn", str(CHURN), "--steps", "1", "--kernel-us", "1")
        self.assert_unharmed(ended, 0)
        recording = self.open_sound(ended)
        launches = len(self.truth(ended).kernels())
        self.assertGreaterEqual(recording.count("cupti", "dropped"), launches - len(recording.kernels()))
        events = [event for event in recording.nvtx() if event.text == "one launch"]
        lost = CHURN - len(events)  # of a thread without a ring, of which there are so many, both ends of the range
        self.assertEqual((recording.count("rings", "refused"), recording.count("nvtx", "dropped")), (lost, 2 * lost))
        self.assertGreater(len(events), CHURN // 10)
        self.assertEqual(recording.meta.get("closed"), 1)

    def test_child_that_outlives_the_program(self):
        marker = self.folder / "truth.marker"
        try:
            ended = self.play(command=[sys.executable, HERE / "programs.py", "child_that_outlives", marker], env=FAST_FLUSH)
            self.assert_unharmed(ended, 0, "worked\n")
            self.assertEqual(self.files(), ["run.db"])
            first = self.open_sound(ended)
            self.assert_gpu_work(first, self.truth(ended))
            self.assertEqual(first.meta.get("closed"), 1)
            first.close()
            # Its children still live, and hold nothing.
            second = self.play(*WORK)
            self.assertEqual(self.files(), ["run.db", "run.db.1"])
            self.assert_complete(second)
        finally:
            marker.with_suffix(".marker.end").touch()
            marker = str(marker)
        for _ in range(500):
            if all(os.path.exists(marker + leave) and os.path.getsize(marker + leave) for leave in (".fork", ".exec")):
                break
            time.sleep(0.02)
        for leave in (".fork", ".exec"):
            self.assertEqual(pathlib.Path(marker + leave).read_text(), "ended\n")
        self.assertEqual(self.files(), ["run.db", "run.db.1"])
        self.open_sound(ended, "run.db.1")

    def test_many_processes_at_once(self):
        processes = [self.start(*WORK, "--step-us", "100000", "--exit", "exit:3", env=FAST_FLUSH) for _ in range(PROCESSES)]
        ends = {process.pid: self.finish(process) for process in processes}
        for ended in ends.values():
            self.assert_unharmed(ended)
        files = [name for name in self.files() if not name.startswith(".")]
        self.assertEqual(len(files), PROCESSES)
        for name in files:
            recording = self.open(name)
            ended = ends.pop(recording.rows("SELECT pid FROM process")[0][0])
            self.assert_complete(ended, name)
            recording.close()
        self.assertEqual(ends, {})

    def test_clock_is_set(self):
        # By more the fake GPU, whose work has its times on this clock, would not be done for so long.
        for seconds in (3600, -1):
            with self.subTest(seconds=seconds):
                when = self.folder / "truth.when"
                process = self.start(*LONGER, beside=["step_clock"],
                                     env={**FAST_FLUSH, "STEP_CLOCK_WHEN": str(when), "STEP_CLOCK_S": str(seconds)})
                self.wait_for_kernels(process, 100)
                when.touch()
                ended = self.finish(process)
                when.unlink()
                self.assert_unharmed(ended)
                recording = self.assert_complete(ended)
                ahead = [realtime - monotonic for realtime, monotonic in recording.rows("SELECT realtime, monotonic FROM clock_pair")]
                self.assertAlmostEqual((ahead[-1] - ahead[0]) / 1e9, seconds, places=1)
                (self.folder / "run.db").unlink()

    def test_storm_of_signals(self):
        ended = self.play_program("signal_storm", env=FAST_FLUSH)
        self.assert_unharmed(ended, 0, "worked True\n")
        self.assert_complete(ended)


class Libraries(Faults):
    def test_libraries_are_closed(self):
        ended = self.play_program("close_libraries", env=FAST_FLUSH)
        self.assert_unharmed(ended, 0, "worked\n")
        self.assert_complete(ended)

    def test_wrong_cupti(self):
        # Another library under its name.
        wrong = self.folder / "truth.libcupti.so.13"
        shutil.copy(harness.FAKE_GPU / "cuda13" / "libnvidia-ml.so.1", wrong)
        ended = self.play_both(*WORK, "--exit", "exit:3", env={"TRACEINJECT_CUPTI": str(wrong)})
        self.assert_unharmed(ended)
        self.assertIn("has no function cupti", self.open_sound(ended).health()["start", "failed"][1])
        (self.folder / "run.db").unlink()
        # No library at all: the next place is asked.
        wrong.write_text("no library")
        ended = self.play(*WORK, "--exit", "exit:3", env={"TRACEINJECT_CUPTI": str(wrong)})
        self.assert_unharmed(ended)
        self.assert_complete(ended)


# Functions of CUPTI that are used while it records. Those that serve the wrappers are asked on the program's threads.
RECORDING_CALLS = ("cuptiActivityFlushAll", "cuptiActivityGetNextRecord", "cuptiActivityGetNumDroppedRecords", "cuptiGetTimestamp",
                   "cuptiSetThreadIdType")
STARTING_CALLS = ("cuptiActivityRegisterCallbacks", "cuptiActivityEnable,cuptiActivityEnableRuntimeApi,cuptiActivityEnableDriverApi", "all")
OTHER_CALLS = ("cuptiGetVersion", "cuptiGetStreamIdEx", "cuptiGetContextId", "cuptiGetDeviceId", "cuptiActivityDisable",
               "cuptiGetResultString")


class Cupti(Faults):
    def play_failing(self, **env):
        ended = self.play_both(*WORK, "--step-us", "50000", "--exit", "exit:3", env={**FAST_FLUSH, **env})
        self.assert_unharmed(ended)
        recording = self.open_sound(ended)
        self.assertEqual(recording.meta.get("closed"), 1)
        (self.folder / "run.db").unlink()
        return ended, recording

    def test_nothing_can_be_started(self):
        for calls in STARTING_CALLS:
            with self.subTest(calls=calls):
                _, recording = self.play_failing(FAKE_CUPTI_FAIL=calls)
                self.assertIn("rejected", recording.health()["start", "failed"][1])
                self.assertEqual(recording.kernels(), [])

    def test_calls_fail_while_it_records(self):
        for call in RECORDING_CALLS:
            for first in (1, 3):
                if (call, first) == ("cuptiSetThreadIdType", 3):
                    continue
                with self.subTest(call=call, first=first):
                    _, recording = self.play_failing(FAKE_CUPTI_FAIL=f"{call}:{first}")
                    value, detail = recording.health()["cupti", "errors"]
                    self.assertGreater(value, 0)
                    self.assertIn(f"{call}: CUPTI_ERROR_UNKNOWN", detail)

    def test_everything_fails_from_the_middle(self):
        for first in (2, 5, 20):
            with self.subTest(first=first):
                self.play_failing(FAKE_CUPTI_FAIL=f"all:{first}")

    def test_calls_without_which_recording_goes_on(self):
        for call in OTHER_CALLS:
            with self.subTest(call=call):
                ended, recording = self.play_failing(FAKE_CUPTI_FAIL=call)
                self.assert_gpu_work(recording, self.truth(ended))

    def test_one_kind_and_some_calls_are_refused(self):
        ended, recording = self.play_failing(FAKE_CUPTI_FAIL="cuptiActivityEnable:4,cuptiActivityEnableRuntimeApi:3")
        self.assert_same(recording.kernels(), self.truth(ended).kernels())
        self.assertIn("CUPTI_ERROR_UNKNOWN", recording.health()["start", "disabled_source"][1])

    def test_flush_that_never_returns_is_told(self):
        begin = time.monotonic()
        ended = self.play(*WORK, "--exit", "exit:3", env={"FAKE_CUPTI_FLUSH_HANG": "1", "TRACEINJECT_EXIT_MS": "4000"})
        self.assert_unharmed(ended)
        self.assertLess(time.monotonic() - begin, 30, "the end was not bounded by TRACEINJECT_EXIT_MS")
        self.assertIn("cuptiActivityFlushAll does not return", self.open_sound(ended).health()["start", "failed"][1])
        (self.folder / "run.db").unlink()
        # Without GPU work there is nothing to tell.
        ended = self.play("--init-only", env={"FAKE_CUPTI_FLUSH_HANG": "1", "TRACEINJECT_EXIT_MS": "400"})
        self.assertEqual((ended.code, self.files()), (0, []))

    def test_null_buffers(self):
        for every in (1, 2):
            with self.subTest(every=every):
                _, recording = self.play_failing(FAKE_CUPTI_NULL_BUFFERS=str(every))
                self.assertGreater(recording.count("buffers", "damaged"), 0)

    def test_truncated_buffers(self):
        for cut in (1, 8, 50, 200, 500):
            with self.subTest(bytes=cut):
                ended, recording = self.play_failing(FAKE_CUPTI_TRUNCATE=str(cut))
                self.assertLess(len(recording.kernels()) + len(recording.calls()),
                                len(self.truth(ended).kernels()) + len(self.truth(ended).recorded_calls()))
                # Where the cut is between two records nobody can tell.
                if cut < 40:
                    self.assertGreater(recording.count("buffers", "damaged"), 0)


if __name__ == "__main__":
    harness.main()
