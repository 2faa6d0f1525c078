# SPDX-License-Identifier: Apache-2.0
"""Reads what the hardware checks need from a run.db, with Python's own sqlite3: independent of the analyzer.

Times are nanoseconds relative to meta.base_ns, intervals are [start, end).
"""

import bisect
import collections
import ctypes
import pathlib
import sqlite3

# api_name.class in schemas/run_db.sql: launch, copy, memset, graph launch.
LAUNCH_CLASSES = "(1, 2, 3, 7)"
# The device work is a union of three tables with the columns that they share.
OPERATIONS = """
  SELECT start, dur, stream, correlation, 'kernel' AS source FROM kernel
  UNION ALL SELECT start, dur, stream, correlation, 'memcpy' FROM memcpy
  UNION ALL SELECT start, dur, stream, correlation, 'memset' FROM memset"""

Kernel = collections.namedtuple("Kernel", "name start_ns dur_ns step")
Copy = collections.namedtuple("Copy", "kind bytes step")
Collective = collections.namedtuple("Collective", "function bytes step")


class Steps:
    """Ranges named "step N" on the host: maps a moment to the step that contains it."""

    def __init__(self, ranges):
        self.ranges = sorted(ranges)  # (start, end, number)
        self.starts = [start for start, _, _ in self.ranges]

    def __len__(self):
        return len(self.ranges)

    def at(self, moment):
        """The number of the step, or None. O(log steps)."""
        index = bisect.bisect_right(self.starts, moment) - 1
        if index < 0 or moment >= self.ranges[index][1]:
            return None
        return self.ranges[index][2]


def step_number(text):
    """7 for "step 7", None for anything else."""
    word, _, number = (text or "").partition(" ")
    return int(number) if word == "step" and number.isdigit() else None


class RunDb:
    def __init__(self, path):
        self.path = pathlib.Path(path)
        if not self.path.is_file():
            raise FileNotFoundError(f"{path}: no such file; the traced program should have written it")
        self.db = sqlite3.connect(f"{self.path.resolve().as_uri()}?mode=ro", uri=True)

    def one(self, query):
        return self.db.execute(query).fetchone()[0]

    def count(self, table):
        return self.one(f"SELECT count(*) FROM {table}")

    def steps(self):
        rows = self.db.execute(
            "SELECT x.start, x.start + x.dur, s.text FROM nvtx x JOIN nvtx_domain d ON d.id = x.domain "
            "JOIN string s ON s.id = x.text WHERE d.name = '' AND x.dur IS NOT NULL")
        return Steps((start, end, step_number(text)) for start, end, text in rows if step_number(text) is not None)

    def launch_starts(self):
        """Start of the launching call by correlation id."""
        return dict(self.db.execute(
            f"SELECT a.correlation, a.start FROM api a JOIN api_name n ON n.id = a.name WHERE n.class IN {LAUNCH_CLASSES}"))

    def kernels(self):
        """In order of start. Kernels without a launching call have step None."""
        steps, launches = self.steps(), self.launch_starts()
        rows = self.db.execute(
            "SELECT n.text, k.start, k.dur, k.correlation FROM kernel k JOIN kernel_shape h ON h.id = k.shape "
            "JOIN string n ON n.id = h.name ORDER BY k.start")
        return [Kernel(demangle(name), start, dur, steps.at(launches[correlation]) if correlation in launches else None)
                for name, start, dur, correlation in rows]

    def copies(self):
        steps, launches = self.steps(), self.launch_starts()
        rows = self.db.execute("SELECT kind, bytes, correlation FROM memcpy")
        return [Copy(kind, size, steps.at(launches[correlation]) if correlation in launches else None)
                for kind, size, correlation in rows]

    def collectives(self):
        steps = self.steps()
        rows = self.db.execute("SELECT s.text, c.bytes, c.start FROM collective c JOIN string s ON s.id = c.function "
                               "ORDER BY c.start")
        return [Collective(function, size, steps.at(start)) for function, size, start in rows]

    def join_counts(self):
        """{source: (operations, operations that join exactly one launching call)}."""
        rows = self.db.execute(
            f"WITH launch AS MATERIALIZED (SELECT a.correlation, count(*) AS calls FROM api a JOIN api_name n ON n.id = a.name "
            f"WHERE n.class IN {LAUNCH_CLASSES} GROUP BY a.correlation) "
            f"SELECT o.source, count(*), coalesce(sum(l.calls = 1), 0) FROM ({OPERATIONS}) o "
            f"LEFT JOIN launch l ON l.correlation = o.correlation GROUP BY o.source")
        return {source: (operations, joined) for source, operations, joined in rows}

    def intervals_by_device(self):
        """{CUDA ordinal: [(start, end, is_communication, is_kernel), ...]} of all device work."""
        names = dict(self.db.execute("SELECT h.id, n.text FROM kernel_shape h JOIN string n ON n.id = h.name"))
        devices = dict(self.db.execute("SELECT id, device FROM stream"))
        found = collections.defaultdict(list)
        for start, dur, stream, shape in self.db.execute("SELECT start, dur, stream, shape FROM kernel"):
            found[devices[stream]].append((start, start + dur, "nccl" in names[shape].lower(), True))
        for table in ("memcpy", "memset"):
            for start, dur, stream in self.db.execute(f"SELECT start, dur, stream FROM {table}"):
                found[devices[stream]].append((start, start + dur, False, False))
        return dict(found)

    def health(self):
        """{"source.counter": value}."""
        return {f"{source}.{counter}": value
                for source, counter, value in self.db.execute("SELECT source, counter, value FROM health")}


def load_demangler():
    """__cxa_demangle of the C++ runtime, the function that the profiler's library uses as well."""
    library = ctypes.CDLL("libstdc++.so.6")
    library.__cxa_demangle.restype = ctypes.c_void_p
    library.__cxa_demangle.argtypes = [ctypes.c_char_p, ctypes.c_void_p, ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)]
    libc = ctypes.CDLL(None)
    libc.free.argtypes = [ctypes.c_void_p]
    return library, libc


_demangled = {}
_libraries = None


def demangle(name):
    """One spelling for a kernel, whoever recorded it: recorders differ in what they leave mangled (very long names, say)."""
    global _libraries
    if not name.startswith("_Z"):
        return name
    if name not in _demangled:
        if _libraries is None:
            _libraries = load_demangler()
        library, libc = _libraries
        status = ctypes.c_int()
        text = library.__cxa_demangle(name.encode(), None, None, ctypes.byref(status))
        _demangled[name] = ctypes.string_at(text).decode() if status.value == 0 and text else name
        if text:
            libc.free(text)
    return _demangled[name]
