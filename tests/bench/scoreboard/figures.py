# SPDX-License-Identifier: Apache-2.0
"""The figures of the project, in one table: how each is measured, and its limit.

What depends on time is processor time, divided by that of a calibration loop that ran right before and after it: SQLite's scan of
the same file, Python's parser on the same trace, SQLite's inserts, a copy of memory, a process without the library. The ratio is
nearly the same on machines of different speed. What does not depend on time is counted, and figures_test.py holds it
to its limit as well: a limit is what the figure has been held to, so that it cannot slip back unseen.
"""

import collections
import functools
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parents[2]
sys.path.insert(0, str(HERE.parent))
import kineto_import  # noqa: E402
import repeat_run  # noqa: E402

SCHEMA = ROOT / "schemas" / "run_db.sql"
TRANSFORMER = ROOT / "samples" / "recordings" / "transformer_h200.db.zst"
# Of each size: kernels of a recording of training, events of a recording for the viewer, megabytes of a trace, rows to insert.
Size = collections.namedtuple("Size", "kernels events megabytes rows")
SIZES = {"tiny": Size(20_000, 100_000, 5, 20_000), "small": Size(200_000, 1_000_000, 40, 200_000), "large": Size(3_000_000, 10_000_000, 400, 2_000_000)}

Cost = collections.namedtuple("Cost", "processor_s output")


class Failed(Exception):
    """A program that is measured failed."""


class Absent(Exception):
    """Something that a figure needs is not on this machine."""


def need_programs(folder):
    """The sentence that says what is missing in it, if something is."""
    missing = [name for name in ("analyze", "traceview") if not os.access(pathlib.Path(folder) / name, os.X_OK)]
    return f"{folder} has no {' and no '.join(missing)}: give the folder of a build's programs, such as build/release/bin" if missing else None


def cost_of(command, env=None):
    process = subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, env=env)
    with process.stdout:
        output = process.stdout.read()
    _, status, used = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    # traceview --check says by 1 that a recording lacks something.
    if process.returncode not in (0, 1):
        raise Failed(f"{' '.join(map(str, command))}: exit code {process.returncode}")
    return Cost(used.ru_utime + used.ru_stime, output)


# The most that a program had resident counts from before it was loaded: whoever starts it must be small. Without pages of 2 MB, of which
# there are more or fewer from run to run, and none on some machines.
PEAK = """
import ctypes, os, sys
PR_SET_THP_DISABLE = 41
ctypes.CDLL(None).prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0)
nowhere = [(os.POSIX_SPAWN_OPEN, number, os.devnull, os.O_WRONLY, 0) for number in (1, 2)]
print(os.wait4(os.posix_spawn(sys.argv[1], sys.argv[1:], os.environ, file_actions=nowhere), 0)[2].ru_maxrss)
"""


def peak_bytes(command):
    return int(cost_of([sys.executable, "-SEc", PEAK, *command]).output) * 1024


def own_cost(work):
    """Processor seconds of a function, in a process of its own, with nothing left of it."""
    child = os.fork()
    if child == 0:
        work()
        os._exit(0)
    used = os.wait4(child, 0)[2]
    return used.ru_utime + used.ru_stime


class Inputs:
    """Are made when they are needed, in `folder`."""

    def __init__(self, folder, size):
        self.folder, self.size = pathlib.Path(folder), SIZES[size]

    @functools.cached_property
    def training(self):
        path = self.folder / "training.db"
        subprocess.run([sys.executable, repeat_run.__file__, TRANSFORMER, path, "--kernels", str(self.size.kernels)], check=True,
                       stdout=subprocess.DEVNULL)
        return path

    @functools.cached_property
    def events(self):
        path = self.folder / "events.db"
        subprocess.run([sys.executable, HERE.parent / "make_run.py", path, "--events", str(self.size.events)], check=True)
        return path

    @functools.cached_property
    def few_events(self):
        path = self.folder / "few.db"
        subprocess.run([sys.executable, HERE.parent / "make_run.py", path, "--events", "1000"], check=True)
        return path

    @functools.cached_property
    def trace(self):
        path = self.folder / "trace.json"
        kineto_import.write_trace(path, self.size.megabytes * 1_000_000)
        return path


class Bench:
    """Programs, and the inputs that they may share with others."""

    def __init__(self, programs, inputs):
        self.programs, self.inputs = pathlib.Path(programs), inputs

    @property
    def analyze(self):
        return self.programs / "analyze"

    @property
    def library(self):
        """Beside the programs, as it is installed, or in the other folder of a build."""
        beside = self.programs / "libtraceinject.so"
        return beside if beside.exists() else self.programs.parent / "lib" / "libtraceinject.so"

    @functools.cached_property
    def frames(self):
        shown = cost_of([self.programs / "traceview", self.inputs.events, "--bench-frames", "100"])
        return json.loads(shown.output)

    def player(self):
        return self.programs.parent / "fake_gpu" / "cuda13" / "fake_train"

    def play(self, recorded):
        environment = {"PATH": os.environ["PATH"], "LD_LIBRARY_PATH": str(self.player().parent),
                       "TRACEINJECT_OUTPUT": str(self.inputs.folder / "played.db")}
        if recorded:
            environment["LD_PRELOAD"] = str(self.library)
        for left in self.inputs.folder.glob("played.db*"):
            left.unlink()
        steps = max(self.inputs.size.rows // 400, 500)  # below, what a file has anyway would count
        return cost_of([self.player(), "--nvtx", "--nccl", "new", "--steps", str(steps), "--kernels", "40"], environment)


# Calibration loops: processor seconds.

def scan(path, tables=("kernel", "api")):
    """SQLite alone, over all rows."""
    run = sqlite3.connect(f"file:{path}?immutable=1", uri=True)
    for table in tables:
        columns = [row[1] for row in run.execute(f"PRAGMA table_info({table})")]
        run.execute(f"SELECT count(max({', '.join(columns)}, 0)) FROM {table}").fetchall()
    run.close()


def insert(rows):
    run = sqlite3.connect(":memory:", isolation_level=None)
    run.executescript(SCHEMA.read_text())
    run.execute("BEGIN")
    run.executemany("INSERT INTO kernel VALUES (?, 1000, 1, 1, ?, NULL)", ((i, i) for i in range(rows)))
    run.execute("COMMIT")
    run.close()


def copy_memory(_):
    source = bytes(64 << 20)
    for _ in range(8):
        bytearray(source)


CALIBRATIONS = {
    "scan of the recording": lambda bench: own_cost(lambda: scan(bench.inputs.training)),
    "scan of the events": lambda bench: own_cost(lambda: scan(bench.inputs.events, ("kernel", "api", "nvtx"))),
    "Python's parser": lambda bench: cost_of([sys.executable, "-c", "import json, sys; json.load(open(sys.argv[1]))", bench.inputs.trace]).processor_s,
    "inserts": lambda bench: own_cost(lambda: insert(bench.inputs.size.rows)),
    "copy of memory": lambda bench: own_cost(lambda: copy_memory(bench)),
    "without the library": lambda bench: bench.play(False).processor_s,
    "shell without the library": lambda bench: own_shells(bench, False),
}


def own_shells(bench, preloaded, times=60):
    environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    if preloaded:
        environment["LD_PRELOAD"] = str(bench.library)
    return sum(cost_of(["bash", "-c", "true"], environment).processor_s for _ in range(times))


# Figures.

def stored_events(path):
    run = sqlite3.connect(path)
    count = sum(run.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("kernel", "memcpy", "memset", "api", "sync", "nvtx", "collective"))
    run.close()
    return count


def export_cost(bench, *to):
    return cost_of([bench.analyze, "export", bench.inputs.training, "--to", *to, "-o", os.devnull, "--no-progress"]).processor_s


def recording_bytes(bench):
    bench.play(True)
    path = bench.inputs.folder / "played.db"
    return path.stat().st_size / stored_events(path)


def exported_symbols(bench):
    table = subprocess.run(["nm", "-D", "--defined-only", bench.library], check=True, capture_output=True, text=True).stdout
    return len(table.splitlines())


def columns_bytes(bench):
    path = bench.inputs.folder / "kernels.columns"
    cost_of([bench.analyze, "export", bench.inputs.training, "--to", "columns", "--table", "kernels", "-o", path, "--no-progress"])
    return path.stat().st_size / kernels_of(bench)


def kernels_of(bench):
    run = sqlite3.connect(bench.inputs.training)
    count = run.execute("SELECT count(*) FROM kernel").fetchone()[0]
    run.close()
    return count


def viewer_memory(bench):
    """Beyond what it takes for a recording of a thousand events."""
    small, large = (peak_bytes([bench.programs / "traceview", path, "--check"]) for path in (bench.inputs.few_events, bench.inputs.events))
    return (large - small) / bench.inputs.size.events


def report_memory(bench):
    small, large = (peak_bytes([bench.analyze, path, "--no-progress"]) for path in (bench.inputs.few_events, bench.inputs.training))
    return (large - small) / kernels_of(bench)


def start_calls(bench):
    """System calls that the library adds to a shell that does nothing."""
    if shutil.which("strace") is None:
        raise Absent("strace is not installed")

    def calls(environment):
        trace = bench.inputs.folder / "calls"
        cost_of(["strace", "-f", "-o", trace, *(f"-E{name}={value}" for name, value in environment.items()), "bash", "-c", "true"])
        return len(trace.read_text().splitlines())

    return calls({"LD_PRELOAD": bench.library}) - calls({})


# name, calibration (None: it does not depend on time), what one unit is, limit, function of a Bench.
Figure = collections.namedtuple("Figure", "name calibration unit limit measure")
FIGURES = [
    Figure("report", "scan of the recording", "scans", 4.0, lambda bench: cost_of([bench.analyze, bench.inputs.training, "--no-progress"]).processor_s),
    Figure("report as JSON of a trace", "Python's parser", "parses", 0.5,
           lambda bench: cost_of([bench.analyze, bench.inputs.trace, "--format", "json", "--no-progress"]).processor_s),
    Figure("kernels as columns", "scan of the recording", "scans", 4.0, lambda bench: export_cost(bench, "columns", "--table", "kernels")),
    Figure("export for Perfetto", "scan of the recording", "scans", 12.0, lambda bench: export_cost(bench, "perfetto")),
    Figure("viewer reads", "scan of the events", "scans", 6.0,
           lambda bench: cost_of([bench.programs / "traceview", bench.inputs.events, "--check"]).processor_s),
    Figure("program with the library", "without the library", "times", 6.0, lambda bench: bench.play(True).processor_s),
    Figure("shell with the library", "shell without the library", "times", 2.5, lambda bench: own_shells(bench, True)),
    Figure("viewer, draw commands of a frame", None, "commands", 10, lambda bench: bench.frames["draw_commands"]["max"]),
    Figure("viewer, lanes", None, "bytes an event", 20, lambda bench: bench.frames["lane_bytes"] / bench.frames["events"]),
    Figure("viewer, memory", None, "bytes an event", 36, viewer_memory),
    Figure("report, memory", None, "bytes a kernel", 170, report_memory),
    Figure("recording", None, "bytes an event", 32, recording_bytes),
    Figure("kernels as columns, size", None, "bytes a kernel", 98, columns_bytes),
    Figure("symbols of the library", None, "symbols", 130, exported_symbols),
    Figure("start, system calls", None, "calls", 30, start_calls),
]


def named(names):
    """Those of these names; all without any."""
    unknown = set(names) - {figure.name for figure in FIGURES}
    if unknown:
        raise ValueError(f"no figure is called {'; '.join(sorted(unknown))}. There are: {'; '.join(figure.name for figure in FIGURES)}")
    return [figure for figure in FIGURES if not names or figure.name in names]
