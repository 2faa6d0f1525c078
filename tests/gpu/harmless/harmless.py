#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch's own tests with and without the library: each must have the same outcome (see harmless.sh).

  harmless.py check --library FILE --checkout FOLDER --out OUT [option]...

Each file of tests is split into shards, each of which is a process in each arm, one beside the other. A process that ends in the
middle of a test has told which one that was: it ended so, the outcome says how, and another process does the rest. How a process
ends after its last test is an outcome as well.
"""

import argparse
import collections
import contextlib
import importlib.util
import json
import os
import pathlib
import queue
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import checks  # noqa: E402
import outcomes  # noqa: E402

# What is in the tests' processes: not this folder, whose modules have names that programs use.
INSIDE = pathlib.Path(__file__).resolve().parent / "inside"
# Tests at most, and GPUs that they need. The slow ones come last: what the time does not suffice for is not compared.
FILES = {"test_transformers.py": (1600, 0), "test_autograd.py": (1000, 0), "test_jit.py": (1200, 0), "test_optim.py": (700, 0),
         "test_dataloader.py": (100, 0), "distributed/test_c10d_nccl.py": (60, 2)}
# Of a file, unless another expression is given. Large tensors take the whole GPU, and skip themselves where somebody else has it.
EXPRESSIONS = {"test_optim.py": "not large_tensor"}
REPETITIONS, MOST_REPEATED = 3, 40
MOST_ENDS = 20  # of a shard's processes, then the rest of it is left out
TABLES = ("kernel", "step_mark", "data_wait", "host_span", "attention")
# Of pytest: all passed, some failed, nothing to do.
ORDINARY_CODES = (0, 1, 5)

Selection = collections.namedtuple("Selection", "file most expression")


def parse_selection(text):
    """FILE[:MOST][=EXPRESSION]"""
    file, _, expression = text.partition("=")
    file, _, most = file.partition(":")
    return Selection(file, int(most) if most else FILES.get(file, (1000, 0))[0], expression or EXPRESSIONS.get(file, ""))


def read_events(path):
    """Whole lines; a process that was killed may have left a half one."""
    events = []
    if path.is_file():
        for line in path.read_text(errors="replace").split("\n"):
            with contextlib.suppress(json.JSONDecodeError):
                events.append(json.loads(line))
    return events


def how_it_ended(code):
    if code < 0:
        return f"signal {signal.Signals(-code).name}"
    return "ended" if code in ORDINARY_CODES else f"exit code {code}"


class Progress:
    """What the log of a process says so far."""

    def __init__(self, events):
        self.selected, self.ended, self.uncollected = [], [], []
        self.running, self.finished, self.preloaded = None, False, None
        for event in events:
            getattr(self, "on_" + event["kind"])(event)

    def on_process(self, event):
        self.preloaded = event["preloaded"]

    def on_selected(self, event):
        self.selected = event["ids"]

    def on_uncollected(self, event):
        self.uncollected.append(event)

    def on_start(self, event):
        self.running = event["id"]

    def on_end(self, event):
        self.running = None
        self.ended.append(event)

    def on_finished(self, _):
        self.finished = True


class Suite:
    """What all shards share."""

    def __init__(self, options):
        self.options = options
        self.test_folder = options.checkout / "test"
        self.library, self.out = options.library, options.out
        self.outcomes = outcomes.Outcomes()
        self.processes = {arm: [] for arm in outcomes.ARMS}
        self.lock = threading.Lock()
        self.numbers = iter(range(1 << 30))
        self.deadline = time.monotonic() + options.seconds

    def number(self):
        with self.lock:
            return next(self.numbers)

    def tell(self, arm, name, outcome, message=""):
        with self.lock:
            self.outcomes.add(arm, name, outcome, message)
            with open(self.out / "tests.jsonl", "a") as file:
                file.write(json.dumps({"arm": arm, "id": name, "outcome": outcome, "message": message}) + "\n")

    def environment(self, arm, folder, name):
        kept = {variable: value for variable, value in os.environ.items()
                if not variable.startswith("TRACEINJECT_") and variable not in ("CI", "LD_PRELOAD", "PYTHONPATH")}
        paths = [str(INSIDE)]
        if not importlib.util.find_spec("expecttest"):
            paths.append(str(INSIDE / "stand_ins"))
        paths += filter(None, [self.options.pythonpath, os.environ.get("PYTHONPATH")])
        kept.update({"PYTHONPATH": os.pathsep.join(paths), "PYTHONDONTWRITEBYTECODE": "1", "PYTHONHASHSEED": "0", "OMP_NUM_THREADS": "1",
                     "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",
                     "HARMLESS_TASK": str(folder / "task.json"), "TMPDIR": str(folder / "tmp"),
                     "TORCHINDUCTOR_CACHE_DIR": str(folder / "inductor"), "TRITON_CACHE_DIR": str(folder / "triton")})
        if self.options.cuda:
            # numba would ask the stand-in for what it lacks, where PyTorch's tests ask whether numba has CUDA.
            kept.update({"LD_LIBRARY_PATH": str(self.options.cuda), "NUMBA_DISABLE_CUDA": "1"})
        if arm == "recorded":
            kept.update({"LD_PRELOAD": str(self.library), "TRACEINJECT_OUTPUT": str(self.out / "recordings" / f"{name}.%p.db")})
        return kept


class Shard:
    """Some tests of a file in one arm. `what`: of the task that the plugin reads, what tells its tests."""

    def __init__(self, suite, arm, selection, label, what):
        self.suite, self.arm, self.selection, self.label, self.what = suite, arm, selection, label, what

    def run(self):
        """All of its tests, as far as there is time, in as many processes as it takes."""
        what = dict(self.what)
        for _ in range(MOST_ENDS):
            if time.monotonic() >= self.suite.deadline:
                return
            progress, ended = self.run_process(what)
            rest = self.take(progress, ended)
            if not rest:
                return
            what = {"only": rest}

    def run_process(self, what):
        """(its progress, how it ended: a text, None if the time was over)"""
        suite = self.suite
        name = f"{self.arm}.{self.label.replace('/', '_')}.{suite.number()}"
        folder = pathlib.Path(tempfile.mkdtemp(prefix="harmless"))
        log = suite.out / "logs" / f"{name}.jsonl"
        for below in ("tmp", "work"):
            (folder / below).mkdir()
        (folder / "task.json").write_text(json.dumps({**what, "log": str(log), "cuda": str(suite.options.cuda or "")}))
        (folder / "pytest.ini").write_text("[pytest]\n")
        command = [sys.executable, "-m", "pytest", "-q", "-p", "harmless_plugin", "-p", "no:cacheprovider",
                   "--noconftest", "-c", str(folder / "pytest.ini"), "--rootdir", str(suite.test_folder), "-p", "no:warnings",
                   str(suite.test_folder / self.selection.file)]
        if self.selection.expression:
            command += ["-k", self.selection.expression]
        with open(suite.out / "logs" / f"{name}.txt", "wb") as printed:
            process = subprocess.Popen(command, cwd=folder / "work", env=suite.environment(self.arm, folder, name), stdin=subprocess.DEVNULL,
                                       stdout=printed, stderr=subprocess.STDOUT, start_new_session=True)
        try:
            return self.watch(process, log)
        finally:
            shutil.rmtree(folder, ignore_errors=True)

    def watch(self, process, log):
        running, since = None, time.monotonic()
        ended = None
        while ended is None and process.poll() is None:
            time.sleep(0.3)
            progress = Progress(read_events(log))
            now = (len(progress.ended), progress.running, progress.finished)
            if now != running:
                running, since = now, time.monotonic()
            if time.monotonic() >= self.suite.deadline:
                end_group(process)
                return Progress(read_events(log)), None
            if time.monotonic() - since > self.suite.options.test_seconds:
                ended = "timed out"
        end_group(process)
        return Progress(read_events(log)), ended or how_it_ended(process.returncode)

    def take(self, progress, ended):
        """Keeps the outcomes; returns the tests that are still to be run."""
        with self.suite.lock:
            if progress.preloaded is not None:
                self.suite.processes[self.arm].append(progress.preloaded)
        for event in progress.ended:
            self.keep(event["id"], event["outcome"], event["message"])
        for event in progress.uncollected:
            self.keep(self.about_process(outcomes.COLLECTION.strip()), "error", event["message"])
        if ended is None:
            return []
        done = {event["id"] for event in progress.ended}
        if progress.running:
            self.keep(progress.running, ended)
            return [name for name in progress.selected if name not in done and name != progress.running]
        self.keep(self.about_process("end"), ended if progress.finished else f"before or between its tests: {ended}")
        return []

    def keep(self, name, outcome, message=""):
        self.suite.tell(self.arm, name, outcome, message)

    def about_process(self, what):
        """An outcome beside those of the tests."""
        return f"{self.selection.file}{outcomes.PROCESS}{self.label} {what}"


def end_group(process):
    """A process that hangs prints where, if it can; nothing that it started is left behind."""
    if process.poll() is None:
        process.send_signal(signal.SIGABRT)
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(3)
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def run_all(shards, jobs):
    """In this order, so many at a time."""
    left = queue.SimpleQueue()
    for shard in shards:
        left.put(shard)

    def work():
        with contextlib.suppress(queue.Empty):
            while True:
                left.get_nowait().run()

    threads = [threading.Thread(target=work) for _ in range(jobs)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def shards_of(suite, selections):
    """Both arms of a shard beside each other: the end of the time takes from both alike."""
    number, count = suite.options.shard
    for selection in selections:
        for part in range(suite.options.shards):
            what = {"most": selection.most, "shard": [number - 1 + count * part, count * suite.options.shards]}
            for arm in outcomes.ARMS:
                yield Shard(suite, arm, selection, f"{selection.file}.{part}", what)


def tests_of_process(suite, name):
    """What the shard had to run of whose process the outcome tells."""
    label = name.split(outcomes.PROCESS)[1].split()[0]
    found = []
    for log in sorted((suite.out / "logs").glob(f"plain.{label.replace('/', '_')}.*.jsonl")):
        found += Progress(read_events(log)).selected
    return found


def repetitions(suite, selections, names):
    """Both ways in turn: of a test alone, of what is said of a process with all of its tests."""
    by_file = {selection.file: selection for selection in selections}
    for name in names:
        selection = by_file[name.split("::")[0]]
        label = name.split(outcomes.PROCESS)[-1].split()[0] if outcomes.PROCESS in name else f"{selection.file}.again"
        only = tests_of_process(suite, name) if outcomes.PROCESS in name else [name]
        for _ in range(REPETITIONS):
            for arm in outcomes.ARMS:
                yield Repetition(suite, arm, selection._replace(expression=""), label, {"only": only}, name)


class Repetition(Shard):
    """Only one outcome of it is kept."""

    def __init__(self, suite, arm, selection, label, what, name):
        super().__init__(suite, arm, selection, label, what)
        self.name = name

    def keep(self, name, outcome, message=""):
        if name == self.name:
            self.suite.tell(self.arm, name, outcome, message)

    def take(self, progress, ended):
        super().take(progress, ended)
        return []


def rows_of(path):
    """{table: rows} of a recording, and of how many parts the library's side in Python was put in place."""
    found = collections.Counter()
    with contextlib.suppress(sqlite3.Error), contextlib.closing(sqlite3.connect(path)) as database:
        tables = {name for name, in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        for table in tables.intersection(TABLES):
            found[table] = database.execute(f"SELECT count(*) FROM {table}").fetchone()[0]
        found["python installed"] = database.execute(
            "SELECT coalesce(sum(value), 0) FROM health WHERE source = 'python' AND counter = 'installed'").fetchone()[0]
        found["python failed"] = database.execute(
            "SELECT coalesce(sum(value), 0) FROM health WHERE source = 'python' AND counter = 'failed'").fetchone()[0]
    return found


def count_recordings(folder, keep):
    """Their rows; they are removed unless they are to be kept."""
    total = collections.Counter()
    for path in sorted(folder.glob("*.db")):
        total += rows_of(path)
        total["recordings"] += 1
    if not keep:
        shutil.rmtree(folder)
    return dict(total)


def selections_of(options, checking):
    """Those for which the machine has what they need, and the checkout the file."""
    found = []
    for selection in options.select or [parse_selection(file) for file in FILES]:
        gpus = FILES.get(selection.file, (0, 0))[1]
        if gpus > options.gpus:
            checking.skip(selection.file, f"needs {gpus} GPUs, {options.gpus} found")
        elif not (options.checkout / "test" / selection.file).is_file():
            checking.skip(selection.file, "the checkout does not have it")
        else:
            found.append(selection)
    return found


def check(options):
    options.out.mkdir(parents=True, exist_ok=True)
    for old in ("logs", "recordings"):
        shutil.rmtree(options.out / old, ignore_errors=True)
        (options.out / old).mkdir()
    for old in ("tests.jsonl", "checks.jsonl"):
        (options.out / old).write_text("")
    checking = checks.Checks(options.out / "checks.jsonl", "harmless")
    suite = Suite(options)
    selections = selections_of(options, checking)
    began = time.monotonic()
    run_all(shards_of(suite, selections), options.jobs)
    first_s, unequal = time.monotonic() - began, suite.outcomes.unequal()
    suite.deadline = time.monotonic() + options.repeat_seconds
    run_all(repetitions(suite, selections, unequal[:MOST_REPEATED]), options.jobs)
    checking.note("time", f"{first_s:.0f} s; {len(unequal)} tests repeated in {time.monotonic() - began - first_s:.0f} s")
    for file, counts in suite.outcomes.counts().items():
        checking.note(file, ", ".join(f"{count} {outcome}" for outcome, count in counts.items()))
    outcomes.judge(checking, suite.outcomes, options.least)
    outcomes.judge_library(checking, suite.processes, count_recordings(options.out / "recordings", options.keep), dict(options.recorded))
    (options.out / "outcomes.json").write_text(json.dumps(
        {"compared": len(suite.outcomes.compared()), "files": suite.outcomes.counts(),
         "differing": [suite.outcomes.row(name) for name in suite.outcomes.differing()],
         "flaky": [suite.outcomes.row(name) for name in suite.outcomes.flaky()],
         "not_compared": sorted(suite.outcomes.not_compared())}, indent=1))
    return checks.summary(options.out / "checks.jsonl", options.out / "results.json")


def parse_shard(text):
    number, _, count = text.partition("/")
    number, count = int(number), int(count)
    if not 1 <= number <= count:
        raise ValueError
    return number, count


def parse_recorded(text):
    table, _, count = text.partition("=")
    return table, int(count)


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    cores = len(os.sched_getaffinity(0))
    parser.add_argument("command", choices=["check"])
    parser.add_argument("--library", type=pathlib.Path, required=True)
    parser.add_argument("--checkout", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--gpus", type=int, default=0)
    parser.add_argument("--select", type=parse_selection, action="append", metavar="FILE[:MOST][=EXPRESSION]",
                        help="a file of the checkout's test/, so many of its tests at most, of those that pytest's expression selects; may be "
                             "repeated (default: " + ", ".join(FILES) + ")")
    parser.add_argument("--shard", type=parse_shard, default=(1, 1), metavar="K/N", help="of all tests the k-th of n parts")
    parser.add_argument("--shards", type=int, default=max(1, cores // 2), help="processes in each arm for each file (default: %(default)s)")
    parser.add_argument("--jobs", type=int, default=cores, help="processes at a time (default: %(default)s)")
    parser.add_argument("--least", type=int, default=3000, help="tests that have to be compared (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=400, help="for the first run of both arms (default: %(default)s)")
    parser.add_argument("--repeat-seconds", type=float, default=100, help="for the repetitions (default: %(default)s)")
    parser.add_argument("--test-seconds", type=float, default=90, help="for a test (default: %(default)s)")
    parser.add_argument("--recorded", type=parse_recorded, action="append", default=[], metavar="TABLE=ROWS", help="what the recordings have to hold")
    parser.add_argument("--cuda", type=pathlib.Path, help="a folder of tests/fake_gpu's build, to be used in place of a GPU")
    parser.add_argument("--pythonpath", help="more folders for the tests' Python")
    parser.add_argument("--keep", action="store_true", help="the recordings")
    options = parser.parse_args()
    for name in ("library", "checkout", "out", "cuda"):
        if getattr(options, name):
            setattr(options, name, getattr(options, name).resolve())
    return options


if __name__ == "__main__":
    sys.exit(check(parse_options()))
