# SPDX-License-Identifier: Apache-2.0
"""analyze serve gives the figures of a program that runs, and analyze export writes what it recorded."""

import http.client
import json
import re
import signal
import subprocess
import time
import unittest

import harness

ANALYZE = harness.BUILD / "bin" / "analyze"
FOREVER = ("--steps", "-1", "--step-us", "10000", "--nvtx")
ENV = {"TRACEINJECT_FLUSH_MS": "100"}


class Serve(harness.TestCase):
    def serve(self, *arguments):
        server = subprocess.Popen([ANALYZE, "serve", "run.db", "--metrics", "127.0.0.1:0", "--every", "100ms", *arguments],
                                  cwd=self.folder, stderr=subprocess.PIPE, text=True)
        self.addCleanup(server.communicate)
        self.addCleanup(server.kill)
        line = server.stderr.readline()
        return server, int(re.search(r"\(port (\d+)\)", line).group(1))

    def get(self, port, path="/metrics"):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
        connection.request("GET", path)
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text

    def metric(self, text, name):
        found = re.search(rf"^traceinject_{name}(?:{{[^}}]*}})? (\S+)$", text, re.MULTILINE)
        return float(found.group(1)) if found else None

    def wait_for(self, port, holds):
        deadline = time.monotonic() + 50
        while time.monotonic() < deadline:
            text = self.get(port)[1]
            if holds(text):
                return text
            time.sleep(0.1)
        self.fail(f"it never came: {text}")

    def test_a_program_that_runs_is_watched_from_before_its_beginning_to_after_its_end(self):
        server, port = self.serve("--window", "2s")
        self.assertEqual(self.metric(self.get(port)[1], "recording_readable"), 0)
        self.assertEqual(self.get(port, "/")[0], 404)

        program = self.start(*FOREVER, env=ENV)
        first = self.wait_for(port, lambda text: self.metric(text, "gpu_busy_ratio") is not None)
        self.assertEqual(self.metric(first, "process_open"), 1)
        last = self.metric(first, "last_operation_timestamp_seconds")
        # It goes on, and what is read stays two seconds.
        later = self.wait_for(port, lambda text: (self.metric(text, "last_operation_timestamp_seconds") or 0) > last + 3)
        self.assertLessEqual(self.metric(later, "window_seconds"), 2.1)
        self.assertIsNone(program.poll(), "the program goes on")

        program.kill()
        program.wait()
        self.assertEqual(self.get(port)[0], 200, "a killed program's recording is read on")
        server.send_signal(signal.SIGINT)
        self.assertEqual(server.wait(timeout=30), 0)

    def test_what_was_recorded_goes_to_other_programs_and_back(self):
        ended = self.play("--steps", "20", "--nvtx", "--graph", "4", "--memcpy", "--memset")
        self.assertEqual(ended.code, 0)
        for output in ("trace.pftrace", "trace.json.gz", "run.prom"):
            done = subprocess.run([ANALYZE, "export", "run.db", "-o", output], cwd=self.folder, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertTrue((self.folder / output).exists())
        totals = [json.loads(subprocess.run([ANALYZE, path, "--format", "json"], cwd=self.folder, capture_output=True, check=True,
                                            text=True).stdout)["run"] for path in ("run.db", "trace.json.gz")]
        self.assertEqual(totals[0]["kernels"]["count"], totals[1]["kernels"]["count"])
        self.assertEqual(totals[0]["kernels"]["total_ns"], totals[1]["kernels"]["total_ns"])
        self.assertEqual(totals[0]["partition"], totals[1]["partition"])


if __name__ == "__main__":
    unittest.main(verbosity=2)
