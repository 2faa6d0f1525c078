# SPDX-License-Identifier: Apache-2.0
"""The Python package on shipped recordings and on traces of other profilers: its figures are those that analyze prints, and the examples
of docs/python.md give what the page says."""

import contextlib
import doctest
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import harness
import nsys_export
import torch_trace

sys.path.insert(0, str(harness.ROOT / "packaging" / "python"))
import traceinject  # noqa: E402

ANALYZE = harness.AnalyzeTestCase.analyze
RECORDINGS = harness.ROOT / "samples" / "recordings"
SYSTEM_PYTHON = "/usr/bin/python3"
PAGE = harness.ROOT / "docs" / "python.md"
# Methods, and the command whose rows they give.
TABLES = {"steps": "steps", "gaps": "gaps", "code": "code", "kernel_names": "kernels", "nvtx": "nvtx", "communication": "comm",
          "memory": "memory", "loader": "data"}
# Methods, and the table of recordings that their events are in.
EVENTS = {"kernels": "kernel", "memcpys": "memcpy", "memsets": "memset", "calls": "api", "ranges": "nvtx", "collectives": "collective",
          "data_waits": "data_wait", "host_spans": "host_span", "operators": "profiler_range", "samples": "device_sample"}


def without_quotes(value):
    """JSON of Protocol Buffers without the quotes around integers of 64 bits: all numbers become text."""
    if isinstance(value, dict):
        return {name: without_quotes(one) for name, one in value.items()}
    if isinstance(value, list):
        return [without_quotes(one) for one in value]
    return str(value) if isinstance(value, int) and not isinstance(value, bool) else value


@unittest.skipUnless(ANALYZE.exists(), f"{ANALYZE} is not built")
class Reader(unittest.TestCase):
    maxDiff = 4000
    run_tool = harness.AnalyzeTestCase.run_tool

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="traceinject-reader-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)
        temporary = self.folder / "tmp"
        temporary.mkdir()
        replaced = mock.patch.dict(os.environ, {"TRACEINJECT_PROGRAMS": str(ANALYZE.parent), "TMPDIR": str(temporary)})
        replaced.start()
        self.addCleanup(replaced.stop)
        self.addCleanup(lambda: self.assertEqual(list(temporary.iterdir()), [], "temporary files are left"))

    def printed(self, *words):
        return json.loads(self.run_tool(ANALYZE, *words, "--format", "json").stdout)

    def sum(self, path, table, value):
        """Over the rows of all files. Recordings of before the table was added have none."""
        if not self.printed("sql", path, f"SELECT 1 FROM sqlite_schema WHERE name = '{table}'"):
            return 0
        return sum(row["n"] for row in self.printed("sql", path, f"SELECT coalesce(sum({value}), 0) AS n FROM {table}"))

    def check_all(self, path):
        with traceinject.open(path) as run:
            for method, command in TABLES.items():
                with self.subTest(path=path.name, method=method):
                    table = getattr(run, method)()
                    self.assertEqual(table.to_dicts(), self.printed(command, path, "--limit", "0"))
                    self.assertTrue(table.columns)
            for method, table in EVENTS.items():
                with self.subTest(path=path.name, method=method):
                    self.assertEqual(len(getattr(run, method)()), self.sum(path, table, "1"))
            self.check_kernels(run, path)
            self.check_report(run, path)

    def check_kernels(self, run, path):
        by_name = {}
        for kernel in run.kernels():
            time_ns, count = by_name.get(kernel.name, (0, 0))
            by_name[kernel.name] = (time_ns + kernel.dur_ns, count + 1)
        told = {row["name"]: (row["total_ns"], row["count"]) for row in self.printed("kernels", path, "--all", "--limit", "0")}
        self.assertEqual(by_name, told)
        copied = sum(run.memcpys(columns=["bytes"]).to_lists()["bytes"])
        self.assertEqual(copied, self.sum(path, "memcpy", "bytes"))

    def check_report(self, run, path):
        report, told = run.report(), self.printed("report", path)
        self.assertEqual(without_quotes(report), without_quotes(told))
        verdict = run.verdict()
        self.assertEqual((verdict.label, verdict.title), (told["verdict"]["label"], told["verdict"]["title"]))
        self.assertEqual(verdict.saved_ns, int(told["verdict"]["saved_ns"]) if "saved_ns" in told["verdict"] else None)
        self.assertIn(verdict.title, str(verdict))
        self.assertIn(verdict.label, verdict._repr_html_())
        self.assertIn(verdict.label, report._repr_html_())
        self.assertEqual(len(run.metadata()), len(report["sources"]))

    def test_recording_with_stacks(self):
        path = RECORDINGS / "slow_numpy_h100.db.zst"
        self.check_all(path)
        with traceinject.open(path) as run:
            verdict = run.verdict()
            self.assertEqual((verdict.place, verdict.file, verdict.line, verdict.function), ("plant.py:11", "plant.py", 11, "augment"))
            self.assertLess(verdict.saved_low_ns, verdict.saved_ns)
            self.assertGreater(verdict.saved_high_ns, verdict.saved_ns)
            self.assertTrue(verdict.evidence and verdict.levers)

    def test_ranks(self):
        path = RECORDINGS / "ddp_h200"
        self.check_all(path)
        with traceinject.open(*sorted(path.glob("*.zst"))) as run:
            kernels = run.kernels(columns=["rank", "process"])
            self.assertEqual({tuple(row) for row in kernels}, {(0, 0), (1, 1)})
            self.assertEqual(run.sql("SELECT count(*) AS n FROM kernel").columns, ["rank", "n"])

    def test_trace_of_torch_profiler(self):
        path = self.folder / "trace.json"
        torch_trace.TorchTrace(1).write(path)
        self.check_all(path)

    def test_export_of_nsight_systems(self):
        recording = self.folder / "run.db"
        self.run_tool("zstd", "-qd", RECORDINGS / "slow_loader_h200.db.zst", "-o", recording)
        path = self.folder / "report.sqlite"
        nsys_export.write_export(recording, path)
        with traceinject.open(path) as run:
            self.check_kernels(run, path)
            self.check_report(run, path)

    def test_options_of_commands(self):
        path = RECORDINGS / "slow_loader_h200.db.zst"
        with traceinject.open(path) as run:
            self.assertEqual(run.gaps(limit=3, filter="data wait").to_dicts(), self.printed("gaps", path, "--limit", "3", "--filter", "data wait"))
            self.assertEqual(run.report(steps="10..20")["scope"]["steps"], 11)
            self.assertNotEqual(run.report()["scope"]["steps"], 11, "the report is that without options")
            self.assertEqual(run.kernels(columns=["name", "dur_ns"]).columns, ["name", "dur_ns"])
            self.assertEqual(run.loader(loaders=True).to_dicts(), self.printed("data", path, "--loaders"))

    def test_errors_are_those_of_analyze(self):
        with self.assertRaisesRegex(traceinject.Error, "no such file") as caught:
            traceinject.open(self.folder / "none.db")
        self.assertEqual(caught.exception.exit_code, 3)
        (self.folder / "no.db").write_text("no database" * 100)
        with self.assertRaisesRegex(traceinject.Error, "no.db"):
            traceinject.open(self.folder / "no.db")
        with traceinject.open(RECORDINGS / "slow_loader_h200.db.zst") as run:
            for call, words in ((lambda: run.sql("SELECT nowhere"), "no such column: nowhere"),
                                (lambda: run.sql("DROP TABLE kernel"), "read-only"),
                                (lambda: run.kernels(columns=["grid"]), "no column grid; it has start_ns"),
                                (lambda: run.steps(sort="nothing"), "--sort")):
                with self.assertRaisesRegex(traceinject.Error, words):
                    call()

    def test_frames(self):
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas here: apt install python3-pandas")
        path = RECORDINGS / "slow_loader_h200.db.zst"
        with traceinject.open(path) as run:
            frame = run.kernels().to_pandas()
            told = self.printed("kernels", path, "--all", "--limit", "0")
            self.assertEqual(frame.groupby("name", observed=True)["dur_ns"].sum().to_dict(), {row["name"]: row["total_ns"] for row in told})
            self.assertEqual(str(frame["name"].dtype), "category")
            for method in (*EVENTS, *TABLES):
                self.assertEqual(len(getattr(run, method)().to_pandas().columns), len(getattr(run, method)().columns), method)

    def test_page(self):
        """The examples of the page, one after the other, as if typed in."""
        text = PAGE.read_text()
        examples = "".join(match[1] for match in re.finditer(r"^```pycon\n(.*?)^```$", text, re.MULTILINE | re.DOTALL))
        self.assertGreater(examples.count(">>> "), 10)
        try:
            import pandas  # noqa: F401
        except ImportError:
            self.skipTest("no pandas here: apt install python3-pandas")
        test = doctest.DocTestParser().get_doctest(examples, {}, PAGE.name, str(PAGE), 0)
        told = []
        with self.in_root():
            doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE, verbose=False).run(test, out=told.append)
        self.assertEqual("".join(told), "")

    @contextlib.contextmanager
    def in_root(self):
        before = os.getcwd()
        os.chdir(harness.ROOT)
        try:
            yield
        finally:
            os.chdir(before)


def has_pandas(python):
    return subprocess.run([python, "-c", "import pandas"], capture_output=True, check=False).returncode == 0


if __name__ == "__main__":
    # That of the system has what Debian packages.
    if not has_pandas(sys.executable) and os.path.exists(SYSTEM_PYTHON) and has_pandas(SYSTEM_PYTHON):
        os.execv(SYSTEM_PYTHON, [SYSTEM_PYTHON, "-B", *sys.argv])
    harness.main()
