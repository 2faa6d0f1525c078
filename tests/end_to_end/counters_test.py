# SPDX-License-Identifier: Apache-2.0
"""Samples of hardware counters: CUPTI's PM sampling, NVML's GPM metrics in its place, and why there are none."""

import json
import os
import pathlib
import re
import shlex
import signal
import sys
import time

import harness

sys.path.insert(1, str(harness.ROOT / "tests" / "gpu" / "shared"))
from counter_samples import read_samples, read_sets  # noqa: E402

HERE = pathlib.Path(__file__).resolve().parent
# Kernels of some milliseconds, and then as long a rest, in which samples show that the GPU idles.
WORK = ["--steps", "40", "--kernels", "4", "--kernel-us", "4000", "--wait-us", "20000", "--streams", "1"]
FULL = ["sm_active", "sm_clock", "tensor_active", "tensor_hmma_active", "tensor_imma_active", "fp64_active", "fp32_active", "dram_read",
        "dram_write", "l2_hit", "pcie_read", "pcie_write", "nvlink_receive", "nvlink_transmit"]
# As tests/fake_gpu/simulator/activity_history.h has it: shares of SMs, tensor cores and memory in percent.
USES = (("gemm", (100, 70, 30)), ("flash", (95, 50, 20)), ("elementwise", (90, 0, 85)), ("", (80, 0, 40)))
# Every function of CUPTI that sampling calls, in their order.
FUNCTIONS = ("cuptiDeviceGetChipName", "cuptiProfilerInitialize", "cuptiPmSamplingGetCounterAvailability", "cuptiProfilerHostInitialize",
             "cuptiProfilerHostConfigAddMetrics", "cuptiProfilerHostGetConfigImageSize", "cuptiProfilerHostGetConfigImage",
             "cuptiProfilerHostGetNumOfPasses", "cuptiPmSamplingEnable", "cuptiPmSamplingSetConfig", "cuptiPmSamplingGetCounterDataSize",
             "cuptiPmSamplingCounterDataImageInitialize", "cuptiPmSamplingStart", "cuptiPmSamplingDecodeData",
             "cuptiPmSamplingGetCounterDataInfo", "cuptiPmSamplingCounterDataGetSampleInfo", "cuptiProfilerHostEvaluateToGpuValues",
             "cuptiPmSamplingStop", "cuptiPmSamplingDisable", "cuptiProfilerHostDeinitialize")
ANALYZE = harness.BUILD / "bin" / "analyze"


def use_of(name):
    return next(use for part, use in USES if part in name)


@harness.without_sanitizer("the library does not run by itself under one")
class Counters(harness.TestCase):
    def setUp(self):
        super().setUp()
        # Cards of its own: other tests may run beside, and a card has one that samples.
        self.base = {"TRACEINJECT_FLUSH_MS": "100", "FAKE_GPU_UUID": str(os.getpid() % 65536), "FAKE_PM_LOG": str(self.folder / "truth.pm"),
                     "XDG_CACHE_HOME": str(self.folder / "truth.cache"), "TRACEINJECT_COUNTERS": "1"}

    def run_program(self, *flags, env=(), **how):
        ended = self.play(*(flags or WORK), env={**self.base, **dict(env)}, **how)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        return ended

    def record(self, *flags, env=(), refused=False, **how):
        """Recorded beside counters, all kernels are there, whatever became of the counters. `refused`: nothing is said of these."""
        ended = self.run_program(*flags, env=env, **how)
        recording = self.open()
        self.assertEqual(recording.integrity(), "ok")
        if not refused:
            self.assert_nothing_lost(recording)
        truth = harness.Truth.read(ended.truth_path)
        self.assertEqual(sorted(recording.kernels()), sorted(truth.kernels()))
        return recording, truth

    def record_refused(self, env=(), **how):
        """The same where counters cannot be had, of a program that lasts until that is known."""
        for steps in ("15", "60", "240"):
            recording, _ = self.record(*WORK, "--steps", steps, env=env, refused=True, **how)
            health = recording.health()
            if any(("counter_sample", counter) in health for counter in ("failed", "unavailable")):
                break
            self.again(recording)
        else:
            self.fail("nothing is said of the counters")
        return recording

    def again(self, recording):
        recording.close()
        (self.folder / "run.db").unlink()

    def samples(self, recording, device=0):
        return read_samples(recording.database, device)

    def counters(self, recording):
        """By set: (source, name, [counters])."""
        return [(source, name, counters) for source, name, _, counters in read_sets(recording.database)]

    def reason(self, recording, counter="failed"):
        value, detail = recording.health().get(("counter_sample", counter), (0, None))
        self.assertEqual(value, 1, recording.health())
        return detail

    def starts(self):
        """Process ids that began to sample, in order."""
        path = self.folder / "truth.pm"
        return [int(line.split()[0]) for line in path.read_text().splitlines()] if path.exists() else []

    def assert_true(self, samples, truth, names, clock=0, device=0):
        """Samples are what the kernels of the truth make them. `clock`: what the GPU's clock is ahead."""
        kernels = [kernel for kernel in truth.kernels() if kernel.device == device]
        for sample in samples:
            begin = sample.gpu_start - clock
            end = begin + sample.end - sample.start
            expected = [0, 0, 0]
            for kernel in kernels:
                inside = min(kernel.end, end) - max(kernel.start, begin)
                if inside > 0:
                    for i, use in enumerate(use_of(kernel.name)):
                        expected[i] += use * 10 * inside / (end - begin)
            values = dict(zip(names, sample.values))
            for name, value in zip(("sm_active", "tensor_active", "dram_read"), expected):
                self.assertAlmostEqual(values[name], min(value, 1000), delta=1.01, msg=name)
            self.assertEqual(values.get("nvlink_receive", 0), 0)
            self.assertEqual(values.get("l2_hit", -1), -1, "not a number")
            self.assertEqual(values["sm_clock"], 1500)

    def test_samples_are_what_the_kernels_make_them(self):
        recording, truth = self.record(env={"FAKE_PM_OFFSET_NS": "-5000000000"})
        self.assertEqual(self.counters(recording), [("pm_sampling", "full", FULL)])
        samples = self.samples(recording)
        self.assertGreater(len(samples), 300)
        self.assertGreater(sum(sample.values[0] > 0 for sample in samples), 100)
        self.assert_true(samples, truth, FULL, clock=-5_000_000_000)
        self.assertEqual({sample.end - sample.start for sample in samples}, {1_000_000})
        for before, after in zip(samples, samples[1:]):
            self.assertEqual(before.gpu_start + 1_000_000, after.gpu_start, "none is missing")
        self.assertEqual(recording.count("counter_sample", "samples"), len(samples))
        self.assertEqual(recording.count("counter_sample", "stored"), recording.rows("SELECT count(*) FROM counter_sample")[0][0])
        for counter in ("failed", "unavailable", "gaps"):
            self.assertEqual(recording.count("counter_sample", counter), 0, counter)
        self.assertGreater(recording.count("counter_sample", "cpu_us"), 0)
        self.assertEqual(recording.rows("SELECT chip, period_ns FROM counter_set"), [("GH100", 1_000_000)])

    def assert_bursts(self, recording, bursts):
        """So many, each of which tells when it was begun, and none of their rests is a gap."""
        rows = recording.rows("SELECT start, lead FROM counter_sample ORDER BY rowid")
        self.assertEqual(sum(lead is not None for _, lead in rows), bursts)
        samples = self.samples(recording)
        rests = [after.gpu_start - before.gpu_start for before, after in zip(samples, samples[1:]) if after.gpu_start - before.gpu_start > 1_500_000]
        self.assertEqual(len(rests), bursts - 1)
        self.assertEqual(recording.count("counter_sample", "gaps"), 0)
        text = self.play(command=[ANALYZE, "run.db", "--full"], preload=False, env=self.base).stdout
        self.assertIn("(PM sampling), none missing", re.sub(r"\s+", " ", text))

    def test_auto_samples_in_bursts(self):
        recording, truth = self.record(*WORK, "--steps", "100", env={"TRACEINJECT_COUNTERS": "auto", "FAKE_PM_COST_US": "15"})
        bursts = recording.count("counter_sample", "bursts")
        self.assertGreaterEqual(bursts, 2)
        self.assert_bursts(recording, bursts)
        self.assert_true(self.samples(recording), truth, FULL)

    def test_a_burst_that_cost_much_is_the_only_one(self):
        recording, _ = self.record(env={"TRACEINJECT_COUNTERS": "auto", "FAKE_PM_COST_US": "500"})
        self.assertEqual(recording.count("counter_sample", "bursts"), 1)
        self.assert_bursts(recording, 1)
        self.assertLess(len(self.samples(recording)), 1000)

    def test_bounds_of_the_clock_hold(self):
        """What is added to recorded times is at least -lead, and at most lag."""
        for drift in ("0", "200"):
            recording, _ = self.record(env={"FAKE_PM_OFFSET_NS": "123456789", "FAKE_PM_DRIFT_PPM": drift})
            rows = recording.rows("SELECT start, dur, gpu_time, lead, lag FROM counter_sample ORDER BY rowid")
            self.assertIsNotNone(rows[0][3])
            self.assertEqual({row[3] for row in rows[1:]}, {None})
            if drift == "0":
                for start, _, gpu_time, lead, lag in rows:
                    true = gpu_time - 123456789 - recording.base
                    self.assertLessEqual(true, start + lag)
                    if lead is not None:
                        self.assertGreaterEqual(true, start - lead)
            self.again(recording)

    def test_the_report_says_that_they_are_there(self):
        recording, _ = self.record(env={"FAKE_PM_OFFSET_NS": "3000000", "FAKE_PM_DRIFT_PPM": "20"})
        text = self.play(command=[ANALYZE, "run.db", "--full"], preload=False, env=self.base).stdout
        line = re.sub(r"\s+", " ", text[text.index("hardware counters: "):])[:200]
        self.assertRegex(line, r"^hardware counters: [\d,]+ samples of 14 counters every 1\.000 ms \(PM sampling\), none missing; in time with "
                               r"kernels to ±[\d.]+ us")
        report = json.loads(self.play(command=[ANALYZE, "run.db", "--format", "json"], preload=False, env=self.base).stdout)
        sampling = report["devices"][0]["counter_sampling"]
        self.assertEqual(int(sampling["samples"]), len(self.samples(recording)))
        self.assertLess(int(sampling["uncertainty_ns"]), 100_000, "a tenth of a sample")

    def test_every_device_with_work_is_sampled(self):
        recording, truth = self.record(*WORK, "--devices", "2")
        for device in (0, 1):
            samples = self.samples(recording, device)
            self.assertGreater(len(samples), 100)
            self.assert_true(samples, truth, FULL, device=device)
        self.assertEqual(len(self.counters(recording)), 2)

    def test_a_context_where_cupti_wants_one(self):
        recording, truth = self.record(env={"FAKE_PM_CONTEXT": "1"})
        self.assertEqual(self.counters(recording)[0][1], "full")
        self.assert_true(self.samples(recording), truth, FULL)

    def test_off_is_the_default(self):
        recording, _ = self.record(env={"TRACEINJECT_COUNTERS": "0"})
        self.assertEqual(self.counters(recording), [])
        self.assertEqual(self.starts(), [])
        self.assertEqual([key for key in recording.health() if key[0] == "counter_sample" and key[1] not in ("seen", "stored")], [])

    def test_a_set_and_an_interval_can_be_chosen(self):
        recording, truth = self.record(env={"TRACEINJECT_COUNTERS": "basic", "TRACEINJECT_COUNTERS_US": "500"})
        self.assertEqual(self.counters(recording), [("pm_sampling", "basic", ["sm_active", "sm_clock", "tensor_hmma_active", "dram_active"])])
        self.assertEqual({sample.end - sample.start for sample in self.samples(recording)}, {500_000})

    def test_a_bad_value_is_told(self):
        recording, _ = self.record(env={"TRACEINJECT_COUNTERS": "everything"}, refused=True)
        self.assertIn("TRACEINJECT_COUNTERS=everything: expected 0, auto, 1 or one of full, compute, pipes, basic",
                      recording.health()["start", "invalid_option"][1])

    def test_sets_are_tried_first_and_remembered(self):
        ended = self.run_program()
        tried = self.starts()
        self.assertEqual(len(tried), 2, "the trial, and the program")
        self.assertNotEqual(tried[0], ended.pid)
        self.assertEqual(tried[1], ended.pid)
        recording = self.open()
        self.assertEqual(recording.count("counter_sample", "trials"), 1)
        self.again(recording)
        kept = list((self.folder / "truth.cache" / "traceinject" / "counters").iterdir())
        self.assertEqual([path.name for path in kept], ["GH100-580.65.06-130001"])
        self.assertEqual(kept[0].stat().st_mode & 0o777, 0o600)
        self.assertRegex(kept[0].read_text(), r"\Atraceinject counters 1\npassed [0-9a-f]{16} full\n\Z")
        again = self.run_program()
        self.assertEqual(self.starts()[2:], [again.pid], "no further trial")
        self.assertEqual(self.open().count("counter_sample", "trials"), 0)

    def test_a_set_that_crashes_is_never_used_in_the_program(self):
        """What is wrong with some counters costs only them."""
        for part, counters, failed in (("nvlrx", FULL[:12], 1), ("pcie", FULL[:10] + FULL[12:], 2)):
            env = {"FAKE_PM_CRASH": part, "XDG_CACHE_HOME": str(self.folder / f"{part}.cache")}
            recording, truth = self.record(env=env)
            self.assertEqual(self.counters(recording), [("pm_sampling", "full", counters)])
            self.assert_true(self.samples(recording), truth, counters)
            self.assertEqual(recording.count("counter_sample", "trials"), failed + 1)
            value, detail = recording.health()[("counter_sample", "trials_failed")]
            self.assertEqual(value, failed)
            self.assertEqual(detail.count(": signal 11"), failed, detail)
            self.assertTrue(detail.startswith(f"full ({', '.join(FULL)}): signal 11"), detail)
            self.again(recording)
            # It is remembered, too.
            recording, _ = self.record(env=env)
            self.assertEqual(recording.count("counter_sample", "trials"), 0)
            self.assertEqual(self.counters(recording), [("pm_sampling", "full", counters)])
            self.assertEqual(recording.count("counter_sample", "failed"), 0)
            self.again(recording)

    def test_where_every_set_crashes_nvml_is_asked(self):
        recording, _ = self.record(env={"FAKE_PM_CRASH": "sm__"}, refused=True)
        self.assertEqual(recording.count("counter_sample", "trials_failed"), 6)
        self.assertEqual(self.starts(), [])
        self.assertIn("no set of counters for this chip passed its trial (GH100); NVML's metrics are recorded instead",
                      self.reason(recording))
        self.assertEqual(self.counters(recording)[0][:2], ("gpm", "gpm"))

    def test_nvmls_metrics_in_the_place_of_cuptis(self):
        recording, truth = self.record(*WORK, "--steps", "60", refused=True, env={"FAKE_PM_CHIP": "GX999"})
        (source, name, counters), = self.counters(recording)
        self.assertEqual((source, name, counters[:5]), ("gpm", "gpm", ["graphics_active", "sm_active", "warps_active", "integer_active",
                                                                       "tensor_active"]))
        samples = self.samples(recording)
        self.assertGreater(len(samples), 8)
        kernels = truth.kernels()
        for sample in samples:
            values = dict(zip(counters, sample.values))
            start, end = sample.start + recording.base, sample.end + recording.base
            busy = sum(max(0, min(kernel.end, end) - max(kernel.start, start)) * use_of(kernel.name)[0] for kernel in kernels)
            # The moment is the host's, a little after that of the sample.
            self.assertAlmostEqual(values["sm_active"], busy * 10 / (sample.end - sample.start), delta=200)
            self.assertEqual((values["tensor_dfma_active"], values["pcie_transmit_rate"]), (-1, 1500))
        self.assertEqual(recording.rows("SELECT count(*) FROM counter_sample WHERE gpu_time IS NOT NULL OR lead IS NOT NULL OR lag IS NOT NULL"),
                         [(0,)])
        text = self.play(command=[ANALYZE, "run.db", "--full"], preload=False, env=self.base).stdout
        self.assertIn("(GPM)", text)

    def test_every_reason_has_its_sentence(self):
        enable = "cuptiPmSamplingEnable"
        for env, cuda, sentence, change in (
                ({"FAKE_PM_RESULTS": f"{enable}:35"}, "cuda13", "this user may not read performance counters", "NVreg_RestrictProfilingToAdminUsers=0"),
                ({"FAKE_PM_RESULTS": f"{enable}:26"}, "cuda13", "another profiler holds the GPU's performance counters", "dcgmi profstat --pause"),
                ({"FAKE_PM_RESULTS": f"{enable}:7"}, "cuda13", "another profiler holds the GPU's performance counters", "dcgmi profstat --pause"),
                ({"FAKE_PM_RESULTS": f"{enable}:33"}, "cuda13", "virtual GPU", "administrator"),
                ({"FAKE_PM_RESULTS": f"{enable}:41"}, "cuda13", "confidential-computing mode", "developer setting"),
                ({"FAKE_PM_RESULTS": "cuptiProfilerHostInitialize:46"}, "cuda13", "no set of counters is known for this chip", "update traceinject"),
                ({"FAKE_PM_CHIP": "GX999"}, "cuda13", "no set of counters is known for this chip (GX999)", "update traceinject"),
                ({}, "cuda12_0", "this CUPTI cannot sample counters", "CUDA 12.6"),
                ({"FAKE_CUPTI_VERSION": "23"}, "cuda12", "this CUPTI cannot sample counters", "CUDA 12.6"),
                ({"TRACEINJECT_DETACH": "1"}, "cuda13", "TRACEINJECT_DETACH=1", "unset one"),
                ({"FAKE_NVML_MIG": "1"}, "cuda13", "divided by MIG", "nvidia-smi -mig 0"),
                ({"FAKE_PM_PASSES": "2"}, "cuda13", "no set of counters for this chip passed its trial", "")):
            for gpm in ("0", "1"):
                with self.subTest(env=env, gpm=gpm):
                    recording = self.record_refused(cuda=cuda, env={**env, "FAKE_NVML_GPM": gpm})
                    reason = self.reason(recording)
                    self.assertTrue(reason.startswith("GPU 0: "), reason)
                    self.assertIn(sentence, reason)
                    self.assertIn(change, reason)
                    has_gpm = gpm == "1" and cuda != "cuda12_0" and "FAKE_NVML_MIG" not in env
                    self.assertEqual("NVML's metrics are recorded instead" in reason, has_gpm)
                    self.assertEqual([row[0] for row in self.counters(recording)], ["gpm"] * has_gpm)
                    self.assertEqual(self.starts(), [])
                    self.again(recording)

    def test_what_is_no_fault_of_a_set_is_not_remembered(self):
        recording, _ = self.record(env={"FAKE_PM_RESULTS": "cuptiPmSamplingEnable:35"}, refused=True)
        self.assertIn("CUPTI_ERROR_INSUFFICIENT_PRIVILEGES", self.reason(recording))
        self.again(recording)
        recording, _ = self.record()
        self.assertEqual(self.counters(recording)[0][1], "full")

    def test_auto_is_quiet(self):
        recording, _ = self.record(env={"TRACEINJECT_COUNTERS": "auto", "FAKE_PM_RESULTS": "cuptiPmSamplingEnable:35"})
        self.assertIn("this user may not read performance counters", self.reason(recording, "unavailable"))
        self.assertEqual(recording.count("counter_sample", "failed"), 0)
        text = self.play(command=[ANALYZE, "run.db", "--full"], preload=False, env=self.base).stdout
        self.assertNotIn("may not read", text)

    def test_an_error_of_any_call_harms_nothing(self):
        """In the trial, where it keeps every set out; and in the program, once the trial has passed."""
        for function in FUNCTIONS:
            with self.subTest(function=function, where="trial"):
                env = {"FAKE_PM_RESULTS": f"{function}:999", "XDG_CACHE_HOME": str(self.folder / "truth.other")}
                if function in FUNCTIONS[-3:]:
                    recording, _ = self.record(*WORK, "--steps", "15", env=env, refused=True)
                else:
                    recording = self.record_refused(env=env)
                    self.assertNotEqual(self.reason(recording), "")
                self.again(recording)
        self.again(self.record()[0])
        for function in FUNCTIONS:
            with self.subTest(function=function, where="program"):
                env = {"FAKE_PM_RESULTS": f"{function}:999"}
                if function in FUNCTIONS[-3:]:
                    recording, _ = self.record(*WORK, "--steps", "15", env=env, refused=True)
                else:
                    recording = self.record_refused(env=env)
                    self.assertIn(f"{function}: CUPTI_ERROR_UNKNOWN (999)", self.reason(recording))
                self.again(recording)

    def test_a_call_that_never_returns_is_left_behind(self):
        self.again(self.record()[0])
        for function in ("cuptiPmSamplingEnable", "cuptiPmSamplingDecodeData"):
            with self.subTest(function=function):
                recording, _ = self.record(*WORK, "--steps", "15", env={"FAKE_PM_HANG": function}, refused=True)
                self.again(recording)

    def test_a_buffer_that_ran_over_is_a_gap(self):
        recording, truth = self.record(env={"FAKE_PM_OVERFLOW": "2"})
        samples = self.samples(recording)
        self.assert_true(samples, truth, FULL)
        self.assertGreaterEqual(recording.count("counter_sample", "gaps"), 1)
        gaps = [after.gpu_start - before.gpu_start - 1_000_000 for before, after in zip(samples, samples[1:])]
        self.assertEqual(sum(gap > 500_000 for gap in gaps), 1)
        text = self.play(command=[ANALYZE, "run.db", "--full"], preload=False, env=self.base).stdout
        self.assertRegex(re.sub(r"\s+", " ", text), r"\(PM sampling\), 1 gap \([\d.]+ m?s\) without samples")

    def test_samples_that_are_missing_are_gaps(self):
        recording, truth = self.record(env={"FAKE_PM_LOSE": "50"})
        samples = self.samples(recording)
        self.assert_true(samples, truth, FULL)
        gaps = [after.gpu_start - before.gpu_start - 1_000_000 for before, after in zip(samples, samples[1:])]
        self.assertEqual(set(gaps), {0, 1_000_000})
        self.assertEqual(recording.count("counter_sample", "gaps"), gaps.count(1_000_000))

    def test_one_process_samples_a_gpu_for_all(self):
        env = {**self.base, "FAKE_GPU_COUNT": "1", "WORLD_SIZE": "2"}
        work = [*WORK, "--steps", "80"]
        first = self.start(*work, env={**env, "RANK": "0", "LOCAL_RANK": "0"})
        second = self.start(*work, env={**env, "RANK": "1", "LOCAL_RANK": "1"})
        self.assertEqual([self.finish(first).code, self.finish(second).code], [0, 0])
        recordings = [harness.Recording(self.folder / f"run.rank0000{rank}.db") for rank in (0, 1)]
        sampled = [bool(self.samples(recording)) for recording in recordings]
        self.assertEqual(sorted(sampled), [False, True])
        other = recordings[sampled.index(False)]
        holder = (first, second)[sampled.index(True)].pid
        self.assertEqual(self.reason(other, "unavailable"), f"GPU 0: another recorded process samples the counters of this GPU (process {holder})")
        self.assertEqual(sum(recording.count("counter_sample", "trials") for recording in recordings), 1)

    def test_who_comes_later_goes_on_when_the_first_ends(self):
        env = {**self.base, "FAKE_GPU_COUNT": "1", "WORLD_SIZE": "2"}
        first = self.start(*WORK, env={**env, "RANK": "0", "LOCAL_RANK": "0"})
        while not self.starts():
            time.sleep(0.01)
        second = self.start(*WORK, "--steps", "260", env={**env, "RANK": "1", "LOCAL_RANK": "1"})
        self.finish(first)
        self.finish(second)
        self.assertGreater(len(self.samples(harness.Recording(self.folder / "run.rank00001.db"))), 100)


    def test_between_windows_nothing_is_sampled(self):
        ended = self.run_program(*WORK, "--steps", "120", env={"TRACEINJECT_WINDOW": "every:2s:1s"})
        recording = self.open()
        gaps = recording.rows("SELECT start, dur FROM capture_gap WHERE reason = 'window'")
        self.assertTrue(gaps)
        rest = 150_000_000  # to notice an edge
        samples = self.samples(recording)
        self.assertTrue(samples)
        self.assertEqual(recording.rows("SELECT period_ns FROM counter_set"), [(100_000,)], "finer in windows")
        for start, dur in gaps:
            begin, end = start + rest, start + (dur if dur is not None else 10**12) - rest
            self.assertEqual([sample for sample in samples if begin < sample.start and sample.end < end], [])
        self.assertEqual(ended.code, 0)

    def test_a_client_that_takes_cupti_away(self):
        ended = self.run_program(*WORK, "--steps", "60", "--profile", "20-25", "--profile-finalize",
                                 env={"FAKE_GPU_PROFILE": str(self.folder / "truth.profile")})
        self.assertEqual(ended.code, 0)
        recording = self.open()
        self.assertTrue(self.samples(recording))
        self.assertIn("another client took CUPTI out of the process", self.reason(recording))

    def test_endings(self):
        """A fork, another program in its place, and ends in a hurry leave a file that can be read."""
        self.again(self.record()[0])
        for flags, code in ((["--exit", "_exit:3"], 3), (["--exit", "exit:4"], 4), (["--fork", "after:idle"], 0), (["--fork", "after:exit"], 0),
                            (["--exec-child"], 0), (["--vfork-child"], 0)):
            with self.subTest(flags=flags):
                ended = self.play(*WORK, *flags, env=self.base)
                self.assertEqual(ended.code, code, ended.stderr)
                recording = self.open()
                self.assertEqual(recording.integrity(), "ok")
                self.assertGreater(len(self.samples(recording)), 100)
                self.again(recording)
                for path in self.folder.glob("run*.db*"):
                    path.unlink()

    def test_killed(self):
        process = self.start(*WORK, "--steps", "-1", env=self.base)
        while len(self.starts()) < 2:
            time.sleep(0.02)
        time.sleep(1)
        os.kill(process.pid, signal.SIGKILL)
        self.finish(process)
        recording = harness.Recording.open_killed(self.folder / "run.db")
        self.assertEqual(recording.integrity(), "ok")
        self.assertGreater(len(self.samples(recording)), 100)
        # The next one finds the GPU free.
        (self.folder / "run.db").unlink()
        for path in self.folder.glob("run.db*"):
            path.unlink()
        recording, _ = self.record()
        self.assertTrue(self.samples(recording))

    def test_a_program_sees_no_child_of_ours(self):
        """Of the trial: no SIGCHLD, nothing to wait for, no worker in the recording."""
        program = (
            "import os, signal, sys, time; sys.path.insert(0, os.environ['HERE'])\n"
            "import train_python\n"
            "seen = []\n"
            "signal.signal(signal.SIGCHLD, lambda *_: seen.append(1))\n"
            "train_python.use_gpu()\n"
            "end = time.time() + 20\n"
            "path = os.environ['FAKE_PM_LOG']\n"
            "while time.time() < end and (not os.path.exists(path) or len(open(path).readlines()) < 2):\n"
            "    train_python.use_gpu(); time.sleep(0.02)\n"
            "try:\n"
            "    seen.append(os.waitpid(-1, os.WNOHANG))\n"
            "except ChildProcessError:\n"
            "    pass\n"
            "time.sleep(0.5)\n"
            "print(seen, len(open(path).readlines()))\n")
        ended = self.play(command=[sys.executable, "-B", "-c", program], env={**harness.STAND_IN, **self.base, "HERE": str(HERE)})
        self.assertEqual((ended.stdout, ended.code), ("[] 2\n", 0), ended.stderr)
        self.assertEqual(self.open().rows("SELECT count(*) FROM worker"), [(0,)])

    def test_the_hardware_script_on_the_fake_gpu(self):
        script = harness.ROOT / "tests" / "gpu" / "counters" / "sampling.py"
        ended = self.play(command=[sys.executable, "-B", str(script), "check", "--library", str(harness.LIBRARY), "--analyze", str(ANALYZE),
                                   "--out", str(self.folder / "truth.out"), "--pairs", "2", "--program",
                                   shlex.join([str(harness.FAKE_GPU / "cuda13" / "fake_train"), *WORK, "--steps", "120"])], preload=False,
                          env={**self.base, "FAKE_PM_CRASH": "nvlrx"})
        self.assertEqual((ended.code, ended.stderr), (0, ""), ended.stdout)
        for name, count in (("full", 12), ("compute", 10), ("pipes", 8), ("basic", 4)):
            self.assertIn(f"NOTE  counters set {name}: taken ({count} counters, GH100-580.65.06-130001)", ended.stdout)
        self.assertRegex(ended.stdout, r"PASS  counters samples: pm_sampling, set full: \d+ of \d+ in")
        self.assertRegex(ended.stdout, r"PASS  counters bursts: \d+ with \d+ samples of 1000 us")
        self.assertRegex(ended.stdout, r"NOTE  counters cost of program: [+-]")

    def test_the_library_as_a_program_says_what_it_is(self):
        loader = next(line.split()[-1] for line in pathlib.Path("/proc/self/maps").read_text().splitlines() if "/ld-linux" in line)
        ended = self.play(command=[loader, str(harness.LIBRARY)], preload=False)
        self.assertEqual(ended.code, 2)
        self.assertRegex(ended.stderr, r"\Atraceinject \S+: this library is preloaded and not run")


if __name__ == "__main__":
    harness.main()
