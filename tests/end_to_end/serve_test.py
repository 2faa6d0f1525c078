# SPDX-License-Identifier: Apache-2.0
"""analyze serve gives the figures of a program that runs, and analyze export writes what it recorded."""

import json
import signal
import subprocess
import unittest

import harness
import served

FOREVER = ("--steps", "-1", "--step-us", "10000", "--nvtx")
ENV = {"TRACEINJECT_FLUSH_MS": "100"}


class Serve(harness.TestCase):
    def test_a_program_that_runs_is_watched_from_before_its_beginning_to_after_its_end(self):
        server = served.Server(self, "run.db", "--window", "2s")
        self.assertEqual(served.metric(server.text(), "recording_readable"), 0)

        program = self.start(*FOREVER, env=ENV)
        first = server.wait_for(lambda text: served.metric(text, "gpu_busy_ratio") is not None)
        self.assertEqual(served.metric(first, "process_open"), 1)
        self.assertEqual(served.metric(first, "process_killed"), 0)
        last = served.metric(first, "last_operation_timestamp_seconds")
        # It goes on, and what is read stays two seconds.
        later = server.wait_for(lambda text: (served.metric(text, "last_operation_timestamp_seconds") or 0) > last + 3)
        self.assertLessEqual(served.metric(later, "window_seconds"), 2.1)
        self.assertGreater(served.metric(later, "steps_total"), 250, "of the whole run")
        self.assertGreater(served.metric(later, "recording_bytes"), served.metric(first, "recording_bytes"))
        self.assertGreater(served.metric(later, "recorder_seconds_total", where="writer"), 0)
        self.assertNotIn("job=", later)
        self.assertIsNone(program.poll(), "the program goes on")

        program.kill()
        program.wait()
        killed = server.wait_for(lambda text: served.metric(text, "process_killed") == 1)
        self.assertEqual(served.metric(killed, "process_open"), 1)
        self.assertEqual(server.end(signal.SIGINT), 0)

    def test_what_was_recorded_goes_to_other_programs_and_back(self):
        ended = self.play("--steps", "20", "--nvtx", "--graph", "4", "--memcpy", "--memset")
        self.assertEqual(ended.code, 0)
        for output in ("trace.pftrace", "trace.json.gz", "run.prom"):
            done = subprocess.run([served.ANALYZE, "export", "run.db", "-o", output], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((self.folder / output).exists())
        totals = [json.loads(subprocess.run([served.ANALYZE, path, "--format", "json"], cwd=self.folder, capture_output=True, check=True,
                                            text=True).stdout)["run"] for path in ("run.db", "trace.json.gz")]
        self.assertEqual(totals[0]["kernels"]["count"], totals[1]["kernels"]["count"])
        self.assertEqual(totals[0]["kernels"]["total_ns"], totals[1]["kernels"]["total_ns"])
        self.assertEqual(totals[0]["partition"], totals[1]["partition"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
