# SPDX-License-Identifier: Apache-2.0
"""Traces of torch.profiler with stacks: lines of code are named as in our own recordings, and what was imported is exported again."""

import collections
import gzip
import json
import pathlib
import unittest

import harness
import torch_trace

ANALYZE = harness.AnalyzeTestCase.analyze
PUBLIC = harness.ROOT.parent / "shared" / "data"


class TorchTraces(harness.AnalyzeTestCase):
    def write(self, seed, **how):
        trace = torch_trace.TorchTrace(seed, **how)
        trace.write(self.folder / "trace.json")
        return trace

    def told(self, *words):
        return json.loads(self.run_tool(ANALYZE, *words, "--format", "json").stdout)

    def test_kernel_time_by_line(self):
        """Each launch has its stack, and what autograd launches is of the forward line."""
        for seed in range(5):
            trace = self.write(seed)
            all_us = sum(trace.kernel_us.values())
            rows = {row["function"]: row for row in self.told("code", "trace.json", "--functions")}
            for name, us in trace.kernel_us.items():
                share = rows[name]["kernel_ns"] / sum(row["kernel_ns"] for row in rows.values())
                self.assertAlmostEqual(share, us / all_us, delta=0.03, msg=f"seed {seed}: {name}")

    def test_a_slow_line_is_named(self):
        self.write(1)
        verdict = self.told("report", "trace.json")["verdict"]
        self.assertEqual(verdict["label"], "host_code")
        self.assertEqual(verdict["code"][0]["place"], "train.py:88 in augment")
        self.assertEqual(verdict["code"][0]["library"], "choice")
        self.assertAlmostEqual(int(verdict["code"][0]["ns"]), 4e6, delta=0.3e6)

    def test_an_imported_file_says_the_same(self):
        self.write(2)
        self.run_tool(ANALYZE, "import", "trace.json", "-o", "run.db")
        for command in ("code", "kernels", "gaps"):
            self.assertEqual(self.told(command, "trace.json"), self.told(command, "run.db"))
        recording = self.open("run.db")
        kinds = dict(recording.rows("SELECT kind, count(*) FROM profiler_ranges GROUP BY 1"))
        self.assertEqual(set(kinds), {"operator", "python"})
        self.assertEqual(recording.rows("SELECT DISTINCT input_shapes FROM profiler_ranges WHERE name = 'aten::gelu'"),
                         [("[[64, 512], [512, 512]]",)])

    def test_what_was_imported_is_exported(self):
        trace = self.write(3)
        self.run_tool(ANALYZE, "import", "trace.json", "-o", "run.db")
        self.run_tool(ANALYZE, "export", "run.db", "-o", "again.json")
        again = json.loads((self.folder / "again.json").read_text())["traceEvents"]

        def told(events, category):
            keys = ("Input Dims", "Sequence number", "Fwd thread id")
            return collections.Counter((event["name"], event["tid"], round(1000 * event["dur"]), json.dumps({key: event["args"].get(key) for key in keys}))
                                       for event in events if event.get("cat") == category and event["ph"] == "X")

        for category in ("cpu_op", "python_function"):
            for event in again:
                event.setdefault("args", {})
            self.assertEqual(told(again, category), told(trace.events, category))
        arrows = [event for event in again if event.get("cat") == "fwdbwd"]
        self.assertEqual({phase: sum(event["ph"] == phase for event in arrows) for phase in "sf"}, {"s": 12 * 16, "f": 12 * 16})
        # And read again, it says the same of the lines.
        (self.folder / "again.json").rename(self.folder / "twice.json")
        first, second = (self.told("code", name, "--functions") for name in ("trace.json", "twice.json"))
        self.assertEqual({row["function"]: row["kernel_ns"] for row in first}, {row["function"]: row["kernel_ns"] for row in second})

    def test_operators_of_public_traces(self):
        path = PUBLIC / "hta_nccl" / "nccl_data.json.gz"
        if not path.exists():
            raise unittest.SkipTest(f"{path} is not there")
        events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
        operators = [event for event in events if event.get("cat") == "cpu_op"]
        self.run_tool(ANALYZE, "import", path, "-o", "run.db")
        recording = self.open("run.db")
        self.assertEqual(recording.rows("SELECT count(*), count(sequence), count(forward_thread) FROM profiler_range WHERE kind = 1"),
                         [(len(operators), sum("Sequence number" in event["args"] for event in operators),
                           sum(event["args"].get("Fwd thread id", 0) > 0 for event in operators))])
        self.run_tool(ANALYZE, "export", "run.db", "-o", "again.json")
        again = json.loads((self.folder / "again.json").read_text())["traceEvents"]
        count = collections.Counter(event["name"] for event in again if event.get("cat") == "cpu_op")
        for name, number in collections.Counter(event["name"] for event in operators).items():
            self.assertEqual(count[name], number, name)


if __name__ == "__main__":
    harness.main()
