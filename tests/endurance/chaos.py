#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Plays programs on the fake GPU that do at random what is hard on a recorder, beside other tools, with and without the library.

    chaos.py --count 500 --seed 1

Sessions of other profilers (as torch.profiler, unseen, Triton's Proton), windows, triggers, forks, libraries that come and go, threads,
stalls, stacks, counters, the flight recorder, and ends of all kinds. The program prints and ends as without the library, and leaves no
process; the recording is sound, what it lacks is counted, and it has all work outside of the gaps that it tells. --seed and --count replay.
Programs that a sanitizer's build cannot play, which are those in Python, are left out there.
"""

import collections
import contextlib
import json
import math
import os
import random
import shutil
import signal
import sys

import seeds

PROGRAM = seeds.ROOT / "tests" / "endurance" / "chaos_program.py"
COMMON = ("work", "work", "work", "idle", "stall", "thread", "churn", "join", "fork", "spawn", "nvtx_library", "blas_library", "trigger",
          "read_recording")
# Each program meets one other tool: two of them fight without us, too.
TOOLS = {"none": (), "torch.profiler": ("session_begin", "session_end"), "unseen": ("session_begin", "session_end"),
         "proton": ("proton_begin", "proton_end")}
CLIENTS = {"torch.profiler": "libprofiler_client.so", "unseen": "libunseen_client.so"}
ENDS = ("return", "return", "exit", "_exit", "exception", "abort", "SIGTERM", "SIGKILL", "with threads")
OPTIONS = {
    "TRACEINJECT_WINDOW": ("all", "all", "all", "trigger", "every:2s:1s", "seconds:0-1", "every:10:3", "steps:5-15"),
    "TRACEINJECT_DETACH": ("0", "0", "1"),
    "TRACEINJECT_STACKS_HZ": ("0", "100", "1000"),
    "TRACEINJECT_COUNTERS": ("0", "0", "auto", "1"),
    "TRACEINJECT_TELEMETRY_HZ": ("0", "10", "100"),
    "TRACEINJECT_STALL": ("60s", "1s", "0"),
    "TRACEINJECT_KEEP_LAST": ("0", "0", "1", "2s"),
    "TRACEINJECT_MAX_SIZE": ("4G", "16M"),
    "TRACEINJECT_FLUSH_MS": ("50", "100", "750"),
    "TRACEINJECT_NVTX": ("1", "1", "0"),
    "TRACEINJECT_AB": ("0", "0", "0", "steps"),
    "FAKE_CUPTI_SHUFFLE": ("", "7"),
    "FAKE_CUPTI_DELAY_MS": ("0", "5"),
}
PROFILES_ALONE = 10  # plays without the library, where one got something else
KERNEL = 10  # CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL
TWO_FLUSHES = "two cuptiActivityFlushAll at once"  # says the stand-in
TRAIN_FLAGS = (["--nvtx"], ["--memcpy"], ["--memset"], ["--events"], ["--alloc"], ["--graph", "3"], ["--nccl", "new"], ["--nccl", "old"],
               ["--threads", "3"], ["--churn", "200"], ["--fork-loop", "10"], ["--vfork-child"], ["--exec-child"], ["--late-launch"],
               ["--leave-open"], ["--fork", "after:exit"], ["--fork", "after:idle"], ["--profile", "2-4,6-9"],
               ["--profile", "2-4,6-9", "--profile-unseen"], ["--profile", "3-8", "--profile-finalize"])
TRAIN_ENDS = ("return", "exit:3", "_exit:4", "quick_exit:5", "throw", "abort", "sigterm")


def random_plan(choose, tool):
    names = COMMON + TOOLS[tool] * 3
    actions = [[choose.choice(names), choose.randrange(1000)] for _ in range(choose.randint(5, 25))]
    return [*actions, ["work", 9]], [choose.choice(ENDS), choose.randrange(1000)]


def short(operation):
    """Correlation ids are told by 32 bits."""
    return type(operation).__name__, operation.correlation & 0xFFFFFFFF, getattr(operation, "name", None), getattr(operation, "bytes", None)


def game(seed):
    import harness

    class Game(harness.TestCase):
        kind = "not begun"
        profile_is_told = False  # whether what the other client gets is the same each time

        def stop(self):
            for number in [int(one.split()[0]) for one in seeds.processes_of(self.folder)]:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(number, signal.SIGKILL)

        def runTest(self):
            choose = random.Random(seed)
            options = {name: choose.choice(values) for name, values in OPTIONS.items()}
            if choose.random() < 0.7:
                self.play_python(choose, options)
            else:
                self.play_train(choose, options)

        def play_python(self, choose, options):
            tool = choose.choice(tuple(TOOLS))
            self.kind = f"Python with {tool}" if tool != "none" else "Python alone"
            gpu = harness.FAKE_GPU / "cuda13"
            own = self.temporary / "own"
            own.mkdir()
            shutil.copy(gpu / "libcupti.so.13", own / "libcupti.so")
            env = {**harness.STAND_IN, **options, "CHAOS_PLUGIN": str(harness.BUILD / "endurance" / "libnvtx_plugin.so"),
                   "CHAOS_BLAS": str(gpu / "gemm_user.so"), "CHAOS_PROFILE": str(self.folder / "truth.profile")}
            if tool in CLIENTS:
                env["CHAOS_CLIENT"] = str(gpu / CLIENTS[tool])
            if tool == "torch.profiler":  # records that come later end the process, without us, too
                env["CHAOS_ENDS_SESSION"] = "1"
            if choose.random() < 0.5 or tool == "proton":
                env["CHAOS_TORCH"] = "1"
            if tool == "proton":
                env.update({"TRITON_CUPTI_LIB_PATH": str(own), "FAKE_GPU_PROFILE": str(self.folder / "truth.profile"), "CHAOS_HOOKED": "1"})
            plan = random_plan(choose, tool)
            # A thread that works beside a session is in it for as long as it happens to.
            self.profile_is_told = tool in CLIENTS and "thread" not in (name for name, _ in plan[0])
            self.compare(plan[1][0], command=[sys.executable, PROGRAM, json.dumps(plan)], env=env)

        def play_train(self, choose, options):
            self.kind = "player"
            flags = {flag[0]: flag for flag in choose.sample(TRAIN_FLAGS, choose.randint(2, 8))}
            if harness.IS_THREAD_SANITIZER:
                flags.pop("--exec-child", None)  # a shell, which its runtime does not run
            how = choose.choice(TRAIN_ENDS)
            env = {**options, "FAKE_GPU_PROFILE": str(self.folder / "truth.profile")}
            self.compare(how, "--steps", str(choose.randint(10, 60)), "--step-us", str(choose.choice((0, 3000, 20000))), "--exit", how,
                         *[word for flag in flags.values() for word in flag], cuda=choose.choice(harness.CUDA_VERSIONS), env=env)

        def compare(self, how, *flags, **more):
            plain, profile = self.play_alone(*flags, **more)
            for path in self.folder.glob("run.db.trigger"):
                path.unlink()
            self.assertEqual(self.files(), [], "the program itself left files")
            ended = self.play(*flags, **more)
            if TWO_FLUSHES in ended.stderr:
                self.kind = "flush beside one of a client that no wrapper sees, which nobody can prevent"
                return
            self.assertEqual((ended.code, ended.stdout, ended.stderr), (plain.code, plain.stdout, plain.stderr))
            recorded_profile = self.take_profile()
            self.assertEqual(seeds.left_of(self.folder), [], "processes are left")
            self.assertLessEqual({path.name for path in self.temporary.iterdir()}, {"own", "run.db", "run.db-wal", "run.db-shm"}, "temporary files are left")
            if (self.folder / "run.db").exists():
                recording = harness.Recording.open_killed(self.folder / "run.db")
                if recording is not None:
                    self.addCleanup(recording.close)
                    self.check(recording, self.truth(ended))
            if self.profile_is_told and recorded_profile != profile:
                # What it gets may hang on moments: buffers of threads that end come back by themselves.
                alone = [self.play_alone(*flags, **more)[1] for _ in range(PROFILES_ALONE)]
                self.assertIn(recorded_profile, alone, "kernels that the other client gains or loses")

        def play_alone(self, *flags, **more):
            """Without the library: how it ended, and what the other client got."""
            return self.play(*flags, preload=False, **more), self.take_profile()

        def take_profile(self):
            """How often each kernel is in each session of the other client's that has one."""
            path = self.folder / "truth.profile"
            sessions = []
            for record in map(json.loads, path.read_text().splitlines()) if path.exists() else ():
                if record["kind"] == "session":
                    sessions.append(collections.Counter())
                elif record["kind"] == KERNEL:
                    sessions[-1][record["name"]] += 1
            path.unlink(missing_ok=True)
            return [session for session in sessions if session]

        def check(self, recording, truth):
            self.assertEqual(recording.integrity(), "ok")
            happened = {(kernel.correlation & 0xFFFFFFFF, kernel.name) for kernel in truth.kernels()}
            recorded = [(kernel.correlation & 0xFFFFFFFF, kernel.name) for kernel in recording.kernels()]
            self.assertEqual(set(recorded) - happened, set(), "kernels were made up")
            if recording.meta.get("closed") != 1:
                return
            for source in ("kernel", "memcpy", "memset"):
                stored = recording.count(source, "stored")
                self.assertEqual(recording.count(source, "seen"), stored + recording.count(source, "dropped"), source)
                self.assertEqual(stored - recording.count(source, "expired"), recording.rows(f"SELECT count(*) FROM {source}")[0][0], source)
            lost = sum(value for (_, counter), (value, _) in recording.health().items() if counter in ("dropped", "exhausted", "damaged"))
            if lost:
                return
            if not recording.rows("SELECT 1 FROM capture_gap"):
                missing = len(happened) - len(set(recorded))
                self.assertLessEqual(missing, self.most_unseen(recording, truth), "kernels are missing, and nothing says so")
            clear = self.outside_gaps(recording, truth)
            for source in ("kernels", "memcpys", "memsets"):
                there, happened = ({short(one) for one in getattr(of, source)() if of is recording or clear(one)} for of in (recording, truth))
                self.assertEqual(happened - there, set(), f"{source} are missing outside of gaps")

        @staticmethod
        def most_unseen(recording, truth):
            """What was launched after the recording had ended, as by exit handlers and threads that went on."""
            end = recording.rows("SELECT end FROM process")[0][0]
            return sum(kernel.end > recording.base + end - 50_000_000 for kernel in truth.kernels()) if end is not None else 0

        @staticmethod
        def outside_gaps(recording, truth):
            """Tells of an operation whether nothing of it, from the beginning of its launch, is in a gap or after the recording's end."""
            end = recording.rows("SELECT end FROM process")[0][0]
            gaps = [(recording.base + begin, recording.base + begin + length) for begin, length in
                    recording.rows("SELECT start, coalesce(dur, 1 << 62) FROM capture_gap")]
            gaps.append((recording.base + end - 50_000_000, math.inf))
            launches = collections.defaultdict(list)
            for call in truth.of("api"):
                launches[call["correlation"]].append(call["start"])

            def clear(one):
                begin = max((start for start in launches[one.correlation] if start <= one.start), default=-math.inf)
                return all(one.end < since or until < begin for since, until in gaps)
            return clear

    return Game()


if __name__ == "__main__":
    sys.exit(seeds.play(seeds.arguments(__doc__, 500), game))
