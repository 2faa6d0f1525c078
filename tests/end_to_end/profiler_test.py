# SPDX-License-Identifier: Apache-2.0
"""Another client of CUPTI in the recorded process, which does what PyTorch's profiler does: it gets what it would get without us, and we
record everything before, during and after."""

import collections
import json
import unittest

import harness

WORK = ["--steps", "12", "--kernels", "20", "--memcpy", "--memset", "--alloc", "--devices", "2", "--peer"]
SESSIONS = "2-3,5-5,7-9"
NEAR_NS = 2_000  # of a time that was brought back from the other client's clock
APART_NS = 1_000_000  # those whose correlation ids are alike are, also where a busy machine reads that clock badly
KERNEL = 10  # CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
KINDS_OF_CALLS = {4, 5}  # of the driver and of the runtime, which may stay on: their calls go off one by one
BAD = {**harness.SHUFFLED, "FAKE_CUPTI_DELAY_MS": "5"}


def told_by_cupti(row):
    """With the 32 bits of the correlation id that CUPTI tells: where it was taken away they may begin anew, and what is above tells them apart."""
    return row._replace(correlation=row.correlation & 0xFFFFFFFF)


class Profile:
    """What the other client got: for each of its sessions, how often each kind of record came."""

    def __init__(self, path):
        self.sessions, self.kernels = [], []
        for line in path.read_text().split("\n")[:-1]:
            record = json.loads(line)
            if record["kind"] == "session":
                self.sessions.append(collections.Counter())
                continue
            self.sessions[-1][record["kind"], record.get("name", record.get("cbid"))] += 1
            if record["kind"] == KERNEL:
                self.kernels.append(record)


class Program(harness.TestCase):
    def profile(self, *flags, preload, cuda="cuda13", sessions=SESSIONS, env=()):
        path = self.folder / f"profile.{'traced' if preload else 'plain'}"
        ended = self.play(*WORK, "--profile", sessions, *flags, preload=preload, cuda=cuda, env={"FAKE_GPU_PROFILE": str(path), **dict(env)})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        return ended, Profile(path)

    def remove_files(self):
        (self.folder / "run.db").unlink()
        for path in self.folder.glob("profile.*"):
            path.unlink()


class OtherClient(Program):
    def assert_near(self, recorded, true):
        """The same rows in the same order by correlation id, with times that differ a little at most."""
        def by_id(rows):
            return sorted(rows, key=lambda row: (row.correlation, row.start))
        recorded, true = by_id(recorded), by_id(true)
        self.assertEqual([row._replace(start=0, end=0) for row in recorded], [row._replace(start=0, end=0) for row in true])
        for ours, theirs in zip(recorded, true):
            self.assertLessEqual(abs(ours.start - theirs.start), NEAR_NS)
            self.assertLessEqual(abs(ours.end - theirs.end), NEAR_NS)

    def assert_complete(self, ended):
        recording, truth = self.open(), self.truth(ended)
        self.assert_near(recording.kernels(), truth.kernels())
        self.assert_near(recording.memcpys(), truth.memcpys())
        self.assert_near(recording.memsets(), truth.memsets())
        self.assertEqual(recording.meta.get("closed"), 1)
        self.assertEqual(recording.integrity(), "ok")
        self.assert_nothing_lost(recording)
        return recording

    def check(self, *flags, plain_env=None, **how):
        plain, alone = self.profile(*flags, preload=False, **{**how, **({"env": plain_env} if plain_env else {})})
        traced, together = self.profile(*flags, preload=True, **how)
        self.assertEqual(len(alone.sessions), 3)
        self.assertGreater(sum(alone.sessions[0].values()), 100)
        self.assertEqual(together.sessions, alone.sessions, "rows that the other client gains or loses")
        recording = self.assert_complete(traced)
        self.assertEqual(recording.count("other_client", "sessions"), 3)
        return recording, together

    def test_both_record_everything(self):
        recording, profile = self.check()
        # The other client's times are its clock's: three ticks a nanosecond.
        ours = {kernel.correlation: kernel for kernel in recording.kernels()}
        for kernel in profile.kernels:
            self.assertAlmostEqual((kernel["end"] - kernel["start"]) / 3, ours[kernel["correlation"]].end - ours[kernel["correlation"]].start,
                                   delta=NEAR_NS)

    def test_both_record_everything_with_another_library_in_front_of_cupti(self):
        front = str(harness.BUILD / "interposers" / "libfirst_cupti.so")
        for libraries in ([str(harness.LIBRARY), front], [front, str(harness.LIBRARY)]):
            with self.subTest(preload=libraries):
                self.check(env={"LD_PRELOAD": " ".join(libraries)}, plain_env={"LD_PRELOAD": front})
                self.remove_files()

    def test_calls_stay_recorded_after_it_turned_its_kinds_off(self):
        traced, profile = self.profile(preload=True)
        recording, truth = self.open(), self.truth(traced)
        def key(call):
            return call.correlation, "launch" if "LaunchKernel" in call.name else call.name
        self.assertEqual(sorted(map(key, recording.calls())), sorted(map(key, truth.recorded_calls())))
        # Where it has the runtime's launches on, CUPTI tells these and not the driver's inside them.
        launches = collections.Counter(call.name for call in recording.calls() if "LaunchKernel" in call.name)
        self.assertEqual(launches["cudaLaunchKernel"], sum(session[5, 211] + session[5, 505] for session in profile.sessions))
        self.assertGreater(launches["cuLaunchKernel"], 0)

    def test_launches_inside_others_that_are_told_all_the_same(self):
        recording, _ = self.check(env={"FAKE_CUPTI_NESTED": "1"})
        launches = [call.correlation for call in recording.calls() if "LaunchKernel" in call.name]
        self.assertEqual(len(launches), len(set(launches)))
        self.assertGreater(recording.count("api", "nested"), 0)

    def test_our_own_calls_are_not_in_its_profile(self):
        # Made at the first flush, for the head of the file, and at each.
        self.check("--step-us", "30000", sessions="1-4,5-6,7-9", env={"TRACEINJECT_FLUSH_MS": "50"})

    def test_flushes_of_ours_before_it_asks_for_its_records(self):
        """PyTorch's does not ask where all of its buffers came back already: its trace would be empty."""
        self.check(env={"FAKE_PROFILER_PAUSE_MS": "300", "TRACEINJECT_FLUSH_MS": "50"})

    def check_windows_before_it_asks(self, *flags, at_least, sessions, **env):
        log = self.folder / "library.log"
        how = {"sessions": sessions, "env": {"TRACEINJECT_LOG": str(log), **env}}
        _, alone = self.profile(*flags, preload=False, **how)
        _, together = self.profile(*flags, preload=True, **how)
        self.assertEqual(together.sessions, alone.sessions)
        self.assertGreaterEqual(log.read_text().count("window closed"), at_least)

    def test_windows_that_end_before_it_asks_for_its_records(self):
        self.check_windows_before_it_asks(sessions="2-3,5-5", at_least=2, FAKE_PROFILER_PAUSE_MS="2100", TRACEINJECT_WINDOW="every:2s:1s")

    def test_buffers_that_come_back_by_themselves_before_it_asks_for_its_records(self):
        """Some time after a flush of ours, with which a window ends."""
        self.check_windows_before_it_asks("--steps", "1", sessions="0-0", at_least=1, TRACEINJECT_WINDOW="seconds:0-1",
                                          FAKE_PROFILER_IDLE_MS="1400", FAKE_CUPTI_DELAY_MS="200")

    def test_windows_that_begin_and_end_while_it_records(self):
        log = self.folder / "library.log"
        how = {"sessions": "3-24,26-50", "env": {"TRACEINJECT_WINDOW": "every:2s:1s", "TRACEINJECT_LOG": str(log)}}
        _, alone = self.profile("--steps", "52", "--step-us", "100000", preload=False, **how)
        traced, together = self.profile("--steps", "52", "--step-us", "100000", preload=True, **how)
        self.assertEqual(together.sessions, alone.sessions)
        self.assertGreaterEqual(log.read_text().count("window opened"), 2)
        recording, true = self.open(), {told_by_cupti(kernel).correlation: kernel for kernel in self.truth(traced).kernels()}
        self.assertGreater(len(recording.kernels()), len(true) / 4)
        self.assertLess(len(recording.kernels()), len(true))

    def test_nothing_of_a_window_is_lost_that_ends_while_it_records(self):
        """CUPTI keeps a buffer until all that it tells of is done: one of the other client's comes back long after the window."""
        env = {"TRACEINJECT_WINDOW": "every:2s:1s", "TRACEINJECT_FLUSH_MS": "50", **BAD}
        traced, _ = self.profile("--steps", "40", "--step-us", "100000", "--kernel-us", "12000", sessions="3-18,20-24,26-38", preload=True, env=env)
        recording = self.open()
        gaps = [(recording.base + start, recording.base + start + dur) for start, dur in recording.rows("SELECT start, coalesce(dur, 1 << 62) FROM capture_gap")]
        inside = [kernel.correlation for kernel in self.truth(traced).kernels() if all(kernel.end < start or kernel.start > end for start, end in gaps)]
        self.assertGreater(len(inside), 100)
        self.assertEqual(set(inside) - {told_by_cupti(kernel).correlation for kernel in recording.kernels()}, set())
        self.assertEqual(recording.without_call("kernel"), 0)

    def test_windows_of_a_gpu_that_is_behind(self):
        """Of its session we take what was launched in our windows, which begin half a second after they are due: no thread passes by."""
        traced, _ = self.profile("--steps", "40", "--step-us", "100000", "--kernel-us", "12000", "--sync", "none", sessions="3-18,20-38",
                                 preload=True, env={"TRACEINJECT_WINDOW": "every:2s:1s"})
        recording, truth = self.open(), self.truth(traced)
        gaps = [(recording.base + start, recording.base + start + dur) for start, dur in recording.rows("SELECT start, coalesce(dur, 1 << 62) FROM capture_gap")]
        recorded = {told_by_cupti(kernel).correlation for kernel in recording.kernels()}
        calls = {told_by_cupti(call).correlation for call in recording.calls()}
        launched = {call["correlation"]: call["start"] for call in truth.of("api") if not call["nested"]}
        in_windows = {kernel.correlation for kernel in truth.kernels()
                      if all(not start - NEAR_NS <= launched[kernel.correlation] <= end + NEAR_NS for start, end in gaps)}
        self.assertGreater(len(in_windows), 300)
        self.assertEqual(in_windows - recorded, set())
        self.assertEqual(recorded - calls, set())
        self.assertEqual({kernel.correlation for kernel in truth.kernels()} & calls - recorded, set())

    def test_every_version_of_cupti(self):
        for cuda in ("cuda12_0", "cuda12"):
            with self.subTest(cuda=cuda):
                self.check(cuda=cuda)
                self.remove_files()

    def test_buffers_that_come_late_and_in_disorder(self):
        self.check(env=BAD)

    def test_buffers_of_which_not_all_is_complete(self):
        for cuda in ("cuda12", "cuda13"):
            with self.subTest(cuda=cuda):
                self.check(cuda=cuda, env={"FAKE_CUPTI_UNFINISHED": "1"})
                self.remove_files()

    def test_another_client_that_leaves_the_clock_alone(self):
        self.check(env={"FAKE_PROFILER_CLOCK": "0"})

    def test_another_client_that_enables_first(self):
        self.check(env={"FAKE_PROFILER_ORDER": "enable"})

    def test_another_client_that_wants_kernels_one_at_a_time(self):
        self.check(env={"FAKE_PROFILER_KERNELS": "serial"})

    def test_copies_stay_recorded_where_only_the_other_client_wants_memsets(self):
        traced, _ = self.profile(preload=True, env={"TRACEINJECT_KINDS": "kernel,memcpy,memcpy2,api"})
        recording, truth = self.open(), self.truth(traced)
        self.assert_near(recording.memcpys(), truth.memcpys())
        self.assertEqual(recording.memsets(), [])

    def test_work_on_other_threads(self):
        # What they launch while a session begins or ends is in it or not: only our side is counted. What is not done yet when the clock is
        # changed or the other client ends with its forced flush is lost, and counted.
        traced, _ = self.profile("--threads", "3", preload=True)
        recording, truth = self.open(), self.truth(traced)
        for source, ours, true in (("kernel", recording.kernels(), truth.kernels()), ("memcpy", recording.memcpys(), truth.memcpys()),
                                   ("memset", recording.memsets(), truth.memsets())):
            stored = {row.correlation for row in ours}
            lost = recording.count(source, "dropped")
            self.assertEqual(len(ours), len(stored))
            self.assertEqual(len(stored) + lost, len(true), source)
            self.assert_near(ours, [row for row in true if row.correlation in stored])

    def test_session_begins_while_work_is_in_flight(self):
        """Launched before it began: ours, although the buffer that it is in has to come back, and not the other client's."""
        self.check("--devices", "1", "--sync", "none", "--kernel-us", "200", sessions="2-3,5-5,7-11")

    def test_process_ends_while_it_records(self):
        traced = self.play(*WORK, "--profile", "2-100", "--exit", "exit:3", env={"FAKE_GPU_PROFILE": str(self.folder / "profile")})
        self.assertEqual((traced.code, traced.stdout, traced.stderr), (3, "trained\n", ""))
        self.assert_complete(traced)

    def assert_missing_only_in(self, recording, truth, gaps):
        recorded = collections.defaultdict(list)
        for kernel in map(told_by_cupti, recording.kernels()):
            recorded[kernel.correlation].append(kernel.start)
        launched = {call["correlation"]: call["start"] for call in truth.of("api") if not call["nested"]}
        for kernel in truth.kernels():
            if not any(abs(start - kernel.start) <= APART_NS for start in recorded[told_by_cupti(kernel).correlation]):
                # One that was launched in a gap may run after it.
                self.assertTrue(any(recording.base + start - NEAR_NS <= time <= recording.base + start + dur + NEAR_NS
                                    for start, dur, _ in gaps for time in (kernel.start, launched[kernel.correlation])),
                                "a kernel is missing outside of the gaps that are told")

    def test_cupti_taken_away_as_the_program_ends(self):
        """The writer is busy from before it until the end of the program: it never comes back, and says since when."""
        ended = self.play("--steps", "20", "--step-us", "20000", "--profile", "10-15", "--profile-finalize", beside=["fail_files"],
                          env={"TRACEINJECT_FLUSH_MS": "50", "FAIL_FILES_PATH": f"{self.folder}/run.db", "FAIL_FILES_CALLS": "write",
                               "FAIL_FILES_STALL_MS": "1500", "FAIL_FILES_TIMES": "1", "FAKE_GPU_PROFILE": str(self.folder / "profile")})
        recording, truth = self.open(), self.truth(ended)
        self.assertLess(len(recording.kernels()), len(truth.kernels()), "it came back in time")
        self.assertEqual(recording.rows("SELECT reason, dur FROM capture_gap"), [("other_client", None)])
        self.assert_missing_only_in(recording, truth, recording.rows("SELECT start, (SELECT end FROM process) - start, reason FROM capture_gap"))

    @harness.without_thread_sanitizer("what runs at the edge of a gap is told as late as the program is slow")
    def test_cupti_taken_away(self):
        traced, profile = self.profile("--step-us", "50000", "--profile-finalize", preload=True, env={"TRACEINJECT_FLUSH_MS": "50"})
        self.assertEqual(len(profile.sessions), 3)
        recording = self.open()
        gaps = recording.rows("SELECT start, dur, reason FROM capture_gap ORDER BY start")
        self.assertEqual([reason for _, _, reason in gaps], ["other_client"] * 3)
        self.assertTrue(all(dur > 0 for _, dur, _ in gaps))
        true = {kernel.correlation: kernel for kernel in self.truth(traced).kernels()}
        recorded = {kernel.correlation: kernel for kernel in recording.kernels()}
        self.assertEqual(len(recorded), len(recording.kernels()), "correlation ids begin anew, and are told apart")
        self.assertEqual([kernel.name for kernel in recorded.values()], [true[correlation].name for correlation in recorded])
        # The clock that the other client set is gone with all else, and it has to be set anew.
        by_low_bits = collections.defaultdict(list)
        for correlation, kernel in true.items():
            by_low_bits[correlation & 0xFFFFFFFF].append(kernel.end - kernel.start)
        for kernel in profile.kernels:
            self.assertIn((kernel["end"] - kernel["start"]) // 3, by_low_bits[kernel["correlation"]])
        self.assert_missing_only_in(recording, self.truth(traced), gaps)
        last = max(start + dur for start, dur, _ in gaps)
        self.assertTrue(any(kernel.start > recording.base + last for kernel in recording.kernels()), "nothing after the last gap")
        self.assertEqual(recording.without_call("kernel", since=last), 0)

    # A client that no wrapper sees. Steps of 50 ms, so that flushes find out within its sessions.
    UNSEEN = ["--profile-unseen", "--step-us", "50000", "--steps", "46"]
    UNSEEN_SESSIONS = "6-16,26-36"
    UNSEEN_ENV = {"TRACEINJECT_FLUSH_MS": "50"}

    def check_unseen(self, *flags, cuda="cuda13", told=2, stood_aside=2, **how):
        how = {"cuda": cuda, "sessions": self.UNSEEN_SESSIONS, "env": self.UNSEEN_ENV, **how}
        _, alone = self.profile(*self.UNSEEN, *flags, preload=False, **how)
        traced, together = self.profile(*self.UNSEEN, *flags, preload=True, **how)
        self.assertGreater(sum(alone.sessions[0].values()), 100)
        self.assertEqual(together.sessions, alone.sessions, "kernels that the other client gains or loses")
        recording, truth = self.open(), self.truth(traced)
        gaps = recording.rows("SELECT start, dur, reason FROM capture_gap ORDER BY start")
        self.assertEqual([reason for _, _, reason in gaps], ["other_client"] * told)
        self.assert_missing_only_in(recording, truth, gaps)
        made_up = set(map(told_by_cupti, recording.kernels())) - set(map(told_by_cupti, truth.kernels()))
        self.assertEqual(made_up, set(), "kernels were made up")
        self.assertEqual(recording.count("other_client", "stood_aside"), stood_aside)
        self.assertEqual(recording.count("cupti", "errors"), 0)
        starts = [recording.base + start for start, _, _ in gaps[1:]] + [2 ** 62]
        for (start, dur, _), end in zip(gaps, starts):
            self.assertTrue(any(recording.base + start + dur < kernel.start < end for kernel in recording.kernels()), "nothing after a gap")
        if recording.calls():
            self.assertEqual(recording.without_call("kernel", since=sum(gaps[-1][:2])), 0)
        return recording, gaps

    def test_client_that_no_wrapper_sees(self):
        recording, gaps = self.check_unseen("--profile-finalize")
        self.assertTrue(any(kernel.end < recording.base + gaps[0][0] for kernel in recording.kernels()), "nothing before the first gap")

    def test_unseen_client_that_leaves_cupti_as_it_is(self):
        self.check_unseen()

    def test_unseen_client_that_flushes_all_the_time(self):
        """Two flushes at a time deadlock in the real CUPTI, and end the process in ours."""
        recording, _ = self.check_unseen("--profile-finalize", env={**self.UNSEEN_ENV, "FAKE_PROFILER_FLUSHES": "1"})
        self.assertGreater(recording.count("other_client", "flushes_left_out"), 0)

    def test_unseen_client_where_threads_share_a_buffer(self):
        self.check_unseen("--profile-finalize", cuda="cuda12")

    def test_unseen_client_where_calls_cannot_be_selected(self):
        self.check_unseen("--profile-finalize", cuda="cuda12_0")

    def test_unseen_client_where_no_calls_are_recorded(self):
        self.check_unseen("--profile-finalize", env={**self.UNSEEN_ENV, "TRACEINJECT_KINDS": "kernel"})

    def test_unseen_client_that_is_done_before_it_is_noticed(self):
        self.check_unseen("--steps", "90", sessions="20-22", told=1, stood_aside=1, env={"TRACEINJECT_FLUSH_MS": "150"})

    def test_unseen_client_between_two_flushes(self):
        """It gets buffers of ours, and frees them."""
        self.check_unseen("--profile-finalize", "--steps", "90", sessions="48-50", told=1, stood_aside=0, env={"TRACEINJECT_FLUSH_MS": "900"})

    def test_unseen_client_between_windows_with_cupti_left_in_between(self):
        """It gets buffers of ours in a window that ends before it could be noticed, frees them, and they must not be lent again."""
        env = {"TRACEINJECT_WINDOW": "every:2s:1s", "TRACEINJECT_DETACH": "1", "MALLOC_MMAP_THRESHOLD_": "131072"}  # what is freed is gone
        how = {"sessions": "35-80", "env": env}  # from within the first window to the second
        flags = ("--profile-unseen", "--steps", "115", "--step-us", "40000")
        _, alone = self.profile(*flags, preload=False, **how)
        traced, together = self.profile(*flags, preload=True, **how)
        self.assertEqual(together.sessions, alone.sessions, "kernels that the other client gains or loses")
        recording, truth = self.open(), self.truth(traced)
        self.assert_missing_only_in(recording, truth, recording.rows("SELECT start, coalesce(dur, 1 << 62), reason FROM capture_gap ORDER BY start"))

    # Windows from 1 to 2 s and from 3 to 4 s of steps of 40 ms: across the beginning of the first, when nothing was ever recorded; across its
    # end; across the beginning of the second; and since just before its end.
    UNSEEN_AT_EDGES = {"sessions": "18-32,40-60,68-85,95-110", "env": {**UNSEEN_ENV, "TRACEINJECT_WINDOW": "every:2s:1s"}}

    def check_unseen_at_edges(self, *flags, cuda="cuda13", **env):
        how = {"cuda": cuda, "sessions": self.UNSEEN_AT_EDGES["sessions"], "env": {**self.UNSEEN_AT_EDGES["env"], **env}}
        flags = ("--profile-unseen", "--steps", "150", "--step-us", "40000", *flags)
        _, alone = self.profile(*flags, preload=False, **how)
        traced, together = self.profile(*flags, preload=True, **how)
        self.assertEqual(together.sessions, alone.sessions, "kernels that the other client gains or loses")
        recording, truth = self.open(), self.truth(traced)
        self.assertGreater(len(recording.kernels()), 200)
        self.assert_missing_only_in(recording, truth, recording.rows("SELECT start, coalesce(dur, 1 << 62), reason FROM capture_gap ORDER BY start"))
        last = recording.rows("SELECT max(start + dur) FROM capture_gap WHERE dur IS NOT NULL AND reason = 'window'")[0][0]
        self.assertTrue(any(kernel.start > recording.base + last for kernel in recording.kernels()), "nothing in the last window")

    def test_unseen_client_at_edges_of_windows(self):
        self.check_unseen_at_edges()

    def test_unseen_client_at_edges_of_windows_that_takes_cupti_away(self):
        self.check_unseen_at_edges("--profile-finalize")

    def test_unseen_client_at_edges_of_windows_with_cupti_left_in_between(self):
        self.check_unseen_at_edges("--profile-finalize", TRACEINJECT_DETACH="1")

    def test_unseen_client_between_windows(self):
        """What we turn on in the next window is not for it, though it left us its callbacks, and all of the window is ours."""
        how = {"sessions": "55-65,110-115", "env": {**self.UNSEEN_ENV, "TRACEINJECT_WINDOW": "every:2s:1s"}}
        flags = ("--profile-unseen", "--steps", "150", "--step-us", "40000")
        _, alone = self.profile(*flags, preload=False, **how)
        traced, together = self.profile(*flags, preload=True, **how)
        self.assertEqual(together.sessions, alone.sessions, "kernels that the other client gains or loses")
        recording, truth = self.open(), self.truth(traced)
        gaps = recording.rows("SELECT start, coalesce(dur, 1 << 62), reason FROM capture_gap ORDER BY start")
        windows = [(start, dur) for start, dur, reason in gaps if reason == "window"]
        self.assertTrue(all(any(begin <= start and start + dur <= begin + length for begin, length in windows) for start, dur, _ in gaps))
        self.assert_missing_only_in(recording, truth, gaps)

    def test_unseen_client_that_comes_as_the_first_window_begins(self):
        """In which of these steps it does depends on the machine. One came before the first record of ours, too."""
        sessions = ",".join(["2-4", *(f"{step}-{step}" for step in range(44, 56))])
        traced, _ = self.profile("--profile-unseen", "--steps", "90", "--step-us", "20000", preload=True, sessions=sessions,
                                 env={**self.UNSEEN_ENV, "TRACEINJECT_WINDOW": "every:2s:1s"})
        recording = self.open()
        self.assertGreater(len(recording.kernels()), 100)
        self.assert_missing_only_in(recording, self.truth(traced), recording.rows("SELECT start, coalesce(dur, 1 << 62), reason FROM capture_gap"))

    def test_unseen_client_that_flushes_all_the_time_between_windows(self):
        """It comes before a flush has brought back what CUPTI has of ours when the window ends: none may come beside its own."""
        how = {"sessions": "55-70", "env": {"TRACEINJECT_FLUSH_MS": "300", "TRACEINJECT_WINDOW": "every:2s:1s", "FAKE_PROFILER_FLUSHES": "1"}}
        flags = ("--profile-unseen", "--profile-finalize", "--steps", "110", "--step-us", "40000")
        _, alone = self.profile(*flags, preload=False, **how)
        traced, together = self.profile(*flags, preload=True, **how)
        self.assertEqual(together.sessions, alone.sessions, "kernels that the other client gains or loses")
        recording, truth = self.open(), self.truth(traced)
        self.assert_missing_only_in(recording, truth, recording.rows("SELECT start, coalesce(dur, 1 << 62), reason FROM capture_gap ORDER BY start"))

    def test_unseen_client_past_the_end_of_a_window(self):
        """What we had on when it came is on as long as it is there, and no longer."""
        env = {**self.UNSEEN_ENV, "TRACEINJECT_WINDOW": "every:2s:1s"}
        traced, _ = self.profile("--profile-unseen", "--steps", "72", "--step-us", "40000", preload=True, sessions="40-55", env=env)
        reasons = [reason for reason, in self.open().rows("SELECT reason FROM capture_gap ORDER BY start")]
        self.assertEqual(reasons, ["window", "other_client", "window"])
        on = {line["kind"]: line["on"] for line in self.truth(traced).of("kind")}
        self.assertEqual({kind for kind in on if on[kind]} - KINDS_OF_CALLS, set())

    def test_unseen_client_when_the_file_is_full(self):
        """It has come since the last flush but one: our kinds go off, and are its own."""
        env = {"TRACEINJECT_FLUSH_MS": "1000", "TRACEINJECT_MAX_SIZE": "400K"}
        how = {"sessions": "24-60", "env": env}
        flags = ("--profile-unseen", "--steps", "70", "--step-us", "40000", "--kernels", "400")
        _, alone = self.profile(*flags, preload=False, **how)
        _, together = self.profile(*flags, preload=True, **how)
        self.assertEqual(self.open().count("file", "max_size"), 1)
        self.assertEqual(together.sessions, alone.sessions, "kernels that the other client gains or loses")

    def test_unseen_client_just_before_a_window_ends(self):
        """A flush saw that nothing comes any more, and waited for a thread to look into it; the window ended before the next one."""
        env = {"TRACEINJECT_WINDOW": "seconds:0-2", "TRACEINJECT_FLUSH_MS": "50"}
        traced, _ = self.profile("--profile-unseen", "--steps", "20", "--step-us", "150000", sessions="12-12", preload=True, env=env)
        recording, truth = self.open(), self.truth(traced)
        gaps = recording.rows("SELECT start, coalesce(dur, 1 << 62), reason FROM capture_gap ORDER BY start")
        self.assertEqual([reason for _, _, reason in gaps], ["other_client", "window"])
        self.assertGreater(len(recording.kernels()), 100)
        self.assert_missing_only_in(recording, truth, gaps)

    def test_unseen_client_before_the_first_probe(self):
        """Our callbacks are gone before a call of ours was recorded: that none ever is has to be a sign, too."""
        self.check_unseen("--steps", "90", sessions="5-8,50-60", env={"TRACEINJECT_FLUSH_MS": "150"})

    def test_unseen_client_before_the_only_flush(self):
        """The program ends before a flush could tell that somebody else got the records."""
        traced, _ = self.profile("--profile-unseen", sessions="4-6", preload=True)
        recording, truth = self.open(), self.truth(traced)
        self.assertLess(len(recording.kernels()), len(truth.kernels()))
        gaps = recording.rows("SELECT start, dur, reason FROM capture_gap")
        self.assertEqual([(dur, reason) for _, dur, reason in gaps], [(None, "other_client")])
        begin = recording.base + gaps[0][0]
        recorded = {kernel.correlation for kernel in recording.kernels()}
        self.assertEqual([kernel for kernel in truth.kernels() if kernel.end < begin and kernel.correlation not in recorded], [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
