# SPDX-License-Identifier: Apache-2.0
"""Traces of other profilers: exports of Nsight Systems are read as they are, and `analyze import` makes a run.db that says the same."""

import json
import shutil
import signal
import sqlite3
import subprocess
import sys
import time
import unittest

import harness
import nsys_export

sys.path.insert(0, str(harness.ROOT / "tests" / "bench"))
import kineto_import  # noqa: E402

ANALYZE = harness.AnalyzeTestCase.analyze
RECORDINGS = harness.ROOT / "samples" / "recordings"
COMMANDS = ("report", "kernels", "gaps", "steps", "comm", "nvtx", "memory", "data")
# What says which file it is, and with which version it was written.
ABOUT_FILES = ("path", "schema_version", "tool_version")


class Import(harness.AnalyzeTestCase):
    def told(self, command, path, *options):
        """What a command says of a file, but for what names it."""

        def plain(value):
            if isinstance(value, dict):
                return {name: plain(each) for name, each in value.items() if name not in ABOUT_FILES}
            if isinstance(value, list):
                return [plain(each) for each in value]
            return value.replace(str(path), "it") if isinstance(value, str) else value

        return plain(json.loads(self.run_tool(ANALYZE, command, path, *options, "--format", "json").stdout))

    def assert_same(self, one, other, commands=COMMANDS):
        for command in commands:
            with self.subTest(command=command):
                self.assertEqual(self.told(command, one), self.told(command, other))

    def unpacked(self, name):
        if shutil.which("zstd") is None:
            self.skipTest("zstd is not installed")
        self.run_tool("zstd", "-dqf", RECORDINGS / name, "-o", "recorded.db")
        return self.folder / "recorded.db"

    def export(self, recording):
        """An export of the program that was recorded, and a recording that holds no more than it."""
        for name in ("report1.sqlite", "left.db"):
            (self.folder / name).unlink(missing_ok=True)
        nsys_export.write_export(recording, self.folder / "report1.sqlite")
        nsys_export.leave_exported(recording, self.folder / "left.db")
        self.assert_same("report1.sqlite", "left.db")
        self.run_tool(ANALYZE, "import", "report1.sqlite", "-o", "imported.db", "--force")
        self.assert_same("report1.sqlite", "imported.db")

    def test_exports_of_real_programs(self):
        for name in ("transformer_h200.db.zst", "slow_loader_fixed_h200.db.zst", "ddp_h200/run.rank00000.db.zst",
                     "straggler_gemm_h200/run.rank00001.db.zst"):
            with self.subTest(name=name):
                recording = self.unpacked(name)
                self.export(recording)
                # Where an export holds what decides, all that was recorded decides the same. Marks of optimizer steps are not in it.
                whole, exported = (self.told("report", path, "--all") for path in (recording, "report1.sqlite"))
                self.assertEqual(whole["verdict"]["label"], exported["verdict"]["label"])
                for one, other in zip(whole["devices"], exported["devices"]):
                    for part in ("partition", "kernels"):
                        self.assertEqual(one[part], other[part])

    def test_the_export_of_a_program_on_the_fake_gpu(self):
        everything = [flag for flag in harness.EVERYTHING if flag != "--failing-call"]
        ended = self.play("--steps", "12", *everything)
        self.assertEqual(ended.code, 0, ended.stderr)
        self.export(self.folder / "run.db")

    def test_rocm_profile_data(self):
        """A recording through an .rpd: what that holds says the same, and no label comes up that the recording does not have."""
        for name in ("transformer_h200.db.zst", "slow_loader_h200.db.zst", "ddp_h200/run.rank00000.db.zst"):
            with self.subTest(name=name):
                recording = self.unpacked(name)
                self.run_tool(ANALYZE, "export", recording, "-o", "trace.rpd")
                self.run_tool(ANALYZE, "import", "trace.rpd", "-o", "imported.db", "--force")
                self.assert_same("trace.rpd", "imported.db")
                whole, traced = (self.told("report", path, "--all") for path in (recording, "trace.rpd"))
                self.assertIn(traced["verdict"]["label"], (whole["verdict"]["label"], "inconclusive"))
                self.assertEqual(len(whole["devices"]), len(traced["devices"]))
                for one, other in zip(whole["devices"], traced["devices"]):
                    for part in ("partition", "idle_causes", "kernels", "classes", "join"):
                        self.assertEqual(one[part], other[part])
                steps = [[[step[part] for part in ("start_ns", "length_ns", "compute_ns", "idle_ns")] for step in self.told("steps", path)]
                         for path in (recording, "trace.rpd")]
                self.assertGreater(len(steps[0]), 10)
                self.assertEqual(*steps)

    def test_ranks_without_their_communicators(self):
        """Neither ranks nor communicators are told: the processes of one trace that ran the same operations are matched all the same."""
        self.run_tool(ANALYZE, "export", RECORDINGS / "straggler_gemm_h200", "-o", "trace.rpd")
        self.run_tool(ANALYZE, "import", "trace.rpd", "-o", "imported.db")
        for path in ("trace.rpd", "imported.db"):
            with self.subTest(path=path):
                self.assertEqual(self.told("report", path)["verdict"]["label"], "straggler")
                self.assertIn("pid 1430 GPU 1 (unknown host, GPU 1) delays the other ranks", self.run_tool(ANALYZE, "ranks", path).stdout)

    def test_an_export_is_told_apart_by_what_it_holds(self):
        recording = self.unpacked("transformer_h200.db.zst")
        nsys_export.write_export(recording, self.folder / "run.db")
        self.assertIn("Nsight Systems", self.run_tool(ANALYZE, "run.db").stdout)
        # What asks tables asks those of the recording that it would become.
        query = "SELECT count(*), sum(dur_ns) FROM kernels"
        (asked, recorded) = (self.run_tool(ANALYZE, "sql", path, query).stdout for path in ("run.db", recording))
        self.assertEqual(asked, recorded)
        self.assertIn("no counters: imported from an Nsight Systems export", self.run_tool(ANALYZE, "info", "run.db").stdout)
        refused = self.run_tool(ANALYZE, "merge", "run.db", recording, "-o", "merged.db").stderr
        self.assertIn("run.db: this is an Nsight Systems export; convert it first: analyze import", refused)
        self.assertEqual(self.files(), ["merged.db", "recorded.db", "run.db"])

    def test_ranks_of_a_job(self):
        for rank in range(2):
            trace = self.folder / f"trace{rank}.json"
            kineto_import.write_trace(trace, 2_000_000)
            trace.write_text(trace.read_text().replace('"rank": 0, "world_size": 1', f'"rank": {rank}, "world_size": 2'))
        said = self.run_tool(ANALYZE, "import", "trace0.json", "trace1.json", "-o", "run.db").stderr
        self.assertRegex(said, r"run.rank00000.db to run.rank00001.db: 2 processes, ")
        self.assertEqual(self.files(), ["run.rank00000.db", "run.rank00001.db", "trace0.json", "trace1.json"])
        apart = self.run_tool(ANALYZE, "report", "trace0.json", "trace1.json", "--format", "json").stdout
        report, imported = json.loads(apart), self.told("report", "run.db")
        self.assertEqual(report["verdict"], imported["verdict"])
        self.assertEqual(report["devices"], imported["devices"])
        self.run_tool(ANALYZE, "merge", "run.db", "-o", "merged.db")
        self.assertEqual(report["devices"], self.told("report", "merged.db")["devices"])
        ((rank,),) = self.open("run.rank00001.db").rows("SELECT rank FROM process")
        self.assertEqual(rank, 1)

    def test_the_file_is_whole_and_may_be_asked(self):
        kineto_import.write_trace(self.folder / "trace.json", 2_000_000)
        self.run_tool(ANALYZE, "import", "trace.json", "-o", "run.db")
        self.assertEqual((self.folder / "run.db").stat().st_mode & 0o777, 0o600, "for its owner only, as recordings are")
        database = sqlite3.connect(f"file:{self.folder}/run.db?mode=ro", uri=True)
        self.assertEqual(database.execute("PRAGMA integrity_check").fetchall(), [("ok",)])
        database.close()
        counted = self.run_tool(ANALYZE, "sql", "run.db", "SELECT count(*) AS kernels FROM kernels").stdout
        self.assertIn("2000", counted)
        self.run_tool(ANALYZE, "info", "run.db")

    def test_what_is_there_stays(self):
        kineto_import.write_trace(self.folder / "trace.json", 500_000)
        (self.folder / "run.db").write_text("precious")
        refused = self.run_tool(ANALYZE, "import", "trace.json", "-o", "run.db", code=2)
        self.assertIn("run.db: the file already exists; name another one, or overwrite it with --force", refused.stderr)
        self.assertEqual((self.folder / "run.db").read_text(), "precious")
        self.run_tool(ANALYZE, "import", "trace.json", "-o", "trace.json", "--force", code=2)
        self.run_tool(ANALYZE, "import", "trace.json", "-o", "run.db", "--force")
        self.run_tool(ANALYZE, "report", "run.db")

    def test_ctrl_c_leaves_no_file(self):
        kineto_import.write_trace(self.folder / "trace.json", 150_000_000)
        command = [str(ANALYZE), "import", "trace.json", "-o", "run.db"]
        importing = subprocess.Popen(command, cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.addCleanup(self._end_one, importing)
        while importing.poll() is None and not any(".part-" in name for name in self.files()):
            time.sleep(0.001)
        importing.send_signal(signal.SIGINT)
        importing.communicate(timeout=60)
        self.assertEqual(importing.returncode, harness.killed_by(signal.SIGINT))
        self.assertEqual(self.files(), ["trace.json"])

    @staticmethod
    def _end_one(process):
        process.kill()
        process.communicate()


if __name__ == "__main__":
    unittest.main(verbosity=2)
