# SPDX-License-Identifier: Apache-2.0
"""`analyze watch`: the last seconds of a run while it is recorded, which it does not disturb."""

import json
import os
import pty
import subprocess
import termios
import unittest

import harness

ANALYZE = harness.BUILD / "bin" / "analyze"
WORK = ("--nvtx", "--kernels", "20", "--kernel-us", "8", "--step-us", "2000")


class Watch(harness.TestCase):
    def watch(self, *options):
        return self.start(command=[ANALYZE, "watch", "run.db", *options], preload=False)

    def lines(self, text):
        return [json.loads(line) for line in text.splitlines()]

    def test_waits_for_the_run_follows_it_and_ends_with_it(self):
        watch = self.watch("--every", "200ms", "--format", "json")
        self.assertEqual(watch.stderr.readline(), "waiting for run.db: the file appears with the first GPU operation\n")
        trained = self.play("--steps", "1500", *WORK, env={"TRACEINJECT_FLUSH_MS": "200"})
        ended = self.finish(watch)
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        lines = self.lines(ended.stdout)
        self.assertGreater(len(lines), 3)
        self.assertEqual([line["ended"] for line in lines], [False] * (len(lines) - 1) + [True])
        until = [line["recorded_until_unix_ns"] for line in lines]
        self.assertEqual(until, sorted(until))
        (device,) = lines[-1]["devices"]
        self.assertEqual(device["label"], "GPU 0")
        self.assertAlmostEqual(device["busy_share"], 0.08, delta=0.05)
        self.assertGreater(device["step_ns"], 1_900_000)
        # The recording is what it would be alone: whole, and closed.
        recording = self.open()
        self.assert_gpu_work(recording, self.truth(trained))
        self.assert_nothing_lost(recording)
        self.assertEqual(recording.meta.get("closed"), 1)
        self.assertEqual(until[-1], max(kernel.end for kernel in recording.kernels()))

    def test_plain_text_where_there_is_no_terminal(self):
        self.play("--steps", "20", *WORK)
        ended = self.finish(self.watch())
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assertNotIn("\x1b", ended.stdout)
        self.assertEqual(ended.stdout.count("which ended"), 1)
        self.assertIn("verdict: ", ended.stdout)

    def test_all_ranks(self):
        for rank in range(3):
            self.play("--steps", "20", *WORK, env={"RANK": str(rank), "WORLD_SIZE": "3"})
        (line,) = self.lines(self.finish(self.watch("--once", "--format", "json")).stdout)
        self.assertEqual(sorted(device["label"] for device in line["devices"]), [f"rank {rank} GPU 0" for rank in range(3)])

    def test_once(self):
        ended = self.finish(self.watch("--once"))
        self.assertEqual((ended.code, ended.stdout), (3, ""))
        self.assertIn("Likely reasons", ended.stderr)
        process = self.start("--steps", "-1", *WORK, env={"TRACEINJECT_FLUSH_MS": "50"})
        self.wait_for_kernels(process, 100)
        ended = self.finish(self.watch("--once"))
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assertIn(" ago\n", ended.stdout)
        process.terminate()

    def test_bad_usage(self):
        for bad in (["--window", "1ms"], ["--every", "0"], ["--format", "csv"]):
            self.assertEqual(self.finish(self.watch(*bad)).code, 2, bad)
        (self.folder / "run.db").write_text("no database " * 100)
        self.assertEqual(self.finish(self.watch("--once")).code, 3)

    def test_a_killed_run_is_an_ended_one(self):
        process = self.start("--steps", "-1", *WORK, env={"TRACEINJECT_FLUSH_MS": "50"})
        self.wait_for_kernels(process, 100)
        watch = self.watch("--every", "100ms", "--format", "json")
        self.assertFalse(json.loads(watch.stdout.readline())["ended"])
        process.kill()
        ended = self.finish(watch)
        self.assertEqual(ended.code, 0)
        self.assertTrue(self.lines(ended.stdout)[-1]["ended"])

    def on_terminal(self, key):
        """What a terminal shows until `key` is typed at the second picture, and the exit code."""
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            words = [str(ANALYZE), "watch", "run.db", "--every", "100ms"]
            os.execve(ANALYZE, words, self.environment("cuda13", False, {"TERM": "xterm"}))
        termios.tcsetwinsize(terminal, (24, 80))
        before = termios.tcgetattr(terminal)
        shown = b""
        while b"\x1b[J" not in shown:
            shown += os.read(terminal, 65536)
        self.assertFalse(termios.tcgetattr(terminal)[3] & termios.ECHO)
        os.write(terminal, key)
        try:
            while piece := os.read(terminal, 65536):
                shown += piece
                after = termios.tcgetattr(terminal)
        except OSError:  # the other end is closed
            pass
        code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
        after = termios.tcgetattr(terminal)
        os.close(terminal)
        self.assertEqual(after, before, "the terminal is as it was")
        return shown.decode(), code

    @unittest.skipUnless(hasattr(termios, "tcsetwinsize"), "Python 3.11 sets the size of a terminal")
    def test_on_a_terminal_each_picture_replaces_the_one_before_until_a_key_ends_it(self):
        process = self.start("--steps", "-1", *WORK, env={"TRACEINJECT_FLUSH_MS": "50"})
        self.wait_for_kernels(process, 100)
        for key in (b"q", b"\x03"):
            shown, code = self.on_terminal(key)
            self.assertEqual(code, 0)
            pictures = shown.split("\x1b[J")
            for earlier, later in zip(pictures, pictures[1:]):
                height = earlier.split("\x1b[")[0].count("\n")
                self.assertTrue(earlier.endswith(f"\x1b[{height}A"), "all of the one before is replaced")
                self.assertIn("the last ", later)
            self.assertTrue(all(len(line) < 80 for line in pictures[-1].splitlines()))
        process.terminate()


if __name__ == "__main__":
    harness.main()
