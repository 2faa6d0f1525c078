# SPDX-License-Identifier: Apache-2.0
"""TRACEINJECT_SPOOL: the file is written in another folder, and comes to its place when it is complete; nothing is lost if it cannot."""

import errno
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import harness

SHORT = ["--steps", "5", "--memcpy", "--memset", "--nvtx"]
LONG = ["--steps", "-1", "--step-us", "10000"]


class Spool(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.spool = self.folder / "truth.spool"
        self.env = {"TRACEINJECT_SPOOL": str(self.spool), "TRACEINJECT_FLUSH_MS": "50"}

    def spooled(self):
        return sorted(path.name for path in self.spool.iterdir()) if self.spool.exists() else []

    def notes(self):
        return [name for name in self.files() if name.endswith(".spool")]

    def analyze(self):
        return subprocess.run([harness.BUILD / "bin" / "analyze", "run.db"], cwd=self.folder, capture_output=True, text=True, timeout=60)

    def assert_arrived(self, ended):
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assertEqual((self.files(), self.spooled()), (["run.db"], []))
        recording = self.open()
        self.assert_gpu_work(recording, self.truth(ended))
        self.assert_nothing_lost(recording)
        self.assertEqual((recording.meta["closed"], recording.integrity()), (1, "ok"))
        return recording

    def test_arrives_at_the_end(self):
        recording = self.assert_arrived(self.play(*SHORT, env=self.env))
        self.assertEqual(recording.rows("SELECT value FROM system_fact WHERE kind = 'spool' AND key = 'target'"), [(str(self.folder / "run.db"),)])

    def test_arrives_from_another_file_system(self):
        self.use_another_file_system()
        self.assert_arrived(self.play(*SHORT, env=self.env))

    def test_names_are_kept_as_ever(self):
        self.assert_arrived(self.play(*SHORT, env=self.env))
        self.play(*SHORT, env=self.env)
        self.assertEqual((self.files(), self.spooled()), (["run.db", "run.db.1"], []))

    def start_endless(self):
        process = self.start(*LONG, env=self.env)
        for _ in range(1000):
            if self.notes() and self.spooled():
                break
            time.sleep(0.02)
        self.wait_for_kernels(process, 50, self.spool / self.spooled()[0])
        return process

    def assert_told(self, where):
        told = self.analyze()
        self.assertEqual(told.returncode, 3)
        self.assertIn(str(where), told.stderr)
        self.assertIn("TRACEINJECT_SPOOL", told.stderr)

    def test_killed_process_leaves_it_in_the_spool(self):
        process = self.start_endless()
        where = self.spool / self.spooled()[0]
        self.assertEqual(self.files(), self.notes(), "nothing but the note while it records")
        self.assert_told(where)
        process.kill()
        ended = self.finish(process)
        self.assertEqual(ended.code, harness.killed_by(signal.SIGKILL))
        self.assert_told(where)
        recording = harness.Recording.open_killed(where)
        self.addCleanup(recording.close)
        self.assertEqual(recording.integrity(), "ok")
        self.assertGreaterEqual(len(recording.kernels()), 50)
        self.play(*SHORT, env=self.env)
        self.assertIn(where.name, self.spooled(), "the next process leaves it alone")
        self.assertIn("run.db", self.files())
        self.assertEqual(len(self.notes()), 1, "and its note")

    def watch(self, *options):
        return self.start(command=[harness.BUILD / "bin" / "analyze", "watch", "run.db", "--every", "200ms", "--format", "json", *options],
                          preload=False)

    def test_watch_follows_it_from_the_spool_to_its_place(self):
        watch = self.watch()
        self.assertEqual(watch.stderr.readline(), "waiting for run.db: the file appears with the first GPU operation\n")
        trained = self.play("--steps", "1500", "--step-us", "2000", env={**self.env, "TRACEINJECT_FLUSH_MS": "200"})
        ended = self.finish(watch)
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        lines = [json.loads(line) for line in ended.stdout.splitlines()]
        self.assertGreater(len(lines), 3)
        self.assertEqual([line["ended"] for line in lines], [False] * (len(lines) - 1) + [True])
        # Nothing of that kept it from its place.
        recording = self.assert_arrived(trained)
        self.assertEqual(lines[-1]["recorded_until_unix_ns"], max(kernel.end for kernel in recording.kernels()))

    def test_watch_shows_the_new_run_and_not_the_one_before(self):
        self.play(*SHORT, env=self.env)
        before = harness.Recording(self.folder / "run.db")
        until = max(kernel.end for kernel in before.kernels())
        before.close()
        process = self.start_endless()
        shown = self.finish(self.watch("--once"))
        self.assertEqual((shown.code, shown.stderr), (0, ""))
        frame = json.loads(shown.stdout)
        self.assertFalse(frame["ended"])
        self.assertGreater(frame["recorded_until_unix_ns"], until)
        self.assertEqual(len(frame["devices"]), 1)
        process.kill()
        self.finish(process)

    def test_watch_of_a_killed_process_shows_what_it_left(self):
        process = self.start_endless()
        process.kill()
        self.finish(process)
        ended = self.finish(self.watch())
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assertTrue(json.loads(ended.stdout)["ended"])

    def test_watch_names_the_machine_that_it_is_on(self):
        (self.folder / "run.db.node9.p7.1.spool").write_text("node9:/nonexistent/run.db\n")
        watch = self.watch()
        self.addCleanup(lambda: self.finish(watch))
        self.addCleanup(watch.kill)
        self.assertIn("waiting for run.db", watch.stderr.readline())
        self.assertEqual(watch.stderr.readline(), "node9 writes to /nonexistent/run.db until the run is complete (TRACEINJECT_SPOOL, "
                         "run.db.node9.p7.1.spool); on that host run: analyze watch /nonexistent/run.db\n")
        once = self.finish(self.watch("--once"))
        self.assertEqual(once.code, 3)
        self.assertIn("node9:/nonexistent/run.db", once.stderr)

    def test_place_that_vanishes(self):
        target = self.folder / "truth.out" / "deep"
        process = self.start(*LONG[2:], "--steps", "100", env={**self.env, "TRACEINJECT_OUTPUT": str(target / "run.db"), "TRACEINJECT_LOG": "log"})
        for _ in range(1000):
            if self.spooled() and target.exists() and list(target.iterdir()):
                break
            time.sleep(0.02)
        shutil.rmtree(target, ignore_errors=True)
        ended = self.finish(process)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assertFalse(target.exists(), "a removed folder was made anew")
        self.assertEqual(len(self.spooled()), 1)
        recording = self.open(self.spool / self.spooled()[0])
        self.assert_gpu_work(recording, self.truth(ended))
        self.assertEqual(recording.meta["closed"], 1)
        self.assertIn("not moved from the spool", (self.folder / "log").read_text())

    def test_place_that_has_to_be_made(self):
        ended = self.play(*SHORT, env={**self.env, "TRACEINJECT_OUTPUT": "truth.out/deep/run.db"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assertEqual([path.name for path in (self.folder / "truth.out" / "deep").iterdir()], ["run.db"])
        self.assertEqual(self.spooled(), [])

    def use_another_file_system(self):
        self.spool = pathlib.Path(tempfile.mkdtemp(prefix="traceinject-", dir="/dev/shm"))
        self.addCleanup(shutil.rmtree, self.spool, ignore_errors=True)
        if os.stat(self.spool).st_dev == os.stat(self.folder).st_dev:
            self.skipTest("/dev/shm and the temporary folder are one file system")
        self.env["TRACEINJECT_SPOOL"] = str(self.spool)

    def test_place_that_is_full_or_too_slow(self):
        """At the end of a process there is so much time, half of it for a copy; what was copied by then goes."""
        self.use_another_file_system()
        faults = {"FAIL_FILES_PATH": ".part", "FAIL_FILES_CALLS": "write", "TRACEINJECT_LOG": "truth.log"}
        for fault, why in (({"FAIL_FILES_ERROR": str(errno.ENOSPC)}, "No space left"),
                           ({"FAIL_FILES_ERROR": "0", "FAIL_FILES_STALL_MS": "2100", "TRACEINJECT_EXIT_MS": "4000"}, "Timer expired")):
            ended = self.play(*SHORT, env={**self.env, **faults, **fault}, beside=["fail_files"])
            self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
            self.assertEqual(self.files(), self.notes(), "no part of a copy stays")
            (name,) = self.spooled()
            recording = self.open(self.spool / name)
            self.assert_gpu_work(recording, self.truth(ended))
            self.assertEqual(recording.meta["closed"], 1)
            self.assertIn(why, (self.folder / "truth.log").read_text())
            self.assert_told(self.spool / name)
            for path in [self.spool / name, *(self.folder / note for note in self.notes())]:
                path.unlink()

    def test_spool_that_cannot_be_had(self):
        self.spool.write_text("no folder")
        ended = self.play(*SHORT, env=self.env)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assertEqual(self.files(), ["run.db"])
        recording = self.open()
        self.assert_gpu_work(recording, self.truth(ended))
        self.assertEqual(recording.rows("SELECT count(*) FROM system_fact WHERE kind = 'spool' AND key = 'not used'"), [(1,)])

    def test_spool_of_ranks(self):
        for rank in "01":
            self.play(*SHORT, env={**self.env, "RANK": rank, "WORLD_SIZE": "2"})
        self.assertEqual((self.files(), self.spooled()), (["run.rank00000.db", "run.rank00001.db"], []))


if __name__ == "__main__":
    unittest.main(verbosity=2)
