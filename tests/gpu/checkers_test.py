#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The checkers of this folder on made-up recordings: they must pass what agrees and fail what does not. Needs no GPU."""

import contextlib
import io
import json
import pathlib
import sqlite3
import sys
import tempfile
import unittest
from unittest import mock

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import check_nccl_plugin
import check_recording
import checks
import compare_with_profiler
import flops
import matrix_products
import overhead
import python_side
import run_db

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
        db.execute("INSERT INTO stream VALUES (1, 1, 0, 1, 7)")
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
        with mock.patch.dict(overhead.os.environ, {"TRACEINJECT_KINDS": "left over"}), mock.patch.object(overhead.subprocess, "Popen") as popen:
            overhead.ForkServer(options)
            overhead.ForkServer(options, "l.so")
        untraced, traced = (call.kwargs["env"] for call in popen.call_args_list)
        for environment in (untraced, traced):
            self.assertNotIn("TRACEINJECT_KINDS", environment)
        self.assertNotIn("LD_PRELOAD", untraced)
        self.assertEqual(traced["LD_PRELOAD"], "l.so")
        self.assertEqual(overhead.environment("kinds:kernel,api", "x.db"), {"TRACEINJECT_OUTPUT": "x.db", "TRACEINJECT_KINDS": "kernel,api"})
        self.assertEqual(overhead.environment("default", "x.db"), {"TRACEINJECT_OUTPUT": "x.db"})

    def outcomes_of_python_side(self, damage=""):
        """One configuration of 10 waits of 1 ms and 9 steps, recorded exactly, then damaged by some SQL."""
        db = sqlite3.connect(":memory:")
        db.executescript(SCHEMA + VIEWS)
        db.executescript("INSERT INTO meta VALUES ('base_ns', 0); INSERT INTO thread VALUES (1, 1, 7, NULL);"
                         "INSERT INTO data_loader VALUES (1, 1, 4, 1, 0, 2, 8);")
        db.executemany("INSERT INTO data_wait VALUES (?, 1000000, 1, 1, ?, 8)", [(5_000_000 * i, i) for i in range(10)])
        db.executemany("INSERT INTO step_mark VALUES (?, 1, 1)", [(5_000_000 * i + 4_000_000,) for i in range(9)])
        db.executescript(damage)
        check = python_side.Check("library.so", self.folder)
        with contextlib.redirect_stdout(io.StringIO()):
            check.check_configuration(db, {"workers": 4, "context": "fork", "begin": 0, "end": 60_000_000,
                                           "waits": [1_000_000] * 10, "steps": 9})
            code = check.finish()
        return [outcome["outcome"] for outcome in check.outcomes], code

    def test_python_side_agreement_passes(self):
        self.assertEqual(self.outcomes_of_python_side(), (["PASS"] * 5, 0))
        self.assertEqual(self.outcomes_of_python_side("UPDATE data_wait SET dur = 985000"), (["PASS"] * 5, 0))

    def test_python_side_differences_fail(self):
        # calls and workers, all waits, all but the first, samples, step marks
        for damage, expected in (("UPDATE data_wait SET dur = 970000", ["PASS", "FAIL", "FAIL", "PASS", "PASS"]),
                                 ("UPDATE data_wait SET dur = 2000000 WHERE batch = 0", ["PASS", "FAIL", "PASS", "PASS", "PASS"]),
                                 ("DELETE FROM data_wait WHERE batch = 9", ["FAIL", "FAIL", "FAIL", "PASS", "PASS"]),
                                 ("UPDATE data_loader SET workers = 3", ["FAIL", "PASS", "PASS", "PASS", "PASS"]),
                                 ("UPDATE data_wait SET samples = 3 WHERE batch = 2", ["PASS", "PASS", "PASS", "FAIL", "PASS"]),
                                 ("INSERT INTO step_mark VALUES (5, 1, 1)", ["PASS", "PASS", "PASS", "PASS", "FAIL"])):
            self.assertEqual(self.outcomes_of_python_side(damage), (expected, 1), damage)

    def outcomes_of_nccl_plugin(self, damage="", algorithm="RING", protocol="LL", linked=4):
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
            check_nccl_plugin.check(checks.Checks(outcomes, "(a)"), run_db.RunDb(path), issued, report, algorithm, protocol)
        lines = [json.loads(line) for line in outcomes.read_text().splitlines()]
        return {line["check"] for line in lines if line["outcome"] == "FAIL"}, len(lines)

    def test_nccl_plugin_agreement_passes(self):
        self.assertEqual(self.outcomes_of_nccl_plugin(), (set(), 10))
        self.assertEqual(self.outcomes_of_nccl_plugin(algorithm=None, protocol=None), (set(), 10))

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
                ("INSERT INTO health VALUES (1, 'nccl_plugin', 'unlinked', 1, NULL)", {"nothing lost"}),
                ("UPDATE health SET value = 3 WHERE counter = 'stored'", {"nothing lost"})):
            self.assertEqual(self.outcomes_of_nccl_plugin(damage)[0], expected, damage)
        self.assertEqual(self.outcomes_of_nccl_plugin(linked=3)[0], {"analyze joins the kernels to calls"})


class MatrixProducts(unittest.TestCase):
    """Two steps with two products each, of which one has no kernel, and one product outside of the steps."""

    def recording(self, folder):
        path = pathlib.Path(folder) / "run.db"
        database = sqlite3.connect(path)
        database.executescript(SCHEMA + VIEWS)
        database.execute("INSERT INTO thread VALUES (1, 1, 10, NULL)")
        database.execute("INSERT INTO nvtx_domain VALUES (1, 1, '')")
        database.executemany("INSERT INTO string VALUES (?, ?)", [(1, "step 0"), (2, "step 1"), (3, "cublasGemmEx")])
        database.execute("INSERT INTO gemm_shape VALUES (1, 3, 10, 20, 30, 1, 0, 0, 14, 14, 14, 68)")
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


if __name__ == "__main__":
    unittest.main()
