# SPDX-License-Identifier: Apache-2.0
"""`analyze record`: a program runs as without it, is recorded, and the verdict follows."""

import os
import pty
import re
import signal
import subprocess
import sys
import termios
import unittest

import harness

ANALYZE = harness.BUILD / "bin" / "analyze"
TRAIN = harness.FAKE_GPU / "cuda13" / "fake_train"
# Says which signals it got, and that it began; ends at the third second or by "enough" of them.
COUNT_SIGNALS = """
import signal, sys, time
got = []
for number in (signal.SIGINT, signal.SIGTERM, signal.SIGUSR1):
    signal.signal(number, lambda number, frame: got.append(number))
print("ready", flush=True)
signal.sigtimedwait([], 3) if not got else None
time.sleep(0.5)
print("got", *[signal.Signals(number).name for number in got], flush=True)
sys.exit(5)
"""


class Record(harness.TestCase):
    def record(self, *words, options=(), env=()):
        return self.finish(self.start(command=[ANALYZE, "record", *options, "--", *words], preload=False, env=env))

    def test_output_and_exit_code_are_the_program_s(self):
        ended = self.record(TRAIN, "--steps", "30")
        self.assertEqual((ended.code, ended.stdout), (0, "trained\n"))
        self.assertIn(f"in {self.folder}/run.db\n", ended.stderr)
        self.assertIn("verdict: ", ended.stderr)
        self.assertNotIn("Kernels, by time", ended.stderr)
        self.assertNotIn("\x1b", ended.stderr, "no control sequences where there is no terminal")
        self.assertEqual(self.files(), ["run.db"])
        self.assertEqual(self.open().meta.get("closed"), 1)
        for command, code in ((["sh", "-c", "exit 7"], 7), (["sh", "-c", "kill -9 $$"], 137), (["no-such-program"], 127),
                              ([self.folder], 126)):
            self.assertEqual(self.record(*command).code, code, command)

    def test_options_are_those_of_the_recorder(self):
        ended = self.record(TRAIN, "--steps", "5", options=("-o", "out/a.db", "--flush-ms=200", "--nvtx", "0", "--no-report"),
                            env={"TRACEINJECT_FLUSH_MS": "300"})
        self.assertEqual(ended.code, 0)
        self.assertNotIn("verdict", ended.stderr)
        told = dict(self.open("out/a.db").rows("SELECT key, value FROM system_fact WHERE kind = 'option'"))
        self.assertEqual((told["TRACEINJECT_FLUSH_MS"], told["TRACEINJECT_NVTX"]), ("200", "0"))
        for bad in (["--max-size", "much"], ["--nonsense"], ["--report", "--no-report"]):
            ended = self.record(TRAIN, options=bad)
            self.assertEqual((ended.code, ended.stdout), (2, ""), bad)

    def test_whole_report(self):
        ended = self.record(TRAIN, "--steps", "5", options=("--report",))
        self.assertIn("Kernels, by time", ended.stderr)

    def test_all_ranks_are_one_run(self):
        script = f"for r in 0 1; do RANK=$r WORLD_SIZE=2 {TRAIN} --steps 5 & done; wait"
        ended = self.record("sh", "-c", script)
        self.assertIn(f"in {self.folder}/run.db (2 processes)\n", ended.stderr)
        self.assertEqual(self.files(), ["run.rank00000.db", "run.rank00001.db"])

    def test_libraries_that_are_preloaded_stay(self):
        ended = self.record("sh", "-c", "echo $LD_PRELOAD", env={"LD_PRELOAD": "libm.so.6"})
        self.assertEqual(ended.stdout, f"{harness.LIBRARY}:libm.so.6\n")

    def test_recording_of_a_process_that_outlives_the_program_is_waited_for(self):
        # A launcher that ends before its worker does.
        ended = self.record("sh", "-c", f"{TRAIN} --steps 100 --step-us 10000 >worker.txt 2>&1 & "
                            "while [ ! -e run.db-shm ]; do sleep 0.01; done")
        self.assertNotIn("is still writing", ended.stderr)
        self.assertEqual(self.open().meta.get("closed"), 1)
        self.assertIn("verdict: ", ended.stderr)

    def test_says_why_nothing_was_recorded(self):
        (self.folder / "other.db").touch()
        ended = self.record("sh", "-c", "exit 3")
        self.assertIn("nothing was recorded", ended.stderr)
        self.assertIn("exit code 3", ended.stderr)
        self.assertIn("The program did no GPU work", ended.stderr)
        self.assertIn("other.db", ended.stderr)
        self.assertIn("TRACEINJECT=0 is set", self.record("true", env={"TRACEINJECT": "0"}).stderr)
        # A file without GPU work.
        ended = self.record(TRAIN, "--steps", "2", options=("--window", "steps:1000-1001"))
        self.assertIn("Only the window steps:1000-1001 was set to be recorded", ended.stderr)
        # No driver at all: the same checks as those of analyze doctor.
        self.assertIn("\nGPUs: ", self.record("true", env={"LD_LIBRARY_PATH": "/nowhere"}).stderr)

    def test_says_what_the_recorder_says(self):
        ended = self.record(TRAIN, "--steps", "5", env={"FAKE_CUPTI_ENABLE_ERROR": "39"})
        self.assertIn("recording could not start", ended.stderr)

    def test_signals_are_passed_on_once(self):
        process = self.start(command=[ANALYZE, "record", "--no-report", "--", sys.executable, "-uc", COUNT_SIGNALS], preload=False)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGUSR1)
        ended = self.finish(process)
        self.assertEqual((ended.code, ended.stdout), (5, "got SIGUSR1\n"))

    def on_terminal(self, *words, then=b"", at=b"ready"):
        """What a terminal shows, and the exit code; `then` is typed once `at` was shown."""
        environment = self.environment("cuda13", False, {"TERM": "xterm"})
        pid, terminal = pty.fork()
        if pid == 0:
            os.chdir(self.folder)
            os.execve(ANALYZE, [str(word) for word in (ANALYZE, "record", *words)], environment)
        termios.tcsetwinsize(terminal, (24, 80))
        shown = b""
        try:
            while piece := os.read(terminal, 65536):
                shown += piece
                if then and at in shown:
                    os.write(terminal, then)
                    then = b""
        except OSError:  # the other end is closed
            pass
        finally:
            os.close(terminal)
        return shown.decode(), os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])

    def test_ctrl_c_reaches_the_program_once_and_the_report_follows(self):
        shown, code = self.on_terminal("--", sys.executable, "-uc", COUNT_SIGNALS, then=b"\x03")
        self.assertEqual(code, 5, shown)
        self.assertRegex(shown, r"got SIGINT\r\n")
        # A training run that ends by it.
        shown, code = self.on_terminal("--", "sh", "-c", f"echo ready; exec {TRAIN} --steps -1 --step-us 1000", then=b"\x03",
                                       at=b"1 process")
        self.assertEqual(code, 128 + signal.SIGINT, shown)
        self.assertIn("run.db", shown)
        self.assertIn("verdict: ", shown)

    @unittest.skipUnless(hasattr(termios, "tcsetwinsize"), "Python 3.11 sets the size of a terminal")
    def test_progress_keeps_the_last_line_and_gives_it_back(self):
        shown, code = self.on_terminal("--", TRAIN, "--steps", "250", "--step-us", "10000")
        self.assertEqual(code, 0)
        lines = re.findall(r"\x1b\[24;1H\x1b\[2K([^\x1b]*)\x1b8", shown)
        self.assertTrue(any(re.fullmatch(r"recording 0:0\d: [0-9.]+ [kM]?B of 1 process", line) for line in lines), lines)
        self.assertEqual(lines[-1], "")
        self.assertLess(shown.index("\x1b[1;23r"), shown.index("\x1b[r"))
        self.assertIn("trained\r\n", shown)
        shown, _ = self.on_terminal("--no-progress", "--", TRAIN, "--steps", "5")
        self.assertNotIn("\x1b[24;1H", shown)

    def test_progress_counts_the_steps(self):
        for options in ((), ("--spool", "truth.spool")):
            shown, code = self.on_terminal("--no-report", *options, "--", TRAIN, "--steps", "300", "--step-us", "10000", "--nvtx")
            self.assertEqual(code, 0)
            counts = [int(count) for count in re.findall(r"recording 0:0\d: (\d+) steps?, [0-9.]+ [kM]?B of 1 process", shown)]
            self.assertTrue(counts, shown)
            self.assertEqual(counts, sorted(counts))
            self.assertLessEqual(counts[-1], 300)
            recording = self.open()
            self.assertEqual(recording.rows("SELECT count(*) FROM nvtx_ranges WHERE text GLOB 'step [0-9]*'"), [(300,)], "what was counted")
            recording.close()


if __name__ == "__main__":
    harness.main()
