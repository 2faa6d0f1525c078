# SPDX-License-Identifier: Apache-2.0
"""`analyze merge`: one file of all ranks, of which every program says what it says of the recordings apart."""

import json
import re
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import harness

ANALYZE = harness.AnalyzeTestCase.analyze
TRACEVIEW = harness.BUILD / "bin" / "traceview"
EVERYTHING = [flag for flag in harness.EVERYTHING if flag != "--failing-call"]
# What says which file it is, and with which version of the schema.
ABOUT_FILES = ("path", "schema_version")


def without_files(told):
    if isinstance(told, dict):
        return {name: without_files(value) for name, value in told.items() if name not in ABOUT_FILES}
    return [without_files(value) for value in told] if isinstance(told, list) else told


class Merge(harness.AnalyzeTestCase):
    def merge(self, *words):
        return self.run_tool(ANALYZE, "merge", *words, "-o", "merged.db").stderr

    def play_job(self, ranks=3):
        for rank in range(ranks):
            env = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": str(ranks), "TRACEINJECT_TELEMETRY_HZ": "10"}
            ended = self.play("--steps", "12", *EVERYTHING, env=env)
            self.assertEqual(ended.code, 0, ended.stderr)
        self.assertEqual(self.files(), [f"run.rank{rank:05}.db" for rank in range(ranks)])

    def assert_same_answers(self, apart, together):
        for command in ("report", "ranks", "collectives", "kernels", "gaps", "steps", "comm", "nvtx", "memory", "data"):
            with self.subTest(command=command):
                answers = [json.loads(self.run_tool(ANALYZE, command, run, "--format", "json").stdout) for run in (apart, together)]
                self.assertEqual(*map(without_files, answers))
        if not TRACEVIEW.exists():
            return
        # Names of lanes hold no path, and rows are in the same order.
        states = [self.run_tool(TRACEVIEW, run, "--dump-state", "-").stdout for run in (apart, together)]
        shown = [re.sub(r'"(path|title|file)[a-z]*": "[^"]*"', "", state) for state in states]
        self.assertEqual(*shown)

    def test_a_merged_job_of_one_host(self):
        self.play_job()
        said = self.merge("run.db")
        self.assertRegex(said, r"^merged.db: 3 processes in [0-9,]+ rows, ")
        self.assertEqual(self.files(), ["merged.db", *(f"run.rank{rank:05}.db" for rank in range(3))])
        self.assert_same_answers("run.db", "merged.db")
        database = sqlite3.connect(f"file:{self.folder}/merged.db?mode=ro", uri=True)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        tables = [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' AND name <> 'meta'")]
        for table in tables:
            rows = 0
            for rank in range(3):
                recording = self.open(f"run.rank{rank:05}.db")
                rows += recording.rows(f"SELECT count(*) FROM {table}")[0][0]
            self.assertEqual(database.execute(f"SELECT count(*) FROM {table}").fetchall(), [(rows,)], table)
        database.close()

    def test_a_merged_job_of_two_hosts(self):
        """Their clocks are a second apart: what is said of that stays the same once the times are moved."""
        fixture = harness.BUILD / "bin" / "golden_fixture"
        for sql in sorted((harness.ROOT / "tests" / "golden" / "cases" / "ranks").glob("*.sql")):
            self.run_tool(fixture, sql, sql.with_suffix(".db").name)
        self.assertEqual(len(self.files()), 4)
        self.assertIn("note: clocks of 4 ranks aligned by their collectives: shifts up to 1.000 s", self.merge("run.db"))
        self.assert_same_answers("run.db", "merged.db")
        text = self.run_tool(ANALYZE, "report", "merged.db").stdout
        self.assertIn("shifts up to 1.000 s", text)
        self.assertEqual(text.count("merged.db"), 1)
        ((first, last),) = self.open("merged.db").rows("SELECT min(clock_shift), max(clock_shift) FROM process")
        self.assertEqual(last, 0)
        self.assertAlmostEqual(first, -1_000_000_000, delta=10_000)

    def test_real_recordings(self):
        recordings = harness.ROOT / "samples" / "recordings" / "ddp_h200"
        self.merge(recordings)
        self.assert_same_answers(recordings, "merged.db")

    def test_ctrl_c_leaves_no_file(self):
        recording = self.folder / "run.rank00000.db"
        make_run = harness.ROOT / "tests" / "bench" / "make_run.py"
        subprocess.run([sys.executable, str(make_run), str(recording), "--events", "400000"], check=True, timeout=120)
        before = recording.read_bytes()
        merging = subprocess.Popen([str(ANALYZE), "merge", "run.db", "-o", "merged.db"], cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self._end_one, merging)
        while merging.poll() is None and not any(".part-" in name for name in self.files()):
            time.sleep(0.001)
        merging.send_signal(signal.SIGINT)
        merging.communicate(timeout=60)
        self.assertEqual(merging.returncode, harness.killed_by(signal.SIGINT))
        self.assertEqual(self.files(), ["run.rank00000.db"])
        self.assertEqual(recording.read_bytes(), before)

    @staticmethod
    def _end_one(process):
        process.kill()
        process.communicate()

    def test_what_is_there_stays(self):
        self.play("--steps", "3")
        (self.folder / "merged.db").write_text("precious")
        refused = self.run_tool(ANALYZE, "merge", "run.db", "-o", "merged.db", code=2)
        self.assertIn("merged.db: the file already exists; name another one, or overwrite it with --force", refused.stderr)
        self.assertEqual((self.folder / "merged.db").read_text(), "precious")
        self.run_tool(ANALYZE, "merge", "run.db", "-o", "run.db", "--force", code=2)
        self.merge("run.db", "--force")
        self.run_tool(ANALYZE, "report", "merged.db")


if __name__ == "__main__":
    unittest.main(verbosity=2)
