# SPDX-License-Identifier: Apache-2.0
"""`analyze hang`: where each rank of a job that hung stood, also after a kill."""

import contextlib
import json
import pathlib
import sqlite3
import subprocess
import sys
import time

import harness

PROGRAM = pathlib.Path(__file__).resolve().parent / "hang_program.py"
LINES = {line.rsplit("# ", 1)[1]: number for number, line in enumerate(PROGRAM.read_text().splitlines(), 1)
         if line.endswith(("# wait", "# read", "# log", "# step", "# main"))}
STALLED = "SELECT count(*) FROM stack_sample WHERE kind = 4"
SEEN = "SELECT count(*) FROM stack_frames WHERE function = 'read'"


class Hang(harness.TestCase):
    def hang(self, ranks):
        """Starts a rank for each of these, waits until all stand where they stay, and kills them."""
        env = {**harness.STAND_IN, "TRACEINJECT_STALL": "1s", "TRACEINJECT_FLUSH_MS": "100", "WORLD_SIZE": str(len(ranks))}
        running = [self.start(command=[sys.executable, str(PROGRAM), how], env={**env, "RANK": str(rank), "LOCAL_RANK": str(rank)})
                   for rank, how in enumerate(ranks)]
        for rank, (process, how) in enumerate(zip(running, ranks)):
            self.wait_for(process, f"run.rank{rank:05}.db", STALLED if how == "wait" else SEEN)
        for process in running:
            process.kill()
            self.finish(process)

    def wait_for(self, process, name, count):
        deadline = time.monotonic() + 50
        while time.monotonic() < deadline:
            with contextlib.suppress(sqlite3.OperationalError, KeyError):  # the tables come with the first commit
                recording = harness.Recording(self.folder / name)
                ((found,),) = recording.rows(count)
                recording.close()
                if found:
                    return
            self.assertIsNone(process.poll(), "it ended")
            time.sleep(0.05)
        self.fail(f"{name} never had it: {count}")

    def analyze(self, *arguments):
        done = subprocess.run([harness.BUILD / "bin" / "analyze", *arguments], cwd=self.folder, capture_output=True, text=True, timeout=60)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout

    def test_ranks_that_stand_at_one_place_are_one_line(self):
        self.hang(["wait", "wait", "read", "wait"])
        text = " ".join(self.analyze("hang", "run.db").split())
        place = lambda mark, function="": f"hang_program.py:{LINES[mark]}" + (f" in {function}" if function else "")
        callers = f"<- {place('step', 'step')} <- {place('main')}"
        self.assertTrue(text.startswith("The run hangs at its end: 3 processes"), text[:200])
        self.assertIn(f"ranks 0-1, 3: {place('wait', 'wait')} {callers}", text)
        self.assertIn(f"rank 2: {place('read', 'read')} {callers}", text)
        self.assertLess(text.index("ranks 0-1, 3:"), text.index("rank 2:"))
        self.assertNotIn("in log", text)

        full = self.analyze("hang", "run.db", "--full-stacks")
        waits = full[full.index(f"    {place('log', 'log')}") - 200:]
        self.assertIn("threading.py", full)
        self.assertIn("(library)", waits)
        self.assertEqual(full.count(place("log", "log")), 1, "the loggers of all ranks stand at one place")

        report = json.loads(self.analyze("hang", "run.db", "--format", "json"))
        mains = [stack for stack in report["last_stacks"] if stack.get("main")]
        self.assertEqual([stack["frames"][0]["line"] for stack in mains], [LINES[how] for how in ("wait", "wait", "read", "wait")])
        self.assertTrue(all(frame["own"] for stack in mains for frame in stack["frames"]))
        self.assertEqual(json.loads(self.analyze("report", "run.db", "--format", "json"))["last_stacks"], [])

    def test_a_process_that_does_not_hang(self):
        ended = self.play("--steps", "20")
        self.assertEqual(ended.code, 0)
        text = self.analyze("hang", "run.db")
        self.assertTrue(text.startswith("No process hangs at its end"), text)
        self.assertIn("no Python stacks were recorded", text)


if __name__ == "__main__":
    harness.main()
