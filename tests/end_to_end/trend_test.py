# SPDX-License-Identifier: Apache-2.0
"""`analyze trend` over runs that were made of a recording of a real one by stretching its time, and over the shipped recordings."""

import json
import os
import re
import shutil
import sqlite3
import subprocess
import unittest
from unittest import mock

import harness

RECORDINGS = harness.ROOT / "samples" / "recordings"
BASE_RECORDING = RECORDINGS / "slow_numpy_h100.db.zst"
DAY_NS = 86_400 * 10**9
FIRST_NS = 20_778 * DAY_NS  # 2026-11-21
TIMES = ("start", "dur", "end", "time", "realtime", "monotonic", "monotonic_raw", "boottime", "launch_start", "launch_dur", "span")
# Shares of the time, as runs of one program differ, and the planted slow-down.
SCATTER = (0, 0.004, -0.003, 0.006, -0.005, 0.002, -0.002, 0.003)
SLOWER = 1.15


def stretched(plain, path, day, factor, more=()):
    """A copy of a recording that began on another day, with all its times by a factor. `more`: SQL."""
    shutil.copy(plain, path)
    with sqlite3.connect(path) as run:
        for (table,) in run.execute("SELECT name FROM sqlite_schema WHERE type = 'table'").fetchall():
            columns = [name for _, name, *_ in run.execute(f"PRAGMA table_info({table})") if name in TIMES]
            if columns:
                run.execute(f"UPDATE {table} SET " + ", ".join(f"{name} = CAST({name} * {factor} AS INTEGER)" for name in columns))
        run.execute("UPDATE meta SET value = ? WHERE key = 'base_ns'", (FIRST_NS + day * DAY_NS,))
        for statement in more:
            run.execute(statement)
    run.close()


@unittest.skipUnless(shutil.which("zstd"), "zstd is not here")
class Trend(harness.AnalyzeTestCase):
    def setUp(self):
        super().setUp()
        replaced = mock.patch.dict(os.environ, {"XDG_CACHE_HOME": str(self.folder / "cache")})
        replaced.start()
        self.addCleanup(replaced.stop)
        self.plain = self.folder / "plain.db"
        subprocess.run(["zstd", "-q", "-d", BASE_RECORDING, "-o", self.plain], check=True)
        self.runs = self.folder / "nightly"
        self.runs.mkdir()

    def add(self, day, factor, more=()):
        stretched(self.plain, self.runs / f"run{day:02}.db", day, factor * (1 + SCATTER[day % len(SCATTER)]), more)

    def trend(self, *words, code=0):
        return self.run_tool(self.analyze, "trend", self.runs, "--no-progress", *words, code=code)

    def groups(self, *words):
        return json.loads(self.trend("--format", "json", *words).stdout)

    def test_a_slow_down_is_found_in_its_place(self):
        for day in range(6):
            self.add(day, 1)
        self.assertFalse(self.groups()["regressed"])
        for day in range(6, 10):
            self.add(day, SLOWER, ["INSERT INTO system_fact (proc, kind, key, value) VALUES (1, 'env', 'GIT_COMMIT', '1a2b3c4d5e6f7')",
                                   "UPDATE process SET command_line = command_line || ' --slow'"])
        told = self.groups()
        (group,) = told["groups"]
        (change,) = group["changes"]
        self.assertEqual((told["regressed"], change["run"], change["runs_before"], change["runs_after"]), (True, 6, 6, 4))
        self.assertAlmostEqual(change["change_share"], SLOWER - 1, delta=0.02)
        self.assertLess(change["low_share"], SLOWER - 1)
        self.assertGreater(change["high_share"], SLOWER - 1)
        self.assertEqual([setting["name"] for setting in change["settings"]], ["command_line"])
        text = self.trend().stdout
        self.assertRegex(" ".join(text.split()), r"slower: step .* since run06\.db of 2026-11-27, commit 1a2b3c4d5e6f")
        self.trend("--fail-on-regression", code=1)
        self.trend("--fail-on-regression", "--since", "2026-11-28")
        self.trend("--fail-on-regression", "--tolerance", "20")
        self.trend("--since", "yesterday", code=2)

    def test_runs_are_as_report_and_steps_have_them(self):
        self.add(0, 1)
        (group,) = self.groups()["groups"]
        (run,) = group["runs"]
        report = json.loads(self.run_tool(self.analyze, self.runs / "run00.db", "--format", "json").stdout)
        self.assertEqual((run["verdict"], run["saved_ns"]), (report["verdict"]["label"], report["verdict"]["saved_ns"]))
        self.assertEqual(int(run["start_unix_ns"]) // DAY_NS * DAY_NS, FIRST_NS)
        median = int(report["steps"][0]["judged_median_ns"])
        self.assertAlmostEqual(int(run["step_ns"]), median, delta=0.03 * median)
        self.assertLessEqual(int(run["step_low_ns"]), int(run["step_ns"]))
        self.assertEqual(len(run["host"]) > 0, True)

    def test_what_is_known_is_not_read_again(self):
        for day in range(2):
            self.add(day, 1)
        first = self.groups()
        for path in self.runs.iterdir():
            times = path.stat()
            path.write_bytes(bytes(times.st_size))
            os.utime(path, ns=(times.st_atime_ns, times.st_mtime_ns))
        self.assertEqual(self.groups(), first)
        self.trend("--no-cache", code=3)
        self.trend("--step-regex", "x", code=3)
        os.utime(self.runs / "run00.db")
        self.assertEqual(len(self.groups()["left_out"]), 1)

    def test_what_cannot_be_read_is_told_and_the_rest_goes_on(self):
        self.add(0, 1)
        (self.runs / "broken.db").write_bytes(b"no database" * 100)
        (self.runs / "empty").mkdir()
        told = self.groups()
        self.assertEqual(len(told["groups"][0]["runs"]), 1)
        self.assertEqual(len(told["left_out"]), 1)
        self.assertIn("broken.db", told["left_out"][0])
        self.assertIn("not an SQLite database", self.trend().stdout)
        nothing = self.run_tool(self.analyze, "trend", self.runs / "empty", code=3)
        self.assertIn("no recordings in this folder or below it", nothing.stderr)
        self.run_tool(self.analyze, "trend", self.folder / "nowhere", code=3)
        (self.runs / "run00.db").unlink()
        self.assertIn("none of 1 run could be read", self.trend(code=3).stderr)

    def test_what_is_being_recorded_is_left_out(self):
        self.add(0, 1)
        process = self.start("--steps", "-1", "--step-us", "1000", env={"TRACEINJECT_OUTPUT": str(self.runs / "live.db")})
        self.wait_for_kernels(process, 1, "nightly/live.db")
        told = self.groups()
        self.assertEqual([run["name"] for run in told["groups"][0]["runs"]], ["run00.db"])
        self.assertIn("live.db: is being recorded", told["left_out"][0])

    def test_the_page_leads_to_the_reports(self):
        for day in range(3):
            self.add(day, 1)
        page = self.folder / "out of the way" / "trend #1.html"
        page.parent.mkdir()
        self.trend("--html", page)
        text = page.read_text()
        links = re.findall(r'<a href="([^"#]+)">', text)
        self.assertEqual(len(links), 3)
        for link in links:
            self.assertIn("host_code", (page.parent / link).read_text())
        self.assertNotIn("http://", re.sub(r"http://www\.w3\.org/\S*", "", text))
        written = (page.parent / links[0]).stat().st_mtime_ns
        self.trend("--html", page)
        self.assertEqual((page.parent / links[0]).stat().st_mtime_ns, written, "a report that is newer than its run stays")
        self.trend("--html", self.folder / "alone.html", "--no-reports")
        self.assertFalse((self.folder / "alone.reports").exists())

    def test_shipped_recordings(self):
        told = json.loads(self.run_tool(self.analyze, "trend", RECORDINGS, "--format", "json", "--no-progress").stdout)
        runs = {run["name"]: run for group in told["groups"] for run in group["runs"]}
        self.assertEqual(len(runs), 7)
        self.assertEqual(runs["ddp_h200"]["ranks"], 2)
        (group,) = [group for group in told["groups"] if len(group["runs"]) > 1 and group["ranks"] == 1]
        self.assertEqual({run["name"] for run in group["runs"]}, {"slow_loader_h200.db.zst", "slow_loader_fixed_h200.db.zst"})
        self.assertEqual(group["changes"], [], "one run is no level")
        self.assertIn("the newest run", group["outlook"])
        self.assertTrue(any(setting["name"] == "num_workers" for changed in group["settings"] for setting in changed["settings"]))


if __name__ == "__main__":
    harness.main()
