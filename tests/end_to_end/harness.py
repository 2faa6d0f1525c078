# SPDX-License-Identifier: Apache-2.0
"""Plays training runs on the fake GPU under LD_PRELOAD and reads what was recorded and what really happened.

Environment: TRACEINJECT_BUILD, the CMake build folder (default: build/release of this checkout). TRACEINJECT_RUNTIME, a library that is
preloaded before ours: the runtime of a sanitizer that all in the build folder was compiled with (TRACEINJECT_SANITIZE). Its own
options (TSAN_OPTIONS and the like) are passed on. A test in which it reports anything fails. TRACEINJECT_EMULATOR, a program that runs
those of the build folder, which is of another architecture; tests that take other programs are skipped then.
All times are nanoseconds on CLOCK_REALTIME; those read from a database are made absolute here.
"""

import collections
import contextlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("TRACEINJECT_BUILD", ROOT / "build" / "release")).resolve()
LIBRARY = BUILD / "lib" / "libtraceinject.so"
FAKE_GPU = BUILD / "fake_gpu"
# For programs on the stand-in for PyTorch, which may import the helpers beside this file.
STAND_IN = {"PYTHONPATH": f"{ROOT}/tests/end_to_end/stand_in:{ROOT}/tests/end_to_end", "PYTHONDONTWRITEBYTECODE": "1",
            "STAND_IN_BUILTINS": str(BUILD / "stand_in" / "builtins.so")}
RUNTIME = os.environ.get("TRACEINJECT_RUNTIME")
if RUNTIME and not os.path.exists(RUNTIME):  # the dynamic linker would leave it out, and programs played without it
    sys.exit(f"harness.py: TRACEINJECT_RUNTIME={RUNTIME} is not a file; give a path, such as $(g++ -print-file-name=libtsan.so)")
EMULATOR = os.environ.get("TRACEINJECT_EMULATOR", "").split()
# Of each sanitizer. Interpreters and shells that run here free nothing at their end, and children of forks go on with threads.
# Signals that a played program dies of are its own.
SIGNALS = "handle_segv=0:handle_sigbus=0:handle_sigfpe=0:handle_sigill=0:handle_abort=0"
SANITIZER_OPTIONS = {"ASAN_OPTIONS": f"detect_leaks=0:{SIGNALS}", "TSAN_OPTIONS": f"die_after_fork=0:suppressions={ROOT}/tests/end_to_end/thread_sanitizer.supp:{SIGNALS}",
                     "UBSAN_OPTIONS": f"print_stacktrace=1:{SIGNALS}"}
# Sanitizers make programs some ten times as slow.
REPORT = "truth.report"
LIMIT_S = 600 if RUNTIME or EMULATOR else 60
CUDA_VERSIONS = ("cuda12_0", "cuda12", "cuda13")
# Everything that the player can do, short of special endings.
EVERYTHING = ["--nvtx", "--nccl", "new", "--devices", "2", "--memcpy", "--memset", "--peer", "--events", "--graph", "4",
              "--cluster", "--alloc", "--data-wait-us", "300", "--failing-call"]
# Buffers and their records come back in another order. The fake CUPTI fills a 512th to a 64th of each: where the writer had
# no processor for as long as a run takes, more are out than the default pool has, although their records would fit in three.
SHUFFLED = {"FAKE_CUPTI_SHUFFLE": "7", "TRACEINJECT_BUFFERS": "2G"}

# The calls that are recorded, by domain: 1 runtime, 2 driver. Only those that the player makes.
RECORDED_CALLS = {
    1: {"cudaMalloc", "cudaFree", "cudaMallocAsync", "cudaFreeAsync", "cudaHostAlloc", "cudaFreeHost", "cudaMemcpy", "cudaMemcpyAsync", "cudaMemcpyPeerAsync", "cudaMemsetAsync",
        "cudaStreamSynchronize", "cudaEventSynchronize", "cudaDeviceSynchronize",
        "cudaGraphLaunch"},
    2: {"cuLaunchKernel", "cuLaunchKernelEx", "cuMemcpyHtoDAsync", "cuMemcpyDtoHAsync", "cuMemcpyDtoDAsync", "cuMemcpyAsync",
        "cuMemcpyPeerAsync", "cuMemsetD8Async", "cuGraphLaunch", "cuStreamSynchronize", "cuEventSynchronize",
        "cuCtxSynchronize"},
}
RECORDED_CALLS[2] |= {"cuMemAlloc_v2", "cuMemFree_v2"}
LAUNCHES_IN_RUNTIME = {"cudaLaunchKernel", "cudaLaunchKernelExC", "cudaLaunchCooperativeKernel"}

Kernel = collections.namedtuple(
    "Kernel", "start end device context stream correlation graph name grid block cluster registers static_shared "
    "dynamic_shared local")
Memcpy = collections.namedtuple(
    "Memcpy", "start end device context stream correlation graph kind src_kind dst_kind is_async bytes src_device dst_device")
Memset = collections.namedtuple("Memset", "start end device context stream correlation graph value memory_kind bytes")
Memory = collections.namedtuple("Memory", "time device release memory_kind bytes address stream pool correlation")
Api = collections.namedtuple("Api", "start end tid domain cbid name correlation result")
Sync = collections.namedtuple("Sync", "start end tid kind event stream")
Nvtx = collections.namedtuple("Nvtx", "start end tid kind domain text category color payload")
Collective = collections.namedtuple("Collective", "start end tid function communicator bytes reduction peer root")
Communicator = collections.namedtuple("Communicator", "hash size rank device")
Plan = collections.namedtuple("Plan", "collective time tid sequence count datatype algorithm protocol channels warps launch_start launch_end")


def without_sanitizer(reason):
    """Leaves a test out of sanitized builds."""
    return unittest.skipIf(RUNTIME, f"under a sanitizer: {reason}")


IS_THREAD_SANITIZER = bool(RUNTIME) and "tsan" in RUNTIME


def without_thread_sanitizer(reason):
    return unittest.skipIf(IS_THREAD_SANITIZER, f"under ThreadSanitizer: {reason}")


class Truth:
    """What the fake GPU and the player say they did."""

    def __init__(self, lines):
        self.lines = lines

    @classmethod
    def read(cls, path, only=""):
        """`only`: lines that contain it. Reading takes time where there are millions."""
        # A killed process may leave half a last line.
        lines = []
        for line in pathlib.Path(path).read_text().split("\n"):
            if only in line:
                with contextlib.suppress(json.JSONDecodeError):
                    lines.append(json.loads(line))
        return cls(lines)

    def of(self, line_type):
        return [line for line in self.lines if line["t"] == line_type]

    def operations(self, kind):
        return [line for line in self.of("op") if line["kind"] == kind]

    def kernels(self):
        return [Kernel(o["start"], o["end"], o["device"], o["context"], o["stream"], o["correlation"], _graph(o), o["name"],
                       tuple(o["grid"]), tuple(o["block"]), tuple(o["cluster"]) if any(o["cluster"]) else None, o["registers"],
                       o["static_shared"], o["dynamic_shared"], o["local"])
                for o in self.operations("kernel")]

    def memcpys(self):
        def one(o, peer):
            return Memcpy(o["start"], o["end"], o["device"], o["context"], o["stream"], o["correlation"], _graph(o),
                          o["copy_kind"], o["src_kind"], o["dst_kind"], int(o["async"]), o["bytes"],
                          o["src_device"] if peer else None, o["dst_device"] if peer else None)
        return ([one(o, False) for o in self.operations("memcpy")] + [one(o, True) for o in self.operations("peer_memcpy")])

    def memsets(self):
        return [Memset(o["start"], o["end"], o["device"], o["context"], o["stream"], o["correlation"], _graph(o), o["value"],
                       o["dst_kind"], o["bytes"]) for o in self.operations("memset")]

    def memory(self):
        return [Memory(m["time"], m["device"], m["release"], m["memory_kind"], m["bytes"], m["address"], m.get("stream"), "stream" in m,
                       m["correlation"]) for m in self.of("memory")]

    def recorded_calls(self, selected=True):
        """The calls that must be in the database: those on the list, except driver calls made by a recorded runtime call. `selected`
        false: all calls are traced, and those of the runtime that launch are told as well."""
        names = RECORDED_CALLS if selected else {**RECORDED_CALLS, 1: RECORDED_CALLS[1] | LAUNCHES_IN_RUNTIME}
        recorded, outer = [], set()
        for call in self.of("api"):
            if not call["nested"] and call["name"] in names[call["domain"]]:
                outer.add(call["correlation"])
        for call in self.of("api"):
            listed = call["name"] in names[call["domain"]]
            if listed and not (call["nested"] and call["correlation"] in outer):
                recorded.append(Api(call["start"], call["end"], call["tid"], call["domain"], call["cbid"], call["name"],
                                    call["correlation"], call["result"]))
        return recorded


def _graph(operation):
    return (operation["graph_id"], operation["graph_node"]) if operation["graph_id"] else None


class Recording:
    """A run.db, with dictionary ids replaced by what they stand for."""

    def __init__(self, path):
        self.path = pathlib.Path(path)
        self.database = sqlite3.connect(f"file:{self.path}?mode=ro", uri=True)
        self.meta = dict(self.rows("SELECT key, value FROM meta"))
        self.base = self.meta["base_ns"]

    @classmethod
    def open_killed(cls, path):
        """Of a process that was killed; None if that was before its first commit, when there are no tables yet."""
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        tables = database.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        database.close()
        return cls(path) if tables else None

    def close(self):
        self.database.close()

    def rows(self, sql, *arguments):
        return self.database.execute(sql, arguments).fetchall()

    def health(self):
        return {(source, counter): (value, detail)
                for source, counter, value, detail in self.rows("SELECT source, counter, value, detail FROM health")}

    def count(self, source, counter):
        return self.health().get((source, counter), (0, None))[0]

    def without_call(self, table, since=0):
        """How many rows of GPU work have no CUDA call that made them; `since`: of those that start later, as told by the recording."""
        return self.rows(f"SELECT count(*) FROM {table} WHERE start > ? AND correlation NOT IN (SELECT correlation FROM api)", since)[0][0]

    def integrity(self):
        return self.rows("PRAGMA integrity_check")[0][0]

    def kernels(self):
        sql = """SELECT k.start, k.dur, s.device, s.context, s.stream_id, k.correlation, g.graph_id, g.node_id, n.text,
                   h.grid_x, h.grid_y, h.grid_z, h.block_x, h.block_y, h.block_z, h.cluster_x, h.cluster_y, h.cluster_z,
                   h.registers, h.static_shared_bytes, h.dynamic_shared_bytes, h.local_bytes
                 FROM kernel k JOIN stream s ON s.id = k.stream JOIN kernel_shape h ON h.id = k.shape
                   JOIN string n ON n.id = h.name LEFT JOIN graph_node g ON g.id = k.graph_node"""
        return [Kernel(self.base + r[0], self.base + r[0] + r[1], r[2], r[3], r[4], r[5], (r[6], r[7]) if r[6] else None, r[8],
                       r[9:12], r[12:15], None if r[15] is None else r[15:18], *r[18:22]) for r in self.rows(sql)]

    def memcpys(self):
        sql = """SELECT m.start, m.dur, s.device, s.context, s.stream_id, m.correlation, g.graph_id, g.node_id, m.kind,
                   m.src_kind, m.dst_kind, m.async, m.bytes, m.src_device, m.dst_device
                 FROM memcpy m JOIN stream s ON s.id = m.stream LEFT JOIN graph_node g ON g.id = m.graph_node"""
        return [Memcpy(self.base + r[0], self.base + r[0] + r[1], *r[2:6], (r[6], r[7]) if r[6] else None, *r[8:])
                for r in self.rows(sql)]

    def memsets(self):
        sql = """SELECT m.start, m.dur, s.device, s.context, s.stream_id, m.correlation, g.graph_id, g.node_id, m.value,
                   m.memory_kind, m.bytes
                 FROM memset m JOIN stream s ON s.id = m.stream LEFT JOIN graph_node g ON g.id = m.graph_node"""
        return [Memset(self.base + r[0], self.base + r[0] + r[1], *r[2:6], (r[6], r[7]) if r[6] else None, *r[8:])
                for r in self.rows(sql)]

    def memory(self):
        sql = """SELECT m.time, m.device, m.kind, m.memory_kind, m.bytes, m.address, s.stream_id, m.pool, m.correlation
                 FROM memory_operation m LEFT JOIN stream s ON s.id = m.stream"""
        return [Memory(self.base + r[0], r[1], r[2] == 2, *r[3:7], bool(r[7]), r[8]) for r in self.rows(sql)]

    def calls(self):
        sql = """SELECT a.start, a.dur, t.tid, n.domain, n.cbid, n.name, a.correlation, a.result
                 FROM api a JOIN thread t ON t.id = a.thread JOIN api_name n ON n.id = a.name"""
        return [Api(self.base + r[0], self.base + r[0] + r[1], *r[2:]) for r in self.rows(sql)]

    def syncs(self):
        sql = """SELECT y.start, y.dur, t.tid, y.kind, y.event, s.device, s.context, s.stream_id
                 FROM sync y JOIN thread t ON t.id = y.thread LEFT JOIN stream s ON s.id = y.stream ORDER BY y.start"""
        return [Sync(self.base + r[0], self.base + r[0] + r[1], r[2], r[3], r[4], r[5:8] if r[5] is not None else None)
                for r in self.rows(sql)]

    def nvtx(self):
        sql = """SELECT n.start, n.dur, t.tid, n.kind, d.name, s.text, n.category, n.color, n.payload
                 FROM nvtx n JOIN thread t ON t.id = n.thread JOIN nvtx_domain d ON d.id = n.domain
                   LEFT JOIN string s ON s.id = n.text ORDER BY n.start"""
        return [Nvtx(self.base + r[0], None if r[1] is None else self.base + r[0] + r[1], *r[2:]) for r in self.rows(sql)]

    def collectives(self):
        sql = """SELECT c.start, c.dur, t.tid, f.text, m.hash, c.bytes, c.reduction, c.peer, c.root
                 FROM collective c JOIN thread t ON t.id = c.thread JOIN string f ON f.id = c.function
                   LEFT JOIN communicator m ON m.id = c.communicator ORDER BY c.start"""
        return [Collective(self.base + r[0], None if r[1] is None else self.base + r[0] + r[1], *r[2:])
                for r in self.rows(sql)]

    def plans(self):
        sql = """SELECT p.collective, p.time, t.tid, p.sequence, p.count, d.text, a.text, o.text, p.channels, p.warps, p.launch_start,
                   p.launch_start + p.launch_dur
                 FROM collective_plan p JOIN thread t ON t.id = p.thread LEFT JOIN string d ON d.id = p.datatype
                   LEFT JOIN string a ON a.id = p.algorithm LEFT JOIN string o ON o.id = p.protocol"""
        return [Plan(r[0], self.base + r[1], *r[2:10], *(time if time is None else self.base + time for time in r[10:]))
                for r in self.rows(sql)]

    def communicators(self):
        return [Communicator(*r) for r in self.rows("SELECT hash, size, rank, device FROM communicator")]


Ended = collections.namedtuple("Ended", "code stdout stderr pid truth_path")


class TestCase(unittest.TestCase):
    """A test with a folder of its own, in which the played programs run."""

    maxDiff = 4000

    def setUp(self):
        for needed in (LIBRARY, FAKE_GPU / "cuda13" / "fake_train"):
            if not needed.exists():
                raise unittest.SkipTest(f"{needed} is not built; set TRACEINJECT_BUILD to the build folder")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceinject-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        self.addCleanup(self._assert_no_report)
        self.temporary = self.folder / "truth.tmp"
        self.temporary.mkdir()

    def _assert_no_report(self):
        for report in self.folder.glob(f"{REPORT}*"):
            self.fail(f"a sanitizer's report:\n{report.read_text(errors='replace')[:10_000]}")

    def environment(self, cuda, preload, extra, beside=()):
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LANG": "C.UTF-8",
                       "TMPDIR": str(self.temporary), "FAKE_GPU_COUNT": "2", "FAKE_GPU_TRUTH": str(self.folder / "truth.%p"),
                       "LD_LIBRARY_PATH": str(FAKE_GPU / cuda)}
        libraries = ([RUNTIME] if RUNTIME else []) + [LIBRARY] * preload + [BUILD / "faults" / f"lib{name}.so" for name in beside]
        if libraries:
            environment["LD_PRELOAD"] = " ".join(map(str, libraries))
        if RUNTIME:
            # A runtime looks for that file before what makes files fail can answer: then it is standard error, where nobody expects anything.
            reports = "" if "fail_files" in beside else f"log_path={self.folder}/{REPORT}"
            environment.update({name: ":".join(filter(None, (defaults, reports, os.environ.get(name))))
                                for name, defaults in SANITIZER_OPTIONS.items()})
        environment.update(extra)
        if RUNTIME and extra.get("LD_PRELOAD"):
            environment["LD_PRELOAD"] = f"{RUNTIME} {extra['LD_PRELOAD']}"
        return environment

    def start(self, *flags, cuda="cuda13", preload=True, env=(), command=None, beside=()):
        """Starts the player, or `command`, in the folder, with libraries of tests/faults `beside` ours. The caller waits for it."""
        if IS_THREAD_SANITIZER and command and BUILD not in pathlib.Path(command[0]).parents:
            self.skipTest(f"ThreadSanitizer's runtime runs no program that was built without it: {command[0]}")
        words = command or [FAKE_GPU / cuda / "fake_train", *flags]
        if EMULATOR and BUILD not in pathlib.Path(words[0]).parents:
            self.skipTest(f"{words[0]} is of another architecture than the build")
        process = subprocess.Popen(
            [*EMULATOR, *words], cwd=self.folder,
            env=self.environment(cuda, preload, dict(env), beside), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            start_new_session=True)
        self.addCleanup(self._end, process)
        return process

    @staticmethod
    def _end(process):
        # The whole group: a forked child that hangs keeps the pipes open.
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate()

    def finish(self, process):
        # The limit turns a deadlock into a failure; nothing here takes long.
        stdout, stderr = process.communicate(timeout=LIMIT_S)
        if RUNTIME:
            self.assertNotRegex(stderr, "Sanitizer|runtime error:")
        return Ended(process.returncode, stdout, stderr, process.pid, self.folder / f"truth.{process.pid}")

    def play(self, *flags, **how):
        return self.finish(self.start(*flags, **how))

    def play_both(self, *flags, **how):
        """Plays without and with the library; both must look the same from outside. Returns the second."""
        plain = self.play(*flags, preload=False, **how)
        self.assertEqual(self.files(), [], "the player itself left files")
        recorded = self.play(*flags, **how)
        self.assertEqual((recorded.code, recorded.stdout, recorded.stderr), (plain.code, plain.stdout, plain.stderr))
        return recorded

    def truth(self, ended):
        return Truth.read(ended.truth_path)

    def open(self, name="run.db"):
        path = self.folder / name
        self.assertTrue(path.exists(), f"{name} was not written; the folder has {self.files()}")
        recording = Recording(path)
        self.addCleanup(recording.close)
        return recording

    def wait_for_kernels(self, process, count, name="run.db"):
        """Follows the live file, as a viewer does, until it has so many kernels."""
        for _ in range(1000):
            with contextlib.suppress(sqlite3.OperationalError, KeyError):  # the tables come with the first commit
                recording = Recording(self.folder / name)
                self.addCleanup(recording.close)
                if recording.rows("SELECT count(*) FROM kernel")[0][0] >= count:
                    return
            if process.poll() is not None:
                break
            time.sleep(0.02)
        self.fail(f"{name} never had {count} kernels; the folder has {self.files()}")

    def files(self):
        """What the run left in its folder, without the truth."""
        return sorted(p.name for p in self.folder.iterdir() if not p.name.startswith("truth."))

    def assert_same(self, recorded, expected):
        """Equal as multisets; shows a few of the differences."""
        recorded, expected = collections.Counter(recorded), collections.Counter(expected)
        missing, extra = expected - recorded, recorded - expected
        if missing or extra:
            self.fail(f"of {sum(expected.values())}: {sum(missing.values())} missing, e.g. {list(missing)[:2]}; "
                      f"{sum(extra.values())} too many, e.g. {list(extra)[:2]}")

    def assert_gpu_work(self, recording, truth):
        self.assert_same(recording.kernels(), truth.kernels())
        self.assert_same(recording.memcpys(), truth.memcpys())
        self.assert_same(recording.memsets(), truth.memsets())

    def assert_nothing_lost(self, recording):
        for source in ("kernel", "memcpy", "memset", "sync", "nccl", "nccl_plugin"):
            self.assertEqual(recording.count(source, "seen"), recording.count(source, "stored"), source)
        for source, counter in recording.health():
            self.assertNotIn(counter, ("dropped", "errors", "exhausted", "refused", "failed"),
                             f"{source}.{counter} = {recording.health()[source, counter]}")


class AnalyzeTestCase(TestCase):
    """One that asks `analyze` as well."""

    analyze = BUILD / "bin" / "analyze"

    def setUp(self):
        super().setUp()
        if not self.analyze.exists():
            raise unittest.SkipTest(f"{self.analyze} is not built")

    def run_tool(self, *command, code=0):
        ended = subprocess.run([str(word) for word in command], cwd=self.folder, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(ended.returncode, code, ended.stderr)
        return ended


def numberless(text):
    """NCCL's log without processes, threads, addresses and hashes, which differ from run to run."""
    return re.sub(r"0x[0-9a-f]+", "0x", re.sub(r":\d+:\d+ ", ":: ", text))


def killed_by(number):
    """The return code that subprocess gives for a death by this signal."""
    return -int(signal.Signals(number))


def main():
    unittest.main(verbosity=2)
