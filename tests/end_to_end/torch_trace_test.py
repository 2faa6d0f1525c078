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


def kernel_time_by_line(events, script):
    """Of a trace whose operators tell their stacks: by the innermost frame in the script, of backward kernels that of the forward operator."""
    operators, calls, forward = collections.defaultdict(list), {}, {}
    for event in events:
        if event.get("cat") == "Operator":
            operators[str(event["tid"])].append(event)
        elif event.get("cat") == "Runtime":
            calls[event["args"].get("correlation")] = event

    def line_of(event):
        frames = [frame for frame in event["args"].get("Call stack", "").split(";") if frame.startswith(f"{script}(")]
        return int(frames[0].split("(")[1].split(")")[0]) if frames else None

    launched = collections.defaultdict(list)
    for event in events:
        if event.get("cat") == "Kernel":
            call = calls[event["args"]["correlation"]]
            launched[str(call["tid"])].append((call["ts"], 1, event["dur"]))
    moments = {tid: sorted([(event["ts"], 0, -event["dur"], number) for number, event in enumerate(all_of_thread)] + launched[tid])
               for tid, all_of_thread in operators.items()}
    for tid, all_of_thread in operators.items():
        for _, _, _, number in (moment for moment in moments[tid] if moment[1] == 0):
            event = all_of_thread[number]
            if "Sequence number" in event["args"] and not event["args"]["Fwd thread id"] and line_of(event):
                forward[event["args"]["Sequence number"]] = line_of(event)
    times = collections.Counter()
    for tid, all_of_thread in operators.items():
        around = []
        for time, kind, length, *number in moments[tid]:
            around = [event for event in around if time < event["ts"] + event["dur"]]
            if kind == 0:
                around.append(all_of_thread[number[0]])
                continue
            lines = [line_of(event) or forward.get(event["args"].get("Sequence number")) for event in around]
            known = [line for line in lines if line]
            if known:
                times[known[-1]] += length
    return times


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
        # Longer than the GPU's part of the step: it would not be hidden either if the program did not wait at the end of each.
        self.write(1, augment_us=30_000)
        verdict = self.told("report", "trace.json")["verdict"]
        self.assertEqual(verdict["label"], "host_code")
        self.assertEqual(verdict["code"][0]["place"], "train.py:88 in augment")
        self.assertEqual(verdict["code"][0]["library"], "choice")
        self.assertAlmostEqual(int(verdict["code"][0]["ns"]), 30e6, delta=1e6)

    def test_a_slow_line_that_a_wait_exposes(self):
        """Shorter, it would be hidden if the program did not wait at the end of each step: the wait is blamed, and the line told."""
        self.write(1)
        verdict = self.told("report", "trace.json")["verdict"]
        self.assertEqual((verdict["label"], verdict["code"][0]["place"]), ("sync_bound", "train.py:120 in main"))
        self.assertTrue(any("after the waits the host was mostly at train.py:88 in augment" in line["text"] for line in verdict["evidence"]))

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

    def test_lines_of_a_public_trace(self):
        """One of 2021, whose operators tell their stacks: kernel time by line of the script is what follows from the trace itself."""
        path = PUBLIC / "kineto_resnet50" / "nw0_a.json.gz"
        if not path.exists():
            raise unittest.SkipTest(f"{path} is not there")
        events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
        truth = kernel_time_by_line(events, "resnet50_profiler_api.py")
        rows = [row for row in self.told("code", path) if row["kernel_ns"]]
        known = {row["line"]: row["kernel_ns"] for row in rows if row["file"] == "resnet50_profiler_api.py"}
        self.assertEqual(len(known), len(rows), "what the script calls is its")
        self.assertGreater(len(truth), 2)
        for line, us in truth.items():
            self.assertAlmostEqual(known[line] / sum(known.values()), us / sum(truth.values()), delta=0.03, msg=f"line {line}")

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
