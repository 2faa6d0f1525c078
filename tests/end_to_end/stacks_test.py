# SPDX-License-Identifier: Apache-2.0
"""Python stacks, against what the interpreter itself says of its frames, on every Python that is here."""

import collections
import itertools
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import unittest

import harness

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM = HERE / "stacks_program.py"
MOST_BYTES = 16  # of the file, a sample


def pythons():
    """Interpreters by version, 3.8 and later; TRACEINJECT_PYTHONS names more, separated by colons."""
    candidates = [sys.executable, "/usr/bin/python3", *sorted(map(str, (pathlib.Path.home() / ".pyenv" / "versions").glob("3.*/bin/python3")))]
    candidates += filter(None, os.environ.get("TRACEINJECT_PYTHONS", "").split(":"))
    found = {}
    for path in candidates:
        try:
            told = subprocess.run([path, "-c", "import sys; print('%d.%d.%d' % sys.version_info[:3])"], capture_output=True, text=True,
                                  timeout=20, check=True)
        except (OSError, subprocess.SubprocessError):
            continue
        version = told.stdout.strip()
        if tuple(map(int, version.split("."))) >= (3, 8):
            found.setdefault(version, path)
    return found


PYTHONS = pythons()


def each_python(test):
    def run(self):
        for version, path in PYTHONS.items():
            with self.subTest(python=version):
                test(self, path)
                for recording in self.recordings:
                    recording.close()
    run.__doc__ = test.__doc__
    return run


class Stacks(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.recordings = []

    def record(self, python, *arguments, env=(), hz=100):
        for file in self.folder.glob("run.db*"):
            file.unlink()
        environment = {**harness.STAND_IN, "TRACEINJECT_FLUSH_MS": "100", "TRACEINJECT_STACKS_HZ": str(hz), **dict(env)}
        ended = self.finish(self.start(command=[python, str(PROGRAM), *arguments], env=environment))
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        recording = self.open()
        self.recordings.append(recording)
        self.assert_nothing_lost(recording)
        self.assertEqual(recording.count("stack", "stored"), recording.rows("SELECT count(*) FROM stack_sample")[0][0])
        self.assertEqual(self.taken(recording), recording.rows("SELECT coalesce(sum(samples), 0) FROM stack_samples")[0][0])
        return json.loads(ended.stdout), recording

    def stacks(self, recording):
        """By id: frames from the innermost on, as (function, file, line)."""
        frames = collections.defaultdict(list)
        for stack, function, file, line in recording.rows("SELECT stack, function, file, line FROM stack_frames ORDER BY stack, depth"):
            frames[stack].append([function, file, line])
        return frames

    def samples(self, recording):
        """(time, tid, stack id); those without a row of their own at even distances."""
        samples = []
        for time, tid, stack, repeats, span in recording.rows(
                "SELECT time, tid, stack, repeats, span FROM stack_sample x JOIN thread t ON t.id = x.thread WHERE kind = 1 ORDER BY time"):
            samples += [(recording.base + time + (span * i // repeats if i else 0), tid, stack) for i in range(1 + (repeats or 0))]
        return samples

    def taken(self, recording):
        return recording.count("stack", "seen") + recording.count("stack", "repeated")

    def torn_share(self, recording):
        seen, torn = self.taken(recording), recording.count("stack", "torn")
        return torn / max(1, seen + torn)


class WhereThreadsStand(Stacks):
    @each_python
    def test_threads_that_stand_still(self, python):
        told, recording = self.record(python, "held")
        stacks, samples = self.stacks(recording), self.samples(recording)
        for held in told["held"]:
            own = [stacks[stack] for time, tid, stack in samples if tid == held["tid"] and held["start"] <= time <= held["end"]]
            self.assertGreaterEqual(len(own), 8, held["place"])
            for frames in own:
                self.assertEqual(frames, held["frames"], held["place"])
        self.assertEqual(recording.rows("SELECT value FROM system_fact WHERE kind = 'stacks' AND key = 'python'"), [(told["python"],)])

    @each_python
    def test_modules(self, python):
        told, recording = self.record(python, "modules", "0.08", hz=200)
        innermost = {}
        for stack, module in recording.rows("SELECT stack, module FROM stack_frames WHERE module IS NOT NULL ORDER BY stack, depth DESC"):
            innermost[stack] = module
        samples, named = self.samples(recording), 0
        callers = itertools.cycle([("Wrapper", "Wrapper.module"), ("Net",)])  # of the loss, which is of no model, by turns
        for name, start, end in told["spent"]:
            own = {innermost[stack] for time, _, stack in samples if start <= time <= end and stack in innermost}
            # A stack that changed while it was read tells what is outside of that.
            outside = next(callers) if name == "Loss" else ()
            self.assertEqual({module for module in own if not f"{name}.".startswith(f"{module}.") and module not in outside}, set(), name)
            named += name in own
        self.assertGreater(named, 0.9 * len(told["spent"]))

    @each_python
    def test_calls_that_return_at_once(self, python):
        """Whatever a sample says has called what is a call of the program's; nearly all are whole."""
        told, recording = self.record(python, "busy", "6", hz=1000)
        stacks, edges = self.stacks(recording), set(map(tuple, told["edges"]))
        own = {name for _, _, name in edges} & {name for name, _, _ in edges}
        own = {name for name in own if "Maze" in name or name in ("first", "second", "third", "numbers", "<lambda>")}
        seen, wrong = 0, []
        for _, tid, stack in self.samples(recording):
            if tid not in told["tids"]:
                continue
            seen += 1
            frames = stacks[stack]
            for (callee, _, _), (caller, _, line) in zip(frames, frames[1:]):
                if callee in own and caller in own and (caller, line, callee) not in edges:
                    wrong.append(frames)
                    break
            self.assertEqual(frames[-1][0].rpartition(".")[2], "_bootstrap")
        self.assertGreater(seen, 500)
        # Two readings may be torn in the same way where calls take no longer than reading does.
        self.assertLessEqual(len(wrong), max(2, seen / 1000), wrong[:1])
        # A thread that lost its processor in the middle of a call or a return cannot be read until it goes on.
        self.assertLess(self.torn_share(recording), 0.25)

    @each_python
    def test_shares_of_lines(self, python):
        text = PROGRAM.read_text().split("\n")
        lines = {part: next(i for i, line in enumerate(text, 1) if line.endswith(f"# {name}"))
                 for part, name in (("0.01", "ten"), ("0.005", "five"), ("0.001", "one"))}
        told, recording = self.record(python, "shares", "6")
        stacks = self.stacks(recording)
        counts, main = collections.Counter(), 0
        for _, tid, stack in self.samples(recording):
            in_shares = [line for name, _, line in stacks[stack] if name == "shares"]
            if tid == told["pid"] and in_shares:
                main += 1
                counts[in_shares[0]] += 1
        for part, spent in told["spent"].items():
            self.assertAlmostEqual(counts[lines[part]] / main, spent / told["total"], delta=0.07)

    @each_python
    def test_threads_that_begin_and_end(self, python):
        _, recording = self.record(python, "threads", "3", hz=500)
        names = {frames[-1][0] for frames in self.stacks(recording).values()}
        self.assertLessEqual(names, {"<module>", "Thread._bootstrap", "_bootstrap"} | {f[0] for s in self.stacks(recording).values() for f in s})
        self.assertGreater(self.taken(recording), 100)

    @each_python
    def test_children_of_forks(self, python):
        told, recording = self.record(python, "fork", "3", hz=1000)
        self.assertGreater(told["children"], 20)
        self.assertEqual(self.files(), ["run.db"])

    @each_python
    def test_an_interpreter_that_ends(self, python):
        for _ in range(3):
            _, recording = self.record(python, "ending", hz=1000)
            self.assertGreater(self.taken(recording), 100)

    @each_python
    def test_a_recursion_deeper_than_what_is_kept(self, python):
        _, recording = self.record(python, "deep", "3")
        self.assertGreater(recording.count("stack", "cut"), 20)
        deepest = max(recording.rows("SELECT count(*) FROM stack_frames GROUP BY stack"))
        self.assertEqual(deepest, (1024,))


    def test_bytes_of_a_sample(self):
        """Of the file, for a program one of whose threads computes while two wait."""
        _, recording = self.record(sys.executable, "mixed", "10")
        path = self.folder / "run.db"
        size = path.stat().st_size
        seen = self.taken(recording)
        recording.close()
        database = sqlite3.connect(path)
        database.execute("DROP VIEW stack_samples")
        database.execute("DROP VIEW stack_frames")
        for table in ("stack_sample", "stack", "code_place"):
            database.execute(f"DROP TABLE {table}")
        database.execute("VACUUM")
        database.close()
        self.assertLess((size - path.stat().st_size) / seen, MOST_BYTES)


class Workers(Stacks):
    def test_workers_stand_where_they_read(self):
        text = (HERE / "train_python.py").read_text().split("\n")
        reads = next(i for i, line in enumerate(text, 1) if "time.sleep(self.item_us" in line)
        for context in ("fork", "spawn", "forkserver"):
            with self.subTest(context=context):
                for file in self.folder.glob("run.db*"):
                    file.unlink()
                command = [sys.executable, str(HERE / "train_python.py"), "--workers", "2", "--context", context, "--item-us", "3000", "--items", "2000"]
                ended = self.finish(self.start(command=command, env={**harness.STAND_IN, "TRACEINJECT_FLUSH_MS": "100"}))
                self.assertEqual((ended.code, ended.stderr), (0, ""))
                recording = self.open()
                self.recordings.append(recording)
                stacks = self.stacks(recording)
                workers = {pid for (pid,) in recording.rows("SELECT pid FROM worker")}
                found = collections.Counter((function, line) for _, tid, stack in self.samples(recording) if tid in workers
                                            for function, _, line in stacks[stack][:1])
                (function, line), count = found.most_common(1)[0]
                self.assertEqual((function.rpartition(".")[2], line), ("__getitem__", reads))
                self.assertGreater(count, sum(found.values()) / 2)


class Calls(Stacks):
    @each_python
    def test_stacks_of_calls_are_exact(self, python):
        text = PROGRAM.read_text().split("\n")
        line = {name: next(i for i, line in enumerate(text, 1) if line.endswith(f"# {name}")) for name in ("small", "large", "wait")}
        # So few that what a thread begins with is enough for all stacks, also where they take 80 us.
        told, recording = self.record(python, "calls", "60")
        stacks = self.stacks(recording)
        named = {correlation: name for correlation, name in recording.rows("SELECT a.correlation, n.name FROM api a JOIN api_name n ON n.id = a.name")}
        kernels = {k.correlation: k.name for k in recording.kernels()}
        launched = 0
        for stack, correlation in recording.rows("SELECT stack, correlation FROM stack_sample WHERE kind = 3"):
            self.assertIn(correlation, named)
            if correlation in kernels:
                self.assertEqual(stacks[stack][0][2], line[kernels[correlation]])
                launched += 1
        self.assertGreater(launched, 30)
        waits = recording.rows("SELECT stack, correlation FROM stack_sample WHERE kind = 2")
        inside = [correlation for stack, correlation in waits if stacks[stack][0][2] == line["wait"]]
        # Once the interpreter was found, which takes longer on a loaded machine; and a thread that is not given a processor until its kernel
        # is over does not wait for it.
        ((waited,),) = recording.rows(
            "SELECT count(*) FROM api a JOIN api_name n ON n.id = a.name WHERE n.name = 'cudaStreamSynchronize' AND a.dur >= 50000 "
            "AND a.start >= (SELECT min(b.start) FROM api b JOIN stack_sample s USING (correlation) WHERE s.kind = 2)")
        self.assertGreater(waited, 0.25 * told["count"])
        self.assertGreater(len(inside), 0.95 * waited)
        self.assertEqual({named[correlation] for correlation in inside}, {"cudaStreamSynchronize"})
        self.assertEqual(len(set(inside)), len(inside))


class Recordings(Stacks):
    def test_off(self):
        _, recording = self.record(sys.executable, "shares", "1", hz=0)
        self.assertEqual(recording.rows("SELECT count(*) FROM stack_sample"), [(0,)])
        self.assertEqual(recording.count("stack", "seen"), 0)
        self.assertEqual(recording.rows("SELECT count(*) FROM system_fact WHERE kind = 'stacks'"), [(0,)])

    def test_a_program_without_python(self):
        ended = self.play("--steps", "20")
        self.assertEqual(ended.code, 0)
        recording = self.open()
        self.assertEqual(recording.rows("SELECT count(*) FROM stack_sample WHERE kind = 1"), [(0,)])
        self.assertEqual(recording.count("stack", "failed"), 0)

    def test_only_in_windows(self):
        _, recording = self.record(sys.executable, "shares", "4", env={"TRACEINJECT_WINDOW": "seconds:2-3"})
        times = [time for time, _, _ in self.samples(recording)]
        self.assertGreater(len(times), 30)
        self.assertLess(max(times) - min(times), 1.2e9)


if __name__ == "__main__":
    harness.main()
