#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checkers of this folder on made-up recordings: they must pass what agrees and fail what does not. Needs no GPU."""

import argparse
import collections
import contextlib
import importlib.util
import io
import json
import os
import pathlib
import re
import sqlite3
import statistics
import sys
import tempfile
import unittest
from unittest import mock

sys.path[:0] = [str(pathlib.Path(__file__).parent / subject)
                for subject in ("shared", "recording", "profilers", "harmless", "cost", "analysis", "ranks")]
sys.path.append(str(pathlib.Path(__file__).parents[2] / "samples" / "workloads"))
import check_nccl_plugin
import check_nccl_transports
import check_recording
import checks
import compare_with_profiler
import flops
import fork_client
import hide_profiler
import identical
import in_flight
import kernels
import matrix_products
import overhead
import pause
import programs
import detach
import profiler
import proton
import python_side
import recording_cost
import run_db
import switch_sources
import turns
import workers
import window_cost
import workloads

SCHEMA = (pathlib.Path(__file__).parents[2] / "schemas" / "run_db.sql").read_text()
VIEWS = (pathlib.Path(__file__).parents[2] / "schemas" / "views.sql").read_text()
MANGLED = "_Z4gemmILi128EEvPf"
DEMANGLED = "void gemm<128>(float*)"
ALL_REDUCE = "ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"
STEP_NS = 1_000_000


class Program:
    """Three steps of two kernels, one copy and one collective: writes the recording and the profile of it."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        # (name, nanoseconds, start within the step); the launch comes 1 us earlier
        self.kernels = [(MANGLED, 100_000, 10_000), (ALL_REDUCE, 40_000, 120_000)]
        self.bytes = 4096
        self.issued_bytes = 1 << 20

    def operations(self):
        """(step, correlation, kernel or copy index, start_ns)"""
        correlation = 0
        for step in range(3):
            for index, (_, _, start) in enumerate(self.kernels):
                correlation += 1
                yield step, correlation, index, step * STEP_NS + start
            correlation += 1
            yield step, correlation, "copy", step * STEP_NS + 5_000

    def write_run_db(self, name="run.db"):
        path = self.folder / name
        path.unlink(missing_ok=True)
        db = sqlite3.connect(path)
        db.executescript(SCHEMA)
        db.execute("INSERT INTO meta VALUES ('closed', 1)")
        db.execute("INSERT INTO thread VALUES (1, 1, 100, NULL)")
        db.execute("INSERT INTO stream(id, proc, device, context, stream_id) VALUES (1, 1, 0, 1, 7)")
        db.execute("INSERT INTO nvtx_domain VALUES (1, 1, '')")
        db.execute("INSERT INTO api_name VALUES (1, 1, 211, 'cudaLaunchKernel', 1), (2, 1, 41, 'cudaMemcpyAsync', 2), "
                   "(3, 1, 131, 'cudaStreamSynchronize', 4)")
        texts = [kernel[0] for kernel in self.kernels] + ["AllReduce"] + [f"step {i}" for i in range(3)]
        db.executemany("INSERT INTO string VALUES (?, ?)", enumerate(texts, 1))
        for index in range(len(self.kernels)):
            db.execute("INSERT INTO kernel_shape VALUES (?, ?, 1,1,1, 1,1,1, NULL,NULL,NULL, 32, 0, 0, 0)", (index + 1, index + 1))
        function = len(self.kernels) + 1
        for step in range(3):
            db.execute("INSERT INTO nvtx VALUES (?, ?, 1, 1, 1, ?, NULL, NULL, NULL)", (step * STEP_NS, STEP_NS // 2, function + 1 + step))
            db.execute("INSERT INTO collective VALUES (NULL, ?, 10, 1, ?, NULL, ?, 0, NULL, NULL)",
                       (step * STEP_NS + 100_000, function, self.issued_bytes))
        for _, correlation, index, start in self.operations():
            api_name = 2 if index == "copy" else 1
            db.execute("INSERT INTO api VALUES (?, 500, 1, ?, ?, 0)", (start - 1000, api_name, correlation))
            if index == "copy":
                db.execute("INSERT INTO memcpy VALUES (?, 1000, 1, 1, 2, 3, 1, ?, ?, NULL, NULL, NULL)", (start, self.bytes, correlation))
            else:
                db.execute("INSERT INTO kernel VALUES (?, ?, 1, ?, ?, NULL)", (start, self.kernels[index][1], index + 1, correlation))
        # a call of the same id that launches nothing must not count as a second launch
        db.execute("INSERT INTO api VALUES (0, 1, 1, 3, 1, 0)")
        kernels = db.execute("SELECT count(*) FROM kernel").fetchone()[0]
        db.executemany("INSERT INTO health VALUES (1, 'kernel', ?, ?, NULL)", [("seen", kernels), ("stored", kernels)])
        db.commit()
        db.close()
        return path

    def write_profile(self, name="profile.json"):
        events = [{"ph": "M", "name": "process_name"}]

        def add(category, text, start_ns, dur_ns, **arguments):
            events.append({"ph": "X", "cat": category, "name": text, "ts": 5e6 + start_ns / 1e3, "dur": dur_ns / 1e3, "args": arguments})

        for step in range(3):
            add("user_annotation", f"step {step}", step * STEP_NS, STEP_NS // 2)
        for _, correlation, index, start in self.operations():
            add("cuda_runtime", "launch", start - 1000, 500, correlation=correlation)
            if index == "copy":
                add("gpu_memcpy", "Memcpy HtoD (Pinned -> Device)", start, 1000, correlation=correlation, bytes=self.bytes)
            else:
                text = DEMANGLED if self.kernels[index][0] == MANGLED else self.kernels[index][0]
                add("kernel", text, start, self.kernels[index][1], correlation=correlation)
        path = self.folder / name
        path.write_text(json.dumps({"traceEvents": events}))
        return path

    def write_issued(self, name="issued.json"):
        path = self.folder / name
        steps = [{"step": i, "collectives": [{"function": "AllReduce", "bytes": self.issued_bytes}]} for i in range(3)]
        path.write_text(json.dumps({"rank": 0, "steps": steps}))
        return path

    def write_report(self, idle_error=0):
        parts = check_recording.sweep(run_db.RunDb(self.folder / "run.db").intervals_by_device()[0])
        partition = {name: str(value) for name, value in parts.items()} | {"wall_ns": str(sum(parts.values()))}
        partition["idle_ns"] = str(parts["idle_ns"] + idle_error)
        path = self.folder / "report.json"
        path.write_text(json.dumps({"sources": [{}], "devices": [{"label": "GPU 0", "source": 0, "ordinal": 0, "partition": partition}]}))
        return path


class CheckersTest(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.folder = pathlib.Path(self.directory.name)
        self.program = Program(self.folder)
        self.outcomes = self.folder / "outcomes.jsonl"

    def run_main(self, module, *arguments):
        """{check name: outcome} of a checker."""
        self.outcomes.unlink(missing_ok=True)
        command = [module.__name__, *map(str, arguments), "--checks", str(self.outcomes), "--part", "(x)"]
        with mock.patch.object(sys, "argv", command), contextlib.redirect_stdout(io.StringIO()):
            module.main()
        rows = [json.loads(line) for line in self.outcomes.read_text().splitlines()]
        return {row["check"]: row["outcome"] for row in rows if row["outcome"] != "NOTE"}

    def compare(self, recorded=None, witness=None):
        recorded, witness = recorded or self.program, witness or self.program
        return self.run_main(compare_with_profiler, "--run-db", recorded.write_run_db(), "--profile", witness.write_profile(),
                             "--issued", witness.write_issued(), "--steps", 3)

    def failed(self, outcomes):
        return sorted(name for name, outcome in outcomes.items() if outcome == "FAIL")

    def test_agreement_passes(self):
        outcomes = self.compare()
        self.assertEqual(self.failed(outcomes), [])
        self.assertEqual(len(outcomes), 7)

    def test_missing_step_fails(self):
        outcomes = self.run_main(compare_with_profiler, "--run-db", self.program.write_run_db(),
                                 "--profile", self.program.write_profile(), "--steps", 4)
        self.assertEqual(self.failed(outcomes), ["steps found"])

    def test_missing_kernel_fails(self):
        other = Program(self.folder)
        other.kernels = self.program.kernels + [("extra", 5, 200_000)]
        self.assertEqual(self.failed(self.compare(witness=other)), ["kernels per step", "kernels per step and name"])

    def test_other_name_fails_by_name_only(self):
        other = Program(self.folder)
        other.kernels = [("other", 100_000, 10_000), self.program.kernels[1]]
        self.assertEqual(self.failed(self.compare(witness=other)), ["kernels per step and name", "time per kernel name"])

    def test_time_beyond_tolerance_fails(self):
        other = Program(self.folder)
        for factor, expected in ((1.04, []), (1.08, ["time per kernel name"])):
            other.kernels = [(MANGLED, round(100_000 * factor), 10_000), self.program.kernels[1]]
            self.assertEqual(self.failed(self.compare(witness=other)), expected, factor)

    def test_other_copy_size_fails(self):
        other = Program(self.folder)
        other.bytes = 8192
        self.assertEqual(self.failed(self.compare(witness=other)), ["copies per step, direction and size"])

    def test_other_collective_bytes_fail(self):
        other = Program(self.folder)
        other.issued_bytes = 5
        self.assertEqual(self.failed(self.compare(witness=other)), ["NCCL calls and bytes in every step"])

    def test_nccl_waiting_is_left_out(self):
        """One rank waits long in the recording only: raw times differ, the shortest over ranks does not."""
        late = Program(self.folder)
        late.kernels = [self.program.kernels[0], (ALL_REDUCE, 300_000, 120_000)]
        outcomes = self.run_main(
            compare_with_profiler, "--run-db", self.program.write_run_db("a.db"), late.write_run_db("b.db"),
            "--profile", self.program.write_profile("a.json"), self.program.write_profile("b.json"), "--steps", 3)
        self.assertEqual(self.failed(outcomes), [])
        self.assertEqual(outcomes["NCCL time, shortest over ranks"], "PASS")

    def check(self, report):
        return self.run_main(check_recording, "--run-db", self.folder / "run.db", "--report", report, "--partitions", 1)

    def test_good_recording_passes(self):
        self.program.write_run_db()
        outcomes = self.check(self.program.write_report())
        self.assertEqual(self.failed(outcomes), [])
        self.assertIn("kernel rows join exactly one launch", outcomes)

    def test_partition_error_of_a_nanosecond_fails(self):
        self.program.write_run_db()
        self.assertEqual(self.failed(self.check(self.program.write_report(idle_error=1))),
                         ["partition of GPU 0 agrees with a second computation", "partition of GPU 0 sums exactly"])

    def test_second_launch_row_fails(self):
        path = self.program.write_run_db()
        with sqlite3.connect(path) as db:
            db.execute("INSERT INTO api VALUES (0, 1, 1, 1, 1, 0)")
        self.assertEqual(self.failed(self.check(self.program.write_report())), ["kernel rows join exactly one launch"])

    def test_loss_fails(self):
        path = self.program.write_run_db()
        with sqlite3.connect(path) as db:
            db.execute("INSERT INTO health VALUES (1, 'buffers', 'exhausted', 3, NULL)")
        self.assertEqual(self.failed(self.check(self.program.write_report())), ["nothing lost"])

    def test_sweep_gives_compute_precedence(self):
        intervals = [(0, 10, False, True), (5, 20, True, True), (15, 30, False, False), (40, 50, False, True), (2, 4, False, True)]
        self.assertEqual(check_recording.sweep(intervals),
                         {"compute_ns": 20, "exposed_communication_ns": 10, "exposed_copy_ns": 10, "idle_ns": 10})

    def test_summary_fails_without_checks_or_with_a_failed_one(self):
        results = self.folder / "results.json"
        with contextlib.redirect_stdout(io.StringIO()):
            self.outcomes.write_text("")
            self.assertEqual(checks.summary(self.outcomes, results), 1)
            recorder = checks.Checks(self.outcomes, "(x)")
            recorder.add("one", True, "")
            self.assertEqual(checks.summary(self.outcomes, results), 0)
            recorder.add("two", False, "")
            self.assertEqual(checks.summary(self.outcomes, results), 1)
        self.assertEqual(json.loads(results.read_text())["failed"], 1)

    def test_overhead_is_paired_by_round(self):
        results = {("compute", "untraced"): [{"median_step_ms": ms, "recorded": None} for ms in (10, 20, 40)],
                   ("compute", "kinds:kernel"): [{"median_step_ms": ms, "recorded": None} for ms in (10.5, 21, 42)],
                   ("compute", "default"): [{"median_step_ms": ms, "recorded": None} for ms in (11, 22, 44)]}
        summary = overhead.summarise(results, "compute", "default")
        for key, expected in (("change_percent", 10), ("points_over_floor", 5)):
            for bound in ("median", "low", "high"):
                self.assertAlmostEqual(summary[key][bound], expected)

    def test_overhead_interval_covers_the_rounds(self):
        found = overhead.interval([1, 2, 3, 4, 5], overhead.statistics.median)
        self.assertEqual(found["median"], 3)
        self.assertTrue(1 <= found["low"] < 3 < found["high"] <= 5)

    def test_tracing_variables_reach_only_traced_runs(self):
        options = mock.Mock(workload="w.py", timeout=1)
        with mock.patch.dict(os.environ, {"TRACEINJECT_KINDS": "left over"}), mock.patch.object(fork_client.subprocess, "Popen") as popen:
            fork_client.ForkServer(options)
            fork_client.ForkServer(options, "l.so")
        untraced, traced = (call.kwargs["env"] for call in popen.call_args_list)
        for environment in (untraced, traced):
            self.assertNotIn("TRACEINJECT_KINDS", environment)
        self.assertNotIn("LD_PRELOAD", untraced)
        self.assertEqual(traced["LD_PRELOAD"], "l.so")
        self.assertEqual(overhead.environment("kinds:kernel,api", "x.db"), {"TRACEINJECT_OUTPUT": "x.db", "TRACEINJECT_KINDS": "kernel,api"})
        self.assertEqual(overhead.environment("default", "x.db"), {"TRACEINJECT_OUTPUT": "x.db"})

    def test_overhead_of_a_source_is_its_difference_to_the_capture_without(self):
        def rounds(*step_ms):
            return [{"median_step_ms": ms, "recorded": None} for ms in step_ms]

        results = {("launch-bound", "untraced"): rounds(10, 20, 40), ("launch-bound", "previous"): rounds(11, 22, 44),
                   ("launch-bound", "previous+gemm"): rounds(11.05, 22.1, 44.2), ("launch-bound", "default"): rounds(11.2, 22.4, 44.8)}
        summaries = {name: overhead.summarise(results, "launch-bound", name) for _, name in results}
        self.assertAlmostEqual(summaries["previous+gemm"]["points_over_base"]["median"], 0.5)
        self.assertNotIn("points_over_base", summaries["previous"])
        self.assertIn("| default | previous | +2.00 (+2.00 to +2.00) |", overhead.differences("launch-bound", summaries))
        self.assertIn("not met", overhead.differences("launch-bound", summaries)[-1])
        summaries["default"]["points_over_base"].update(low=0.9, high=1.1)
        self.assertIn("not resolved", overhead.differences("launch-bound", summaries)[-1])

    def test_overhead_of_windows_is_in_the_mean(self):
        def rounds(*blocks):
            return [{"median_step_ms": 10, "step_ms": list(block), "recorded": None} for block in blocks]

        results = {("compute", "untraced"): rounds((10, 10, 10), (10, 10, 10)), ("compute", "windows"): rounds((10, 10, 13), (10, 10, 13))}
        self.assertAlmostEqual(overhead.summarise(results, "compute", "windows")["change_percent"]["median"], 10)
        self.assertAlmostEqual(overhead.summarise(results, "compute", "untraced")["step_ms"]["median"], 10)
        self.assertEqual(overhead.environment("windows-detached", "x.db")["TRACEINJECT_DETACH"], "1")

    def test_overhead_of_ranks_is_measured_by_a_parent_for_each(self):
        (self.folder / "torch.py").write_text("")
        workload = self.folder / "workload.py"
        workload.write_text("import json, os\nprint(json.dumps({'workload': 'w', 'rank': os.environ['RANK'], 'world': os.environ['WORLD_SIZE']}))\n")
        with mock.patch.dict(os.environ, {"PYTHONPATH": str(self.folder)}):
            processes = overhead.Processes(mock.Mock(workload=str(workload), timeout=60, ranks=2))
            processes.wait_until_ready()
            pipes = [server.process.stdout for server in processes.parent.servers]
            results = processes.run([["one"], ["two"]], {}, self.folder / "output")
        processes.stop()
        for pipe in pipes:
            pipe.close()
        self.assertEqual([(result["rank"], result["world"]) for result in results], [("0", "2"), ("0", "2")])

    def test_overhead_switches_off_all_sources_but_the_one_named(self):
        off = {name: value for switch in overhead.SOURCES.values() for name, value in switch.items()}
        self.assertEqual(overhead.environment("previous", "x.db"), {"TRACEINJECT_OUTPUT": "x.db"} | off)
        off.pop("TRACEINJECT_GEMM")
        self.assertEqual(overhead.environment("previous+gemm", "x.db"), {"TRACEINJECT_OUTPUT": "x.db"} | off)
        self.assertEqual(overhead.environment("default+overhead", "x.db")["TRACEINJECT_KINDS"], overhead.DEFAULT_KINDS + ",overhead")
        for wrong in ("previous+nothing", "everything"):
            self.assertRaises(overhead.argparse.ArgumentTypeError, overhead.configuration_name, wrong)

    def test_overhead_knows_the_default_kinds_and_switches(self):
        injector = pathlib.Path(__file__).parents[2] / "injector"
        self.assertIn(f'kDefaultActivityKinds = "{overhead.DEFAULT_KINDS}"', (injector / "options" / "activity_kind_names.h").read_text())
        options = (injector / "options" / "options.cc").read_text()
        for switch in overhead.SOURCES.values():
            for name in switch:
                self.assertIn(f'"{name}"', options)

    def test_a_window_costs_what_its_steps_take_longer(self):
        # Of a hundred steps of 10 ms the first takes 1 ms longer, and the third 3 ms; in one hundred of five a neighbour 50 ms more.
        usual = [11, 10, 13, *[10] * 97]
        disturbed = [11, 10, 63, *[10] * 97]
        cycles = [window_cost.over_quiet(cycle) for cycle in (usual, usual, disturbed, usual, usual)]
        self.assertAlmostEqual(window_cost.cost_of(cycles, statistics.median), 0.4)
        self.assertAlmostEqual(window_cost.cost_of(cycles, statistics.mean), 1.4)
        more_often = [window_cost.over_quiet(usual[:40]) for _ in range(5)]
        self.assertAlmostEqual(window_cost.cost_of(more_often, statistics.median), 0.4)

    def test_what_it_costs_to_begin_and_end_is_told_from_what_recorded_steps_cost(self):
        cycles = [window_cost.over_quiet([101.0] + [102.0] * 8 + [100.0] * 31) for _ in range(5)]
        self.assertAlmostEqual(window_cost.within(cycles, 8), 2)
        self.assertAlmostEqual(window_cost.beyond(cycles, 8), 1)

    def test_windows_leave_steps_to_compare_with(self):
        complaint = io.StringIO()
        with mock.patch.object(sys, "argv", ["window_cost.py", "--every", "39"]), contextlib.redirect_stderr(complaint), self.assertRaises(SystemExit):
            window_cost.main()
        self.assertIn("--every 39: fewer than 40", complaint.getvalue())

    def test_what_is_compared_with_is_measured(self):
        options = argparse.Namespace(over="off", setting=["default"])
        self.assertEqual(turns.chosen(options, ["off", "kernel", "default"]), ["off", "default"])
        options.setting = None
        self.assertEqual(turns.chosen(options, ["kernel", "off"]), ["off", "kernel"])

    def test_one_process_measures_several_workloads(self):
        (self.folder / "torch.py").write_text("")
        workload = self.folder / "workload.py"
        workload.write_text("import json, os, sys\nprint('noise')\n"
                            "print(json.dumps({'workload': 'w', 'pid': os.getpid(), 'a': sys.argv[1:], 'x': os.environ.get('X')}))\n")
        with mock.patch.dict(os.environ, {"PYTHONPATH": str(self.folder)}):
            server = fork_client.ForkServer(mock.Mock(workload=str(workload), timeout=60))
        self.addCleanup(server.process.stdout.close)
        server.wait_until_ready()
        first, second = server.run([["one"], ["two", "three"]], {"X": "1"}, self.folder / "output")
        (third,) = server.run([["four"]], {}, self.folder / "output")
        server.stop()
        self.assertEqual((first["a"], second["a"], third["a"]), (["one"], ["two", "three"], ["four"]))
        self.assertEqual((first["pid"] == second["pid"], first["pid"] == third["pid"], second["x"], third["x"]), (True, False, "1", None))

    def outcomes_of(self, judge, *arguments):
        """{check: outcome} of what a function adds to the checks that it gets."""
        self.outcomes.unlink(missing_ok=True)
        with contextlib.redirect_stdout(io.StringIO()):
            judge(checks.Checks(self.outcomes, "(x)"), *arguments)
        return {line["check"]: line["outcome"] for line in map(json.loads, self.outcomes.read_text().splitlines())}

    def plain_cuda(self, damage="", judge=programs.judge_plain_cuda):
        """What plain_cuda.cu would leave if it did two of everything, damaged by some SQL."""
        path = self.folder / "plain.db"
        path.unlink(missing_ok=True)
        db = sqlite3.connect(path)
        db.executescript(SCHEMA)
        names = ["AddOne", "Scale", "InThread", "GraphFirst", "GraphSecond"]
        db.executemany("INSERT INTO string VALUES (?, ?)", [(i, f"_Z{len(name)}{name}Pf") for i, name in enumerate(names, 1)])
        db.executemany("INSERT INTO kernel_shape VALUES (?1, ?1, 1,1,1, 1,1,1, NULL,NULL,NULL, 32, 0, 0, 0)", [(i,) for i in range(1, 6)])
        db.executescript("""
          INSERT INTO thread VALUES (1, 1, 7, NULL), (2, 1, 8, NULL);
          INSERT INTO api_name VALUES (1, 2, 307, 'cuLaunchKernel', 1), (2, 1, 20, 'cudaMalloc', 6), (3, 1, 373, 'cudaMallocAsync', 6),
            (4, 1, 22, 'cudaFree', 6), (5, 1, 375, 'cudaFreeAsync', 6), (6, 1, 311, 'cudaGraphLaunch', 7);
          INSERT INTO api VALUES (0, 1, 1, 1, 1, 0), (0, 1, 1, 1, 2, 0), (0, 1, 1, 1, 3, 0), (0, 1, 1, 1, 4, 0), (0, 1, 2, 1, 5, 0),
            (0, 1, 2, 1, 6, 0), (0, 1, 1, 2, 7, 0), (0, 1, 1, 2, 8, 0), (0, 1, 1, 2, 9, 2), (0, 1, 1, 3, 10, 0), (0, 1, 1, 4, 11, 0),
            (0, 1, 1, 5, 12, 0), (0, 1, 1, 6, 20, 0), (0, 1, 1, 6, 21, 0);
          INSERT INTO kernel VALUES (0, 1, 1, 1, 1, NULL), (0, 1, 2, 1, 2, NULL), (0, 1, 1, 2, 3, NULL), (0, 1, 2, 2, 4, NULL),
            (0, 1, 3, 3, 5, NULL), (0, 1, 3, 3, 6, NULL);
          INSERT INTO memcpy VALUES (0, 1, 1, 1, 2, 3, 1, 100, 30, NULL, NULL, NULL), (0, 1, 1, 2, 3, 2, 1, 200, 31, NULL, NULL, NULL),
            (0, 1, 1, 8, 3, 3, 1, 300, 32, NULL, NULL, NULL);
          INSERT INTO memset VALUES (0, 1, 1, 0, 3, 50, 33, NULL);""")
        for launch in (20, 21):
            db.executemany("INSERT INTO kernel VALUES (0, 1, 1, ?, ?, ?)", [(4, launch, 1), (5, launch, 2), (5, launch, 3)])
            db.execute("INSERT INTO memcpy VALUES (0, 1, 1, 8, 3, 3, 1, 300, ?, 4, NULL, NULL)", (launch,))
            db.execute("INSERT INTO memset VALUES (0, 1, 1, 0, 3, 50, ?, 5)", (launch,))
        db.executescript(damage)
        db.commit()
        db.close()
        did = {"kernels": {"AddOne": 2, "Scale": 2, "InThread": 2, "GraphFirst": 2, "GraphSecond": 4},
               "host_to_device": {"calls": 1, "bytes": 100}, "device_to_host": {"calls": 1, "bytes": 200},
               "device_to_device": {"calls": 1, "bytes": 300}, "set": {"calls": 1, "bytes": 50}, "malloc": {"calls": 2, "bytes": 20},
               "malloc_async": {"calls": 1, "bytes": 10}, "free": 1, "free_async": 1, "graph": {"launches": 2, "nodes": 5},
               "priorities": [0, -5], "thread": {"tid": 8, "launches": 2}}
        return self.outcomes_of(judge, programs.Recording(path), did)

    def test_plain_cuda_agreement_passes(self):
        self.assertEqual(self.failed(self.plain_cuda()), [])

    def test_plain_cuda_differences_fail(self):
        for damage, expected in (
                ("UPDATE memcpy SET bytes = 101 WHERE kind = 1", ["copies host_to_device"]),
                ("DELETE FROM memset WHERE graph_node IS NULL", ["memsets"]),
                ("UPDATE api SET result = 0 WHERE correlation = 9", ["calls of cudaMalloc"]),
                ("UPDATE api SET thread = 1 WHERE correlation = 6", ["kernels launched by the second thread"]),
                ("UPDATE kernel SET correlation = 20 WHERE correlation = 21 AND graph_node = 1", ["a graph launch leads to all its nodes"]),
                ("UPDATE kernel SET stream = 1 WHERE shape = 1", ["kernels on each stream"]),
                ("DELETE FROM memset WHERE graph_node = 5 AND correlation = 21",
                 ["a graph launch leads to all its nodes", "each node of the graph ran at each launch"]),
                ("INSERT INTO kernel VALUES (0, 1, 1, 2, 3, NULL)", ["kernels by name"])):
            self.assertEqual(self.failed(self.plain_cuda(damage)), expected, damage)

    def memory(self, damage=""):
        """The same with allocations and priorities."""
        return self.plain_cuda("""
          INSERT INTO memory_operation VALUES (0, 1, 0, 1, 3, 10, 16, NULL, 0, 7), (0, 1, 0, 1, 3, 10, 32, NULL, 0, 8),
            (0, 1, 0, 1, 3, 10, 48, 1, 1, 10), (5, 1, 0, 2, 3, 10, 16, NULL, 0, 11), (5, 1, 0, 2, 3, 10, 48, 1, 1, 12);
          INSERT INTO stream VALUES (1, 1, 0, 1, 7, 0, 2, NULL), (2, 1, 0, 1, 13, -5, 2, NULL), (3, 1, 0, 1, 14, 0, 2, NULL);""" + damage,
                               programs.judge_memory)

    def test_memory_agreement_passes(self):
        self.assertEqual(self.failed(self.memory()), [])

    def test_memory_differences_fail(self):
        for damage, expected in (("UPDATE memory_operation SET bytes = 11 WHERE address = 32", ["allocations"]),
                                 ("UPDATE memory_operation SET pool = 0 WHERE address = 48 AND kind = 2",
                                  ["releases", "releases into the pool"]),
                                 ("UPDATE memory_operation SET correlation = 1 WHERE address = 32", ["memory operations lead to their calls"]),
                                 ("UPDATE memory_operation SET address = 64 WHERE time = 5 AND pool = 0",
                                  ["releases lead to their allocations"]),
                                 ("UPDATE stream SET priority = NULL WHERE id = 1", ["priorities of the streams"])):
            self.assertEqual(self.failed(self.memory(damage)), expected, damage)

    def shown(self, name, code=7, stdout=b"loss", digests=None):
        folder = self.folder / name
        folder.mkdir()
        (folder / "stdout").write_bytes(stdout)
        (folder / "stderr").write_bytes(b"")
        (folder / "digests.json").write_text(json.dumps(digests or {"/model/w": "ab"}))
        return identical.Shown(folder, code)

    def test_identical_runs_pass_and_others_fail(self):
        plain = self.shown("plain")
        cases = {"same": ({}, "PASS"), "code": ({"code": 8}, "FAIL"), "output": ({"stdout": b"lose"}, "FAIL"),
                 "state": ({"digests": {"/model/w": "ac"}}, "FAIL"), "more": ({"digests": {"/model/w": "ab", "/x": "1"}}, "FAIL")}
        for name, (change, outcome) in cases.items():
            traced = self.shown(name, **change)
            outcomes = self.outcomes_of(identical.judge, "eager", [plain], [traced], [5], lambda: [plain])
            self.assertEqual(outcomes, {"eager: recorded": "PASS", "eager: identical": outcome}, name)
        outcomes = self.outcomes_of(identical.judge, "eager", [plain], [plain], [0], lambda: [plain])
        self.assertEqual(outcomes["eager: recorded"], "FAIL", "nothing was recorded")
        self.assertEqual(self.outcomes_of(identical.judge, "exception", [plain], [plain], [5], lambda: [plain]), {"exception": "SKIP"})

    def test_workers_are_told_apart(self):
        def rows(cpu, read, disk):
            return [(s * 1_000_000_000, cpu and int(s * cpu * 1e9), None if read is None else s * read, 4, disk) for s in range(10)]

        gib = 1 << 30
        for (cpu, read, disk), cause in (((0.99, 0, 0), "decode"), ((0.2, gib, 3), "storage"), ((0.2, None, 3), "storage"),
                                         ((0.2, gib, 0), "storage"), ((0.01, 0, 0), "sleep"), ((None, 0, 0), "unknown")):
            self.assertEqual(workers.cause(workers.figures_of(rows(cpu, read, disk))), cause, (cpu, read, disk))
        self.assertEqual(workers.cause(workers.figures_of([])), "unknown")

    def test_workers_are_held_against_their_own_clock(self):
        figures = {pid: workers.Figures(10, 0.95, 0.0, 0.0) for pid in (5, 6)}
        own = {pid: {"cpu": 0.99, "read_bytes_s": 0} for pid in (5, 6)}
        self.assertEqual(self.failed(self.outcomes_of(workers.judge, "decode", figures, own)), [])
        self.assertEqual(self.failed(self.outcomes_of(workers.judge, "sleep", figures, own)), ["sleep: told apart"])
        own[6]["cpu"] = 0.5
        self.assertEqual(self.failed(self.outcomes_of(workers.judge, "decode", figures, own)), ["decode: share of a processor"])
        self.assertEqual(self.failed(self.outcomes_of(workers.judge, "decode", {5: figures[5]}, own)), ["decode: workers"])
        waiting = {pid: workers.Figures(10, 0.1, 0.0, 0.0) for pid in (5, 6)}
        own = {pid: {"cpu": 0.1, "read_bytes_s": 1e9} for pid in (5, 6)}
        self.assertEqual(self.outcomes_of(workers.judge, "storage", waiting, own)["storage: told apart"], "SKIP")

    def outcomes_of_python_side(self, damage=""):
        """One configuration of 10 waits of 20 ms and 9 steps, recorded exactly, then damaged by some SQL."""
        db = sqlite3.connect(":memory:")
        db.executescript(SCHEMA + VIEWS)
        db.executescript("INSERT INTO meta VALUES ('base_ns', 0); INSERT INTO thread VALUES (1, 1, 7, NULL);"
                         "INSERT INTO data_loader VALUES (1, 1, 4, 1, 0, 2, 8);")
        db.executemany("INSERT INTO data_wait VALUES (?, 20000000, 1, 1, ?, 8)", [(50_000_000 * i, i) for i in range(10)])
        db.executemany("INSERT INTO step_mark VALUES (?, 1, 1)", [(50_000_000 * i + 40_000_000,) for i in range(9)])
        db.executescript(damage)
        check = python_side.Check("library.so", self.folder)
        with contextlib.redirect_stdout(io.StringIO()):
            check.check_configuration(db, {"workers": 4, "context": "fork", "begin": 0, "end": 600_000_000,
                                           "waits": [20_000_000] * 10, "steps": 9})
            code = check.finish()
        return [outcome["outcome"] for outcome in check.outcomes], code

    def test_python_side_agreement_passes(self):
        self.assertEqual(self.outcomes_of_python_side(), (["PASS"] * 5, 0))
        self.assertEqual(self.outcomes_of_python_side("UPDATE data_wait SET dur = 19700000"), (["PASS"] * 5, 0))

    def test_python_side_differences_fail(self):
        # calls and workers, all waits, all but the first, samples, step marks
        for damage, expected in (("UPDATE data_wait SET dur = 19400000", ["PASS", "FAIL", "FAIL", "PASS", "PASS"]),
                                 ("UPDATE data_wait SET dur = 40000000 WHERE batch = 0", ["PASS", "FAIL", "PASS", "PASS", "PASS"]),
                                 ("DELETE FROM data_wait WHERE batch = 9", ["FAIL", "FAIL", "FAIL", "PASS", "PASS"]),
                                 ("UPDATE data_loader SET workers = 3", ["FAIL", "PASS", "PASS", "PASS", "PASS"]),
                                 ("UPDATE data_wait SET samples = 3 WHERE batch = 2", ["PASS", "PASS", "PASS", "FAIL", "PASS"]),
                                 ("INSERT INTO step_mark VALUES (5, 1, 1)", ["PASS", "PASS", "PASS", "PASS", "FAIL"])):
            self.assertEqual(self.outcomes_of_python_side(damage), (expected, 1), damage)

    def outcomes_of_nccl_plugin(self, damage="", algorithm="RING", protocol="LL", linked=4, interface=5):
        """Two single operations and a group of two in one kernel, recorded exactly, then damaged by some SQL."""
        path = self.folder / "nccl.db"
        path.unlink(missing_ok=True)
        db = sqlite3.connect(path)
        db.executescript(SCHEMA)
        db.executescript("""
          INSERT INTO string VALUES (1, 'AllReduce'), (2, 'Send'), (3, 'ncclBfloat16'), (4, 'RING'), (5, 'LL'), (6, 'ncclDevKernel_X'),
            (7, 'NVLS'), (8, 'SIMPLE'), (9, 'ncclFloat32');
          INSERT INTO thread VALUES (1, 1, 7, NULL);
          INSERT INTO api_name VALUES (1, 2, 652, 'cuLaunchKernelEx', 1);
          INSERT INTO kernel_shape VALUES (1, 6, 1,1,1, 1,1,1, NULL,NULL,NULL, 32, 0, 0, 0);
          INSERT INTO communicator VALUES (1, 1, 99, 0, 2, 0, 0, NULL, 1, NULL);
          INSERT INTO collective VALUES (1, 0, 50, 1, 1, 1, 400, 0, NULL, NULL), (2, 100, 50, 1, 2, 1, 600, NULL, 1, NULL),
            (3, 200, 5, 1, 1, 1, 700, 0, NULL, NULL), (4, 210, 5, 1, 1, 1, 800, 0, NULL, NULL);
          INSERT INTO api VALUES (20, 5, 1, 1, 1, 0), (120, 5, 1, 1, 2, 0), (230, 5, 1, 1, 3, 0);
          INSERT INTO kernel VALUES (1000, 10, 1, 1, 1, NULL), (2000, 10, 1, 1, 2, NULL), (3000, 10, 1, 1, 3, NULL);
          INSERT INTO collective_plan VALUES (1, 30, 1, 5, 200, 3, 4, 5, 2, 5, 15, 15), (2, 130, 1, NULL, 300, 3, NULL, NULL, 2, NULL, 115, 15),
            (3, 240, 1, 6, 350, 3, 4, 5, 2, 5, 225, 15), (4, 240, 1, 7, 400, 3, 4, 5, 2, 5, 225, 15);
          INSERT INTO health VALUES (1, 'nccl_plugin', 'seen', 4, NULL), (1, 'nccl_plugin', 'stored', 4, NULL);""")
        db.executescript(damage)
        db.commit()
        db.close()
        issued = [{"function": function, "bytes": size, "datatype": "ncclBfloat16", "count": 1}
                  for function, size in (("AllReduce", 400), ("Send", 600), ("AllReduce", 700), ("AllReduce", 800))]
        report = {"run": {"nccl": {"kernels": "4", "linked_kernels": str(linked), "rows": [{"algorithm": "RING", "protocol": "LL"}]}}}
        outcomes = self.folder / "nccl.jsonl"
        outcomes.unlink(missing_ok=True)
        with contextlib.redirect_stdout(io.StringIO()):
            check_nccl_plugin.check(checks.Checks(outcomes, "(a)"), run_db.RunDb(path), issued, report, algorithm, protocol, interface)
        lines = [json.loads(line) for line in outcomes.read_text().splitlines()]
        return {line["check"] for line in lines if line["outcome"] == "FAIL"}, len(lines)

    def test_nccl_plugin_agreement_passes(self):
        self.assertEqual(self.outcomes_of_nccl_plugin(), (set(), 11))
        self.assertEqual(self.outcomes_of_nccl_plugin(algorithm=None, protocol=None), (set(), 11))
        older = "UPDATE collective_plan SET launch_start = NULL, launch_dur = NULL;"
        self.assertEqual(self.outcomes_of_nccl_plugin(older, interface=4), (set(), 11))
        self.assertEqual(self.outcomes_of_nccl_plugin(older + "UPDATE communicator SET nodes = NULL", interface=3), (set(), 11))

    def test_nccl_plugin_differences_fail(self):
        there, told = "each operation issued is there once", "NCCL told how each was carried out"
        kernels, choice = "NCCL kernels lead to their operations", "algorithm and protocol"
        for damage, expected in (
                ("INSERT INTO collective SELECT 9, start, dur, thread, function, communicator, bytes, 0, NULL, NULL FROM collective "
                 "WHERE id = 1", {there, told, "datatypes"}),
                ("UPDATE collective SET bytes = 401 WHERE id = 1", {there}),
                ("DELETE FROM collective_plan WHERE collective = 1", {told, "datatypes", kernels}),
                ("UPDATE collective_plan SET protocol = 8 WHERE collective = 3", {choice}),
                ("UPDATE collective_plan SET algorithm = 7 WHERE collective = 3", {choice, "no NVLS"}),
                ("UPDATE collective_plan SET datatype = 9 WHERE collective = 4", {"datatypes"}),
                ("UPDATE collective_plan SET sequence = 9 WHERE collective = 4", {"sequence numbers without holes"}),
                ("UPDATE collective_plan SET launch_start = 0, launch_dur = 1 WHERE collective = 2", {kernels}),
                ("UPDATE collective_plan SET launch_start = NULL WHERE collective = 2", {kernels, "version of the interface"}),
                ("UPDATE communicator SET nodes = NULL", {"version of the interface"}),
                ("INSERT INTO health VALUES (1, 'nccl_plugin', 'unlinked', 1, NULL)", {"nothing lost"}),
                ("UPDATE health SET value = 3 WHERE counter = 'stored'", {"nothing lost"})):
            self.assertEqual(self.outcomes_of_nccl_plugin(damage)[0], expected, damage)
        self.assertEqual(self.outcomes_of_nccl_plugin(linked=3)[0], {"analyze joins the kernels to calls"})
        late = "UPDATE collective_plan SET launch_start = NULL, launch_dur = NULL; UPDATE collective_plan SET time = 15 WHERE collective = 1"
        self.assertEqual(self.outcomes_of_nccl_plugin(late, interface=4)[0], {kernels})

    def test_hidden_versions_of_the_interface(self):
        library = b"".join(f"ncclProfiler_v{version}\0".encode() for version in range(1, 6))
        self.assertEqual(hide_profiler.hide(library, 3), library.replace(b"_v4", b"_x4").replace(b"_v5", b"_x5"))
        with self.assertRaises(SystemExit):
            hide_profiler.hide(b"", 4)


class NcclTransports(unittest.TestCase):
    REMARKS = {"P2P": [], "SHM": ["1 pair of ranks exchanges data through host memory (SHM), not GPU to GPU."],
               "Socket": ["1 pair of ranks exchanges data through TCP sockets, though both are on one host."]}

    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def failures(self, transport, damage="", remarks=None, stdout="trained", left=()):
        """Two ranks connected in one way, recorded exactly; then the second one damaged by some SQL."""
        ranks = []
        for rank in range(2):
            path = self.folder / f"{rank}.db"
            path.unlink(missing_ok=True)
            db = sqlite3.connect(path)
            db.executescript(SCHEMA)
            db.executescript(f"""
              INSERT INTO string VALUES (1, 'P2P'), (2, 'SHM'), (3, 'NET'), (4, 'Socket'), (5, 'CUMEM');
              INSERT INTO communicator VALUES (1, 1, 99, 0, 2, {rank}, {rank}, NULL, 1, NULL);
              INSERT INTO nccl_setup VALUES (1, 1, 1, {rank}, 2, {rank}, 1, 4, 24, 24, 24, 0, 32, 32, 0);
              INSERT INTO health VALUES (1, 'nccl_log', 'lines', 50, NULL);""")
            way = {"P2P": "1, 5, NULL, NULL", "SHM": "2, NULL, NULL, NULL", "Socket": "3, NULL, 4, 0"}[transport]
            db.execute(f"INSERT INTO nccl_link VALUES (1, 1, 1, {rank}, {1 - rank}, 1, {way}, NULL, NULL, 24)")
            if rank == 1:
                db.executescript(damage)
            db.commit()
            db.close()
            ranks.append(check_nccl_transports.Recorded(path))
        name = {"P2P": "P2P/CUMEM", "SHM": "SHM/direct/direct", "Socket": "NET/Socket"}[transport]
        report = {"run": {"nccl": {"transports": [
            {"paths": [{"name": name}], "remarks": self.REMARKS[transport] if remarks is None else remarks}]}}}
        outcomes = self.folder / "outcomes.jsonl"
        outcomes.unlink(missing_ok=True)
        temporary = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for file in left:
            (temporary / file).touch()
        found = checks.Checks(outcomes, "(a)")
        with contextlib.redirect_stdout(io.StringIO()):
            check_nccl_transports.check_links(found, ranks, transport)
            check_nccl_transports.check_setups(found, ranks)
            check_nccl_transports.check_health(found, ranks)
            check_nccl_transports.check_report(found, report, transport)
            check_nccl_transports.check_quiet(found, temporary, stdout)
        return {line["check"] for line in map(json.loads, outcomes.read_text().splitlines()) if line["outcome"] == "FAIL"}

    def test_agreement_passes(self):
        for transport in ("P2P", "SHM", "Socket"):
            self.assertEqual(self.failures(transport), set(), transport)

    def test_differences_fail(self):
        for damage, expected in (
                ("UPDATE nccl_link SET transport = 2", {"transport"}),
                ("DELETE FROM nccl_link", {"each rank tells of what it sends"}),
                ("UPDATE nccl_link SET sends = 0", {"each rank tells of what it sends"}),
                ("UPDATE nccl_link SET channels = 0", {"channels"}),
                ("UPDATE nccl_setup SET size = 3", {"communicators are told"}),
                ("UPDATE nccl_setup SET communicator = NULL", {"each is known by its hash", "both ranks tell of the same ones"}),
                ("UPDATE communicator SET hash = 98", {"both ranks tell of the same ones"}),
                ("UPDATE nccl_setup SET trees = NULL", {"rings, trees, channels"}),
                ("UPDATE nccl_setup SET nvls = 1", {"no NVLS"}),
                ("INSERT INTO health VALUES (1, 'nccl_log', 'dropped', 1, NULL)", {"the log was read whole"}),
                ("DELETE FROM health", {"the log was read whole"})):
            self.assertEqual(self.failures("P2P", damage), expected, damage)
        self.assertEqual(self.failures("Socket", remarks=[]), {"what the report says of it"})
        self.assertEqual(self.failures("P2P", stdout="vm:1:2 [0] NCCL INFO x"), {"the program shows nothing of the log"})
        self.assertEqual(self.failures("P2P", left=("traceinject-nccl-0-1",)), {"no log is left behind"})

    def test_output(self):
        def failed(plain, recorded):
            outcomes = self.folder / "output.jsonl"
            outcomes.unlink(missing_ok=True)
            with contextlib.redirect_stdout(io.StringIO()):
                check_nccl_transports.check_output(checks.Checks(outcomes, "(d)"), plain, recorded)
            return json.loads(outcomes.read_text())["outcome"]

        line = "vm:10:11 [0] NCCL INFO comm 0x7f rank 0 - Init COMPLETE\n"
        self.assertEqual(failed(line + "sum 1\n", "sum 2\n" + line.replace("0x7f", "0x8a").replace("10:11", "7:8")), "PASS")
        self.assertEqual(failed(line, ""), "FAIL")
        self.assertEqual(failed(line, line + line), "FAIL")
        self.assertEqual(failed("", ""), "FAIL")


class MatrixProducts(unittest.TestCase):
    """Two steps with two products each, of which one has no kernel, and one product outside of the steps."""

    def recording(self, folder):
        path = pathlib.Path(folder) / "run.db"
        database = sqlite3.connect(path)
        database.executescript(SCHEMA + VIEWS)
        database.execute("INSERT INTO thread VALUES (1, 1, 10, NULL)")
        database.execute("INSERT INTO nvtx_domain VALUES (1, 1, '')")
        database.executemany("INSERT INTO string VALUES (?, ?)", [(1, "step 0"), (2, "step 1"), (3, "cublasGemmEx")])
        database.execute("INSERT INTO gemm_shape VALUES (1, 3, 10, 20, 30, 1, 0, 0, 14, 14, 14, 68, NULL)")
        for step in range(2):
            start = step * 1000
            database.execute("INSERT INTO nvtx VALUES (?, 900, 1, 1, 1, ?, NULL, NULL, NULL)", (start, step + 1))
            database.executemany("INSERT INTO gemm VALUES (?, 50, 1, 1)", [(start + 100,), (start + 300,)])
            database.execute("INSERT INTO api VALUES (?, 5, 1, 1, ?, 0)", (start + 110, step + 1))
            database.execute("INSERT INTO api VALUES (?, 5, 1, 1, ?, 0)", (start + 360, step + 11))  # after the second product
            database.executemany("INSERT INTO kernel VALUES (?, 10, 1, 1, ?, NULL)",
                                 [(start + 200, step + 1), (start + 400, step + 11)])
        database.execute("INSERT INTO gemm VALUES (5000, 50, 1, 1)")
        database.commit()
        database.close()
        return path

    def test_counts_what_lies_in_the_steps(self):
        with tempfile.TemporaryDirectory() as folder:
            self.assertEqual(matrix_products.recorded(self.recording(folder)), (4, 4 * 2 * 10 * 20 * 30, 2))

    def judged(self, counted, calls, flops, linked):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path = pathlib.Path(folder) / "checks"
            matrix_products.judge(checks.Checks(path, "products"), "bf16", counted, calls, flops, linked)
            return [json.loads(line)["outcome"] for line in path.read_text().splitlines()]

    def test_judges_operations_and_links(self):
        counted = {"mm": 600, "addmm": 400, "_scaled_dot_product_flash_attention": 10**9}
        steps = matrix_products.STEPS
        self.assertEqual(self.judged(counted, 100, steps * 1000, 100), ["PASS", "PASS"])
        self.assertEqual(self.judged(counted, 100, steps * 1011, 100), ["FAIL", "PASS"])
        self.assertEqual(self.judged(counted, 100, steps * 1000, 98), ["PASS", "FAIL"])
        self.assertEqual(self.judged({}, 0, 0, 0), ["NOTE", "FAIL"], "nothing recorded is no success")


class StepFlops(unittest.TestCase):
    def judged(self, name, counted, products):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path = pathlib.Path(folder) / "checks"
            flops.judge(checks.Checks(path, "flops"), name, counted, products)
            return [json.loads(line)["outcome"] for line in path.read_text().splitlines()]

    def test_judges_attention_and_products_together(self):
        counted = {"mm": 600, "_scaled_dot_product_flash_attention": 400}
        good = {"calls": "10", "linked_calls": "10", "flops_per_step": 1000.0, "unknown_share": 0.0,
                "attention": {"calls": "8", "backward_calls": "4", "linked_calls": "8"}}
        self.assertEqual(self.judged("flash", counted, good), ["PASS"] * 4)
        self.assertEqual(self.judged("flash", counted, {**good, "flops_per_step": 980.0}), ["FAIL", "PASS", "PASS", "PASS"])
        self.assertEqual(self.judged("flash", counted, {**good, "unknown_share": 0.02}), ["PASS", "FAIL", "PASS", "PASS"])
        self.assertEqual(self.judged("flash", counted, {**good, "linked_calls": "9"}), ["PASS", "PASS", "PASS", "FAIL"])
        self.assertEqual(self.judged("math", counted, good), ["PASS", "PASS", "FAIL", "PASS"])
        by_products = {**good, "attention": {"calls": "4", "product_calls": "4"}}
        self.assertEqual(self.judged("math", counted, by_products), ["PASS"] * 4)
        self.assertEqual(self.judged("flash", counted, {**good, "attention": {}}), ["PASS", "PASS", "FAIL", "PASS"])

    def test_of_a_compiled_program_something_is_unknown(self):
        products = {"calls": "10", "linked_calls": "10", "flops_per_step": 600.0, "unknown_share": 0.2}
        self.assertEqual(self.judged("compiled", {}, products), ["PASS", "NOTE", "PASS"])
        self.assertEqual(self.judged("compiled", {}, {**products, "unknown_share": 0.0}), ["FAIL", "NOTE", "PASS"])
        self.assertEqual(self.judged("compiled", {}, {**products, "attention": {"calls": "1"}}), ["FAIL", "NOTE", "PASS"])


class Workloads(unittest.TestCase):
    """Ten steps of 1 ms on an H200, of half a TFLOP each as torch counts."""

    FIGURES = {"warmup": 5, "steps": 10, "seconds": 0.01, "begin_unix_ns": 100_000_000, "end_unix_ns": 110_000_000, "median_step_ms": 1.0,
               "flops": {"mm": 4e11, "addmm": 1e11}}

    def report(self):
        split = {"compute_ns": "900000", "idle_ns": "100000",
                 "idle": [{"cause": "data wait", "ns": "60000"}, {"cause": "sync", "ns": "40000"}]}
        steps = [{"start_ns": str(90_000_000 + i * 1_000_000), "length_ns": "1000000", **split} for i in range(10)]
        total = {"length_ns": "10000000", "compute_ns": "9000000", "idle_ns": "1000000",
                 "idle": [{"cause": "data wait", "ns": "600000"}, {"cause": "sync", "ns": "400000"}]}
        partition = {"wall_ns": "10000000", "compute_ns": "9000000", "idle_ns": "1000000"}
        return {"run": {"origin_unix_ns": "10000000", "partition": dict(partition), "kernels": {"unclassified_share": 0.001},
                        "nccl": {"kernels": "5", "rows": [{"function": "AllReduce", "count": "5"}]},
                        "matrix_products": {"flops_per_step": 5e11, "unknown_share": 0.2, "peak_share": 5e14 / 989e12}},
                "devices": [{"partition": dict(partition), "peaks": {"bf16_tflops": 989}}],
                "steps": [{"source": "optimizer steps", "first": "4", "median_ns": "1000000", "sum": total, "steps": steps}],
                "mfu": {"mfu_percent": 5e16 / 989e12}, "verdict": {"label": "dataloader"}}

    def failed(self, report, program=None):
        """Names of the checks that fail."""
        program = program or workloads.Program([], workloads.EXACT, ("data wait",), "dataloader", collectives=("AllReduce",))
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path = pathlib.Path(folder) / "checks"
            workloads.judge(checks.Checks(path, "workloads"), "x", program, self.FIGURES, report)
            outcomes = [json.loads(line) for line in path.read_text().splitlines()]
        return [outcome["check"].removeprefix("x: ") for outcome in outcomes if outcome["outcome"] == "FAIL"]

    def test_what_agrees_passes(self):
        self.assertEqual(self.failed(self.report()), [])

    def test_each_figure_that_is_off_fails(self):
        def change(path, value):
            report = self.report()
            *way, last = path
            message = report
            for name in way:
                message = message[name]
            message[last] = value
            return report

        products = ("run", "matrix_products")
        for path, value, failed in (
                (("steps", 0, "median_ns"), "1030000", ["median step"]),
                (("steps", 0, "steps"), self.report()["steps"][0]["steps"][:8], ["steps"]),
                (("steps", 0, "steps", 0, "length_ns"), "1300000", ["mean step", "the parts of time add up"]),
                ((*products, "flops_per_step"), 4.8e11, ["FLOPs of a step"]),
                ((*products, "flops_per_step"), 5.2e11, ["FLOPs of a step"]),
                ((*products, "peak_share"), 0.49, ["MFU"]),
                ((*products, "peak_share"), None, ["MFU"]),
                (("mfu", "mfu_percent"), 40, ["MFU of given FLOPs"]),
                (("mfu",), {"reason": "the number of steps is unknown"}, ["MFU of given FLOPs"]),
                (("run", "partition", "idle_ns"), "999999", ["the parts of time add up"]),
                (("devices", 0, "partition", "compute_ns"), "1", ["the parts of time add up"]),
                (("steps", 0, "steps", 3, "idle"), [], ["the parts of time add up"]),
                (("run", "kernels", "unclassified_share"), 0.02, ["kernels of a known class"]),
                (("steps", 0, "sum", "idle"), [{"cause": "sync", "ns": "1000000"}], ["cause of idle"]),
                (("verdict", "label"), "compute_bound", ["verdict"]),
                (("run", "nccl"), {}, ["AllReduce"])):
            self.assertEqual(self.failed(change(path, value)), failed, path)

    def test_lower_bound_never_exceeds_the_truth_and_names_what_is_unknown(self):
        def failed(kind, flops, unknown, share):
            report = self.report()
            report["run"]["matrix_products"] = {"flops_per_step": flops, "unknown_share": unknown, "peak_share": share}
            return self.failed(report, workloads.Program([], kind))

        self.assertEqual(failed(workloads.PARTIAL, 3e11, 0.2, 0.3), [])
        self.assertEqual(failed(workloads.PARTIAL, 0, 0.2, None), [], "all in a CUDA graph")
        self.assertEqual(failed(workloads.PARTIAL, 3e11, 0, 0.3), ["FLOPs of a step"], "nothing said to be unknown")
        self.assertEqual(failed(workloads.BOUND, 3e11, 0, 0.3), [])
        self.assertEqual(failed(workloads.BOUND, 5.1e11, 0, 0.5), ["FLOPs of a step"])
        self.assertEqual(failed(workloads.PARTIAL, 3e11, 0.2, 0.6), ["MFU"])
        self.assertEqual(failed(workloads.PARTIAL, 3e11, 0.2, None), ["MFU"], "known, but no share given")

    def test_timed_steps_are_found_by_the_clock(self):
        report = self.report()
        self.assertEqual(workloads.timed_steps(report, self.FIGURES), (4, 13))
        late = {**self.FIGURES, "begin_unix_ns": 101_600_000, "end_unix_ns": 108_400_000}
        self.assertEqual(workloads.timed_steps(report, late), (6, 11))
        self.assertIsNone(workloads.timed_steps(report, {**self.FIGURES, "begin_unix_ns": 200_000_000, "end_unix_ns": 300_000_000}))
        report["steps"][0]["source"] = "whole window"
        self.assertIsNone(workloads.timed_steps(report, self.FIGURES))


@unittest.skipUnless(importlib.util.find_spec("torch"), "needs PyTorch")
class Sources(unittest.TestCase):
    def test_all_of_them_are_all_that_the_library_has(self):
        header = (pathlib.Path(__file__).parents[2] / "injector" / "base" / "sources.h").read_text()
        values = [int(value) for value in re.findall(r"^  k\w+ = (\d+),", header, re.MULTILINE)]
        self.assertGreater(len(values), 5)
        self.assertEqual(switch_sources.SETTINGS["all"], sum(values))


class Launches(unittest.TestCase):
    def launches(self, kernels, calls):
        """`kernels`: (correlation, graph node); `calls`: their correlation ids."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.db"
            with contextlib.closing(sqlite3.connect(path)) as database, database:
                database.executescript("CREATE TABLE meta (key, value); INSERT INTO meta VALUES ('base_ns', 0);"
                                       "CREATE TABLE kernel (correlation, graph_node); CREATE TABLE api (correlation)")
                database.executemany("INSERT INTO kernel VALUES (?, ?)", kernels)
                database.executemany("INSERT INTO api VALUES (?)", [(call,) for call in calls])
            recording = profiler.Recording(path)
            with contextlib.closing(recording.db):
                return recording.launches()

    def test_each_kernel_has_one_of_its_own(self):
        self.assertEqual(self.launches([(1, None), (2, None), (3, 7), (3, 8)], [1, 2, 3]), (2, 0))
        self.assertEqual(self.launches([(1, None), (2, None)], [1]), (2, 1), "none")
        self.assertEqual(self.launches([(1, None), (2, None)], [1, 2, 2]), (2, 1), "two")
        self.assertEqual(self.launches([(1, None), (1, None)], [1]), (2, 1), "that of another kernel")


class RecordingCost(unittest.TestCase):
    PACE = [1.0, 1.6, 1.5, 0.9, 1.1, 1.0, 1.6, 1.2]  # of the machine, by round

    def found(self, **added):
        """Arms of four processes, each 1 % from the next, on a machine that changes its speed."""
        turns = {arm: {number: [{figure: pace * (1 + 0.01 * number + more) for figure in recording_cost.FIGURES} for pace in self.PACE]
                       for number in range(4)} for arm, more in added.items()}
        return recording_cost.compare(turns)

    def test_a_machine_that_changes_its_speed_is_no_difference(self):
        middle, low, high = self.found(plain=0, full=0.1)["step_ms"]["full"]
        self.assertAlmostEqual(middle, 0.1 * statistics.fmean(self.PACE))
        self.assertGreater(low, 0.05)
        self.assertLess(high, 0.2)
        _, low, high = self.found(plain=0, full=0)["step_ms"]["full"]
        self.assertLess(low, 0)
        self.assertGreater(high, 0)

    def outcomes(self, verdict, ab):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            log = pathlib.Path(folder) / "checks.jsonl"
            recording_cost.check(checks.Checks(log, ""), self.found(plain=0, stopped=0.03, full=0.1), {"report0": {"verdict": verdict}, "ab0": {"ab": ab}})
            return [json.loads(line)["outcome"] for line in log.read_text().splitlines()]

    def test_all_have_to_agree(self):
        self.assertEqual(self.outcomes((0.12, 0.09, 0.16), (0.08, 0.06, 0.1)), ["PASS", "PASS"])
        self.assertEqual(self.outcomes((0.4, 0.3, 0.5), (0.08, 0.06, 0.1)), ["FAIL", "PASS"])
        self.assertEqual(self.outcomes((0.12, 0.09, 0.16), (-0.01, -0.03, 0.01)), ["PASS", "FAIL"], "turns have what stays in both halves")

    def test_a_report_of_a_recording_without_turns_has_none(self):
        report = {"verdict": {"recording_ns": "150000", "recording_low_ns": "90000", "recording_high_ns": "210000"}, "recording_costs": [{}]}
        self.assertEqual(recording_cost.told_ms(report), {"verdict": (0.15, 0.09, 0.21)})
        report["recording_costs"][0]["ab"] = {"added_ns": "120000", "added_low_ns": "100000", "added_high_ns": "140000"}
        self.assertEqual(recording_cost.told_ms(report)["ab"], (0.12, 0.1, 0.14))


class Detach(unittest.TestCase):
    A_STEP = 1000

    def outcomes(self, missing=(), mode="detached", left=detach.STEPS // detach.PERIOD - 1, kept=0, alone=0):
        """Of a recording of the last steps of each period with two kernels each, of which some are missing."""
        times = [(number * self.A_STEP, number * self.A_STEP + 900) for number in range(1, detach.STEPS + 1)]
        edges = [(period * detach.PERIOD + 1, (period + 1) * detach.PERIOD - detach.RECORDED) for period in range(detach.STEPS // detach.PERIOD)]
        gaps = [(first * self.A_STEP - 10, (last - first) * self.A_STEP + 920) for first, last in edges]
        kernels = [begin + at for begin, _ in detach.steps_in_windows(times, [(start, start + dur) for start, dur in gaps]) for at in (100, 200)]
        kept_kernels = [start for number, start in enumerate(kernels) if number not in missing]
        counters = {"detached": left, "kept": kept}
        recording = mock.Mock(base=0, rows=lambda sql: gaps, kernels=lambda: {1: [(start, 1, "k") for start in kept_kernels]},
                              count=lambda _, counter: counters.get(counter, 0), launches=lambda: (len(kept_kernels), alone))
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path = pathlib.Path(folder) / "outcomes.jsonl"
            detach.Check.check_recording(checks.Checks(path, "d"), "steps", mode, {"times": times}, recording)
            rows = [json.loads(line) for line in path.read_text().splitlines()]
        return [row["check"] for row in rows if row["outcome"] == "FAIL"]

    def test_windows_have_to_be_whole(self):
        self.assertEqual(self.outcomes(), [])
        self.assertEqual(self.outcomes(missing=[7]), ["detached, windows are whole"])

    def test_cupti_has_to_be_left(self):
        self.assertEqual(self.outcomes(left=3), ["detached, times that CUPTI was left"])
        self.assertEqual(self.outcomes(left=detach.STEPS // detach.PERIOD - 2, kept=1), ["detached, times that CUPTI was left"])
        self.assertEqual(self.outcomes(mode="attached", left=0), [])
        self.assertEqual(self.outcomes(mode="attached", left=0, alone=1), ["attached, each kernel has its launch"])
        self.assertEqual(self.outcomes(alone=1), [], "once CUPTI was left, launches are not told")
        self.assertEqual(self.outcomes(mode="ordered", left=0, alone=1), ["ordered, each kernel has its launch"])
        self.assertEqual(self.outcomes(mode="attached", left=1), ["attached, times that CUPTI was left"])

    def test_orders_begin_and_end_a_window_in_each_period(self):
        with tempfile.TemporaryDirectory() as folder:
            trigger, orders = pathlib.Path(folder) / "run.db.trigger", []
            for number in range(1, 41):
                detach.order(number, trigger)
                if trigger.exists():
                    orders.append((number, trigger.read_text()))
                    trigger.unlink()
            self.assertEqual(orders, [(12, "start\n"), (20, "stop\n"), (32, "start\n"), (40, "stop\n")])
            self.assertEqual(list(pathlib.Path(folder).iterdir()), [])

    def test_steps_between_windows(self):
        times = [(0, number) for number in range(1, 61)]
        self.assertEqual([step % detach.PERIOD for step in detach.unrecorded_steps(times)], 2 * list(range(3, 10)))


class InFlight(unittest.TestCase):
    def test_windows_go_by_launches(self):
        """Of a program whose GPU is 500 behind: recorded from 1000 on for 1000."""
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "run.db"
            with contextlib.closing(sqlite3.connect(path)) as database, database:
                database.executescript(SCHEMA)
                database.execute("INSERT INTO api_name (id, domain, cbid, name, class) VALUES (1, 0, 1, 'cuLaunchKernel', 1)")
                database.executemany("INSERT INTO capture_gap (start, dur, proc, reason) VALUES (?, ?, 1, 'window')", [(0, 1000), (2000, None)])
                database.executemany("INSERT INTO api (start, dur, thread, name, correlation, result) VALUES (?, 5, 1, 1, ?, 0)",
                                     [(1100, 1), (1900, 2), (1950, 3)])
                database.executemany("INSERT INTO kernel (start, dur, stream, shape, correlation) VALUES (?, 10, 1, 1, ?)", [(1600, 1), (2400, 2), (2450, 9)])
            windows = in_flight.Windows(path)
            windows.recording.db.close()
        self.assertEqual((windows.launches, windows.operations, windows.without_operation, windows.without_launch), (3, 3, 1, 1))
        self.assertEqual((windows.in_gaps, windows.behind_ns), (2, [600]))


class Pause(unittest.TestCase):
    def outcomes(self, gap, launches, products=3):
        """Of a recording in which those are left, of two kernels each, behind what was dropped."""
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path, log = pathlib.Path(folder) / "run.db", pathlib.Path(folder) / "checks.jsonl"
            with contextlib.closing(sqlite3.connect(path)) as database, database:
                database.executescript(SCHEMA)
                database.executemany("INSERT INTO capture_gap (start, dur, proc, reason) VALUES (0, ?, 1, 'keep_last')", gap)
                database.executemany("INSERT INTO kernel (start, dur, stream, shape, correlation) VALUES (?, 10, 1, 1, ?)",
                                     [(start, launch) for launch in range(launches) for start in (2000 + launch, 3000 + launch)] + [(100, 99)])
            pause.check_recording(checks.Checks(log, "pause"), 0, path, products)
            return [row["check"] for row in map(json.loads, log.read_text().splitlines()) if row["outcome"] == "FAIL"]

    def test_what_comes_after_it_has_to_be_there(self):
        self.assertEqual(self.outcomes([(1000,)], 3), [])
        self.assertEqual(self.outcomes([(1000,)], 6), [], "two launches a product")
        for left in (0, 2, 5):
            self.assertEqual(self.outcomes([(1000,)], left), ["0: what came after it is there"])
        self.assertEqual(self.outcomes([], 2), ["0: what was before the pause was dropped"])


class Proton(unittest.TestCase):
    SECOND = 1_000_000_000

    def test_counts_of_a_tree(self):
        leaf = {"frame": {"name": "gemm"}, "metrics": {"count": 3, "time (ns)": 9}, "children": []}
        scope = {"frame": {"name": "forward"}, "metrics": {}, "children": [leaf, leaf]}
        self.assertEqual(proton.counts_of([{"frame": {"name": "ROOT"}, "metrics": {"count": 0}, "children": [scope, leaf]},
                                           {"CUDA": {"0": {"arch": "90"}}}], collections.Counter()), {"gemm": 9})

    def outcomes(self, missing, gaps):
        """Of phases of a second each with one kernel a step, of which those are missing that begin in the time `missing`."""
        phases = {phase: (i * self.SECOND, (i + 1) * self.SECOND) for i, (phase, _) in enumerate(proton.PHASES)}
        starts = [phases[phase][0] + step * self.SECOND // steps for phase, steps in proton.PHASES for step in range(steps)]
        kept = [start for start in starts if not missing[0] <= start < missing[1]]
        recording = mock.Mock(base=0, rows=lambda sql: gaps, kernels=lambda: dict(enumerate([(start, 1, "k")] for start in kept)),
                              count=lambda *_: 0)
        plain = {"profiles": {"long": {"k": dict(proton.PHASES)["long"]}}}
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path = pathlib.Path(folder) / "outcomes.jsonl"
            proton.Check.check_recording(checks.Checks(path, "p"), plain, {"phases": phases}, recording)
            rows = [json.loads(line) for line in path.read_text().splitlines()]
        return sorted(row["check"] for row in rows if row["outcome"] == "FAIL")

    def test_what_is_missing_has_to_be_told(self):
        session = (self.SECOND, 2 * self.SECOND)
        self.assertEqual(self.outcomes((0, 0), []), [])
        self.assertEqual(self.outcomes(session, [(self.SECOND, self.SECOND, "proton")]), [])
        self.assertEqual(self.outcomes(session, [(self.SECOND + self.SECOND // 50, self.SECOND, "proton")]), [], "it begins after the phase")
        self.assertEqual(self.outcomes(session, [(self.SECOND + self.SECOND // 5, self.SECOND, "proton")]), ["phase long"])
        self.assertEqual(self.outcomes(session, []), ["phase long"])
        self.assertEqual(self.outcomes(session, [(self.SECOND, self.SECOND, "max_size")]), ["reasons"])
        self.assertEqual(self.outcomes((self.SECOND, 5 * self.SECOND), [(self.SECOND, None, "proton")]),
                         ["resumed, after", "resumed, between"])
        self.assertEqual(self.outcomes((self.SECOND, 3 * self.SECOND), [(self.SECOND, self.SECOND, "proton")]),
                         ["phase between", "resumed, between"])


@unittest.skipIf(importlib.util.find_spec("torch") is None, "this Python has no PyTorch")
class ImageFiles(unittest.TestCase):
    def test_decoded_is_what_was_encoded(self):
        import torch
        import images
        pixels = torch.randint(0, 256, (37, 53, 3), dtype=torch.uint8)
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder) / "image.png"
            images.write_png(path, pixels)
            self.assertTrue(torch.equal(images.read_png(path), pixels))


class KernelEfficiency(unittest.TestCase):
    def outcomes(self, judge, *arguments):
        with tempfile.TemporaryDirectory() as folder, contextlib.redirect_stdout(io.StringIO()):
            path = pathlib.Path(folder) / "checks"
            judge(checks.Checks(path, "kernels"), *arguments)
            return [outcome for line in path.read_text().splitlines() if (outcome := json.loads(line)["outcome"]) != "NOTE"]

    @staticmethod
    def kernel(**work):
        return {"name": "nvjet", "kernel_class": "gemm", "share": 1.0, "total_ns": "1000", "shape": {},
                "work": {"flops": 1e12, "kernel_ns": "1000", "tflops_per_s": 700.0, "bound": "compute", **work}}

    def test_what_was_planted_has_to_be_shown(self):
        run = {"top_kernels": [self.kernel()], "kernel_findings": [{"name": "fp32_products", "share": 0.5}]}
        self.assertEqual(self.outcomes(kernels.judge_names, "fp32", run), ["PASS"])
        self.assertEqual(self.outcomes(kernels.judge_names, "math", run), ["FAIL"])
        self.assertEqual(self.outcomes(kernels.judge_names, "clean", run), ["FAIL"])
        self.assertEqual(self.outcomes(kernels.judge_names, "clean", {**run, "kernel_findings": []}), ["PASS"])

    def test_work_of_kernels_is_that_of_the_calls(self):
        run = {"top_kernels": [self.kernel()], "matrix_products": {"flops": 1e12}}
        self.assertEqual(self.outcomes(kernels.judge_work, "clean", run), ["PASS"] * 3)
        more = {**run, "matrix_products": {"flops": 1.1e12}}
        self.assertEqual(self.outcomes(kernels.judge_work, "clean", more), ["FAIL", "PASS", "PASS"])
        half = {**run, "top_kernels": [self.kernel(kernel_ns="500", peak_reason="120.0 % of the peak is impossible")]}
        self.assertEqual(self.outcomes(kernels.judge_work, "clean", half), ["PASS", "FAIL", "FAIL"])

    def test_rates_and_occupancy_are_compared(self):
        run = {"top_kernels": [self.kernel()]}
        self.assertEqual(self.outcomes(kernels.judge_rate, {"tflops_per_s": 690.0}, run), ["PASS", "PASS"])
        self.assertEqual(self.outcomes(kernels.judge_rate, {"tflops_per_s": 600.0}, run), ["FAIL", "PASS"])
        self.assertEqual(self.outcomes(kernels.judge_rate, {"tflops_per_s": 600.0}, {"top_kernels": []}), ["FAIL"])
        told = [{"name": "a", "shape": {"blocks_per_sm": 4}}, {"name": "b", "shape": {}}]
        self.assertEqual(self.outcomes(kernels.judge_occupancy, {"a": 4, "b": 2, "c": 1}, told), ["PASS", "FAIL", "FAIL"])


if __name__ == "__main__":
    unittest.main()
