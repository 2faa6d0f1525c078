# SPDX-License-Identifier: Apache-2.0
"""Parts of the Python package that need no recording."""

import json
import os
import pathlib
import re
import struct
import subprocess
import sys
import tempfile
import unittest
from unittest import mock

import traceinject
from traceinject import calls, column, column_stream, int64_fields, markup, programs, report, table

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCHEMAS = [ROOT / "schemas" / name for name in ("report.proto", "ranks.proto")]


def stream_of(rows, *columns):
    """As docs/formats.md has it. `columns`: (what the header says, format of struct, values)."""
    header = json.dumps({"table": "t", "rows": rows, "columns": [{"nullable": False, "constant": False, **told}
                                                                 for told, _, _ in columns]}).encode()
    header += b" " * (-len(header) % 8)
    data = b""
    for _, code, values in columns:
        own = struct.pack(f"<{len(values)}{code}", *values)
        data += own + bytes(-len(own) % 8)
    return b"TRJCOLS1" + struct.pack("<Q", len(header)) + header + data


class ColumnStream(unittest.TestCase):
    BYTES = stream_of(3, ({"name": "a", "type": "int32", "nullable": True}, "i", [1, -2**31, 3]),
                      ({"name": "b", "type": "int64", "constant": True}, "q", [2**40]),
                      ({"name": "c", "type": "double", "nullable": True}, "d", [0.5, float("nan"), 2]),
                      ({"name": "d", "type": "text", "nullable": True, "texts": ["x", "y"]}, "i", [1, -1, 0]))
    ROWS = [{"a": 1, "b": 2**40, "c": 0.5, "d": "y"}, {"a": None, "b": 2**40, "c": None, "d": None}, {"a": 3, "b": 2**40, "c": 2.0, "d": "x"}]

    def test_rows(self):
        read = column_stream.read_table(memoryview(self.BYTES))
        self.assertEqual(read.to_dicts(), self.ROWS)
        self.assertEqual(next(iter(read))._asdict(), self.ROWS[0])
        self.assertEqual((len(read), read.columns), (3, ["a", "b", "c", "d"]))

    def test_arrays(self):
        try:
            import numpy
        except ImportError:
            self.skipTest("no NumPy here")
        read = column_stream.read_table(memoryview(self.BYTES))
        self.assertEqual(read["b"].dtype, numpy.int64)
        self.assertEqual(read["a"].tolist(), [1, None, 3])
        self.assertEqual(read["d"].tolist(), ["y", None, "x"])

    def test_frames(self):
        try:
            import pandas
        except ImportError:
            self.skipTest("no pandas here")
        frame = column_stream.read_table(memoryview(self.BYTES)).to_pandas()
        self.assertEqual([str(dtype) for dtype in frame.dtypes], ["Int32", "int64", "float64", "category"])
        self.assertEqual(frame["d"].astype(object).where(frame["d"].notna(), None).tolist(), ["y", None, "x"])
        self.assertEqual(frame["a"].isna().tolist(), [False, True, False])
        self.assertIsInstance(frame, pandas.DataFrame)

    def test_arrow(self):
        try:
            import pyarrow
        except ImportError:
            self.skipTest("no pyarrow here")
        read = column_stream.read_table(memoryview(self.BYTES)).to_arrow()
        self.assertIsInstance(read, pyarrow.Table)
        self.assertEqual(read.to_pylist(), self.ROWS)

    def test_polars(self):
        try:
            import polars
            import pyarrow  # noqa: F401
        except ImportError:
            self.skipTest("no polars or no pyarrow here")
        read = column_stream.read_table(memoryview(self.BYTES)).to_polars()
        self.assertIsInstance(read, polars.DataFrame)
        self.assertEqual(read.to_dicts(), self.ROWS)

    def test_what_is_cut_short_is_no_table(self):
        for size in range(len(self.BYTES)):
            with self.assertRaises(EOFError):
                column_stream.read_table(memoryview(self.BYTES[:size]))
        with self.assertRaises(ValueError):
            column_stream.read_table(memoryview(b"SQLite format 3\0"))


class Tables(unittest.TestCase):
    def test_types_are_those_that_all_values_fit_into(self):
        kinds = {(1, None): "int64", (1, 0.5): "double", ("x", 1): "text", (): "int64"}
        for values, kind in kinds.items():
            self.assertEqual(column.column_of("c", values).kind, kind)
        made = table.Table.from_rows(["class", "count(*)"], [{"class": "gemm", "count(*)": None}, {"class": None, "count(*)": 7}])
        self.assertEqual([tuple(row) for row in made], [("gemm", None), (None, 7)])
        self.assertEqual(next(iter(made)).class_, "gemm")

    def test_names_are_told(self):
        made = table.Table.from_rows(["a", "b"], [{"a": 1, "b": 2}])
        with self.assertRaisesRegex(KeyError, "no column c; there are a, b"):
            made["c"]
        self.assertIn("a", made)

    def test_html_is_escaped_and_short(self):
        made = table.Table.from_rows(["<a>"], [{"<a>": "<script>"} for _ in range(1000)])
        made.notes.append("1 & 2")
        html = made._repr_html_()
        self.assertNotIn("<script>", html)
        self.assertIn("1,000 rows", html)
        self.assertIn("1 &amp; 2", html)
        self.assertEqual(html.count("<tr>"), 21)


class Reports(unittest.TestCase):
    def fields(self):
        """What each name of a field is in the schemas: {"saved_ns": {"int64"}}."""
        found = {}
        for path in SCHEMAS:
            for kind, name in re.findall(r"^\s*(?:optional |repeated )?(\w+) (\w+) = \d+;", path.read_text(), re.M):
                found.setdefault(name, set()).add(kind)
        return found

    def test_integers_of_64_bits_are_those_of_the_schemas(self):
        fields = self.fields()
        self.assertGreater(len(fields), 300)
        for name, kinds in fields.items():
            if kinds & {"int64", "uint64"}:
                self.assertTrue(int64_fields.is_int64(name), name)
                self.assertNotIn("string", kinds, f"{name}: text would become a number")
            elif "string" in kinds:
                self.assertFalse(int64_fields.is_int64(name), name)

    def test_texts_stay_texts(self):
        parsed = report.Report.parse('{"verdict": {"saved_ns": "12", "label": "7", "steps": "3"}, "notes": ["5"]}')
        self.assertEqual(parsed, {"verdict": {"saved_ns": 12, "label": "7", "steps": 3}, "notes": ["5"]})

    def test_times_are_as_analyze_prints_them(self):
        told = {8641096: "8.641 ms", 11500370: "11.50 ms", 190300: "190.3 us", 999: "999 ns", 1234567890: "1.235 s", None: "unknown",
                -1_500: "-1.500 us", 162_800_000: "162.8 ms"}
        for ns, text in told.items():
            self.assertEqual(markup.time_text(ns), text)


class Programs(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="traceinject-programs-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        override = mock.patch.dict(os.environ, {programs.OVERRIDE: str(self.folder)})
        override.start()
        self.addCleanup(override.stop)

    def program(self, script):
        path = self.folder / "analyze"
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)

    def test_a_missing_program_is_an_error_that_tells_what_to_do(self):
        with self.assertRaisesRegex(traceinject.Error, "analyze was not found(.|\n)*TRACEINJECT_PROGRAMS"):
            traceinject.open("run.db")
        with self.assertRaisesRegex(FileNotFoundError, str(self.folder / "libtraceinject.so")):
            traceinject.preload_path()
        with self.assertRaisesRegex(traceinject.Error, "name a recording"):
            traceinject.open()

    def test_errors_are_the_program_s_words(self):
        self.program("echo 'run.db: damaged' >&2; exit 3")
        with self.assertRaises(traceinject.Error) as caught:
            traceinject.open("run.db")
        self.assertEqual((str(caught.exception), caught.exception.exit_code), ("run.db: damaged", 3))

    def test_the_program_does_not_see_the_override(self):
        self.program('echo "$TRACEINJECT_PROGRAMS,$OTHER"; echo "note: one" >&2')
        with mock.patch.dict(os.environ, {"OTHER": "kept"}):
            self.assertEqual(calls.text([]), (",kept\n", ["one"]))

    def test_flags(self):
        self.assertEqual(calls.flags_of({"from_": "2s", "all": True, "limit": 0, "rank": None, "full_stacks": False, "step_regex": "^b"}),
                         ["--from", "2s", "--all", "--limit", "0", "--step-regex", "^b"])

    def command(self, *words):
        return subprocess.run([sys.executable, "-B", "-m", "traceinject", *words], capture_output=True, text=True, check=False,
                              cwd=pathlib.Path(__file__).parent)

    def test_commands(self):
        self.program('echo "$0 $@"; exit 7')
        ended = self.command("report", "a b", "--full")
        self.assertEqual((ended.returncode, ended.stdout), (7, f"{self.folder.resolve()}/analyze report a b --full\n"))
        self.assertRegex(self.command("view").stderr, "traceview was not found")
        self.assertEqual(self.command().returncode, 2)
        told = self.command("--help")
        self.assertEqual(told.returncode, 0)
        self.assertIn("LD_PRELOAD=$(traceinject preload)", told.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
