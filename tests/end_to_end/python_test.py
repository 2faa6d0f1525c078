# SPDX-License-Identifier: Apache-2.0
"""The library's side in the program's Python, on a stand-in for PyTorch: what it marks is what the program measures itself."""

import ast
import collections
import contextlib
import fnmatch
import json
import os
import pathlib
import shutil
import subprocess
import sys
import unittest

import harness

HERE = pathlib.Path(__file__).resolve().parent
STAND_IN_TORCH_CPU = harness.BUILD / "stand_in" / "libtorch_cpu.so"
Wait = collections.namedtuple("Wait", "start dur tid batch workers pin_memory persistent prefetch batch_size")
WAITS = "SELECT start_ns, dur_ns, tid, batch, workers, pin_memory, persistent_workers, prefetch_factor, batch_size FROM data_waits ORDER BY start_ns"


SEES_BUILTINS = unittest.skipIf(sys.version_info < (3, 9), "CPython 3.8 does not tell f(*args) of builtins")


class Program(harness.TestCase):
    def run_program(self, *flags, preload=True, env=(), command=None):
        environment = {**harness.STAND_IN, "TRACEINJECT_FLUSH_MS": "100", **dict(env)}
        return self.finish(self.start(command=command or [sys.executable, str(HERE / "train_python.py"), *flags], preload=preload,
                                      env=environment))

    def record(self, *flags, env=()):
        """Runs the program and returns what it measured, and its recording. Nothing is lost, nothing is printed by us."""
        ended = self.run_program(*flags, env=env)
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assertEqual(self.files(), ["run.db"], "workers and children leave nothing behind")
        recording = self.open()
        self.assert_nothing_lost(recording)
        for source in ("data_wait", "step_mark", "host_span"):
            self.assertEqual(recording.count(source, "seen"), recording.count(source, "stored"), source)
            self.assertEqual(recording.count(source, "stored"), recording.rows(f"SELECT count(*) FROM {source}")[0][0])
        self.assertEqual(recording.meta["closed"], 1)
        return json.loads(ended.stdout), recording

    def waits(self, recording):
        return [Wait(*row) for row in recording.rows(WAITS)]

    def assert_waits(self, recorded, measured):
        """One for one, and the sum within three per cent. Two waits may have met another process on a busy machine."""
        self.assertEqual(len(recorded), len(measured))
        for wait, (start, ns) in zip(recorded, measured):
            self.assertGreaterEqual(wait.start, start)
            self.assertLessEqual(wait.dur, ns)
        pairs = sorted(((ns, wait.dur) for wait, (_, ns) in zip(recorded, measured)), key=lambda pair: pair[0] - pair[1])[:-2]
        self.assertGreater(sum(dur for _, dur in pairs), 0.97 * sum(ns for ns, _ in pairs))


    def run_text(self, text, *arguments, env=()):
        return self.run_program(command=[sys.executable, "-c", text, *arguments], env=env)

    def assert_text(self, text, printed, env=()):
        ended = self.run_text(text, env=env)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, printed, ""))


class PythonSide(Program):
    def test_waits_and_steps_are_what_the_program_measures(self):
        for workers, context in ((0, "fork"), (1, "fork"), (4, "fork"), (1, "spawn"), (4, "spawn")):
            with self.subTest(workers=workers, context=context):
                # Enough per item that workers cannot keep ahead: otherwise waits are too short to compare.
                measured, recording = self.record("--workers", str(workers), "--context", context, "--item-us",
                                                  str(1500 * max(1, workers)))
                waits = self.waits(recording)
                self.assert_waits(waits, measured["waits"])
                self.assertEqual([wait.batch for wait in waits], [*range(20), None] * 2)
                self.assertEqual({wait[4:] for wait in waits}, {(workers, 1, 0, 2 if workers else None, 4)})
                self.assertEqual(recording.rows("SELECT count(*), min(optimizer), max(optimizer) FROM step_mark"),
                                 [(measured["steps"], 1, 1)])
                self.assertEqual(recording.count("python", "installed"), 5)
                self.assertEqual(recording.rows("SELECT count(DISTINCT loader) FROM data_wait"), [(1,)])
                recording.close()
                (self.folder / "run.db").unlink()

    def test_steps_follow_their_waits(self):
        measured, recording = self.record("--passes", "1")
        waits = [wait for wait in self.waits(recording) if wait.batch is not None]
        steps = [time for (time,) in recording.rows("SELECT time_ns FROM step_marks ORDER BY time_ns")]
        self.assertEqual(len(steps), measured["batches"])
        for wait, step, following in zip(waits, steps, waits[1:]):
            self.assertLess(wait.start + wait.dur, step)
            self.assertLess(step, following.start)

    def test_optimizers_are_told_apart(self):
        measured, recording = self.record("--optimizers", "3", "--items", "40")
        self.assertEqual(recording.rows("SELECT optimizer, count(*) FROM step_mark GROUP BY optimizer ORDER BY optimizer"),
                         [(number, measured["batches"]) for number in (1, 2, 3)])

    def test_torch_imported_after_cuda_started(self):
        measured, recording = self.record("--gpu-first")
        self.assert_waits(self.waits(recording), measured["waits"])

    def test_classes_of_optimizers_that_come_later(self):
        measured, recording = self.record("--scene", "later_class")
        self.assertEqual(recording.rows("SELECT count(*), count(DISTINCT optimizer) FROM step_mark"), [(measured["steps"], 2)])
        self.assertEqual(len(self.waits(recording)), len(measured["waits"]))

    def test_more_optimizers_than_are_marked(self):
        _, recording = self.record("--scene", "many_optimizers")
        self.assertEqual(recording.rows("SELECT count(*), count(DISTINCT optimizer) FROM step_mark"), [(16 + 5, 16 + 5)])
        self.assertEqual(recording.count("step_mark", "left_out"), 4)

    def test_checkpoints(self):
        measured, recording = self.record("--scene", "checkpoint")
        spans = [dur for (dur,) in recording.rows("SELECT dur_ns FROM host_spans WHERE kind = 'checkpoint' ORDER BY start_ns")]
        self.assertEqual(len(spans), 3, "one of them inside another; a file that cannot be opened is none")
        self.assertGreater(spans[0], measured["seconds"] * 1e9)
        self.assertLess(spans[0], measured["seconds"] * 1e9 * 2)
        self.assertGreater(spans[1], 0.01e9)
        self.assertEqual(recording.rows("SELECT DISTINCT detail FROM host_span WHERE kind = 1"), [(None,)])

    def test_distributed_checkpoints(self):
        measured, recording = self.record("--scene", "distributed_checkpoint")
        self.assertTrue(measured["same"])
        main = recording.rows("SELECT min(tid) FROM thread")[0][0]
        spans = recording.rows(f"SELECT dur_ns FROM host_spans WHERE kind = 'checkpoint' AND tid = {main} ORDER BY start_ns")
        self.assertEqual(len(spans), 2, "the save inside a save is part of it")
        self.assertGreaterEqual(spans[0][0], 0.02e9)
        self.assertGreaterEqual(spans[1][0], 0.01e9, "the part that blocks")
        # What the thread of async_save writes keeps nobody waiting; its torch.save is one.
        self.assertEqual(recording.rows(f"SELECT count(*) FROM host_spans WHERE kind = 'checkpoint' AND tid <> {main}"), [(1,)])

    SHAPES = ("SELECT library, batch, heads, kv_heads, query_length, key_length, head_size, value_head_size, type, causal, direction, "
              "gradient, dur_ns IS NULL FROM attentions ORDER BY start_ns")

    MARKED = [
        (1, 2, 8, 8, 128, 128, 64, 64, 14, 0, "forward", 1, 0),
        (1, 2, 8, 8, 128, 128, 64, 64, 14, 1, "forward", 1, 0),
        (1, 2, 8, 2, 128, 256, 63, 32, 14, 1, "forward", 1, 0),
        (1, 1, 4, 4, 16, 16, 8, 8, 2, 0, "forward", 1, 0),
        (1, 3, 8, 8, 128, 128, 64, 64, 0, 0, "forward", 1, 0),
        (1, 5, 8, 8, 128, 128, 64, 64, 14, 0, "forward", 0, 0),
        (1, None, 8, 8, 128, 128, 64, 64, 14, 0, "forward", 0, 0),
        (1, 2, 8, 8, 128, 128, 64, 64, 14, 0, "forward", 0, 0),
        (1, 7, 8, 8, 128, 128, 64, 64, 14, 0, "forward", 0, 0)]

    @SEES_BUILTINS
    def test_attention(self):
        measured, recording = self.record("--scene", "attention")
        self.assertEqual(recording.rows(self.SHAPES), 2 * self.MARKED)
        first, again = measured["wrapped_asked"]
        self.assertGreater(first, 4)
        self.assertEqual(again, 5, "in Python only those that are no plain case: no flag, no plain tensor, many dimensions, a mode, a wrapper")
        self.assertEqual(recording.rows("SELECT flops FROM attentions ORDER BY start_ns LIMIT 1"), [(4 * 2 * 8 * 128 * 128 * 64,)])
        self.assertEqual(recording.rows("SELECT count(*) FROM attention_shape"), [(8,)])
        forward = recording.rows("SELECT start_ns, dur_ns FROM attentions WHERE direction = 'forward' ORDER BY start_ns")
        marked, calls = len(forward) // 2, measured["calls"]  # those that are not marked come last
        for (start, dur), (begin, end) in zip(forward, calls[:marked] + calls[measured["first"]:]):
            self.assertGreaterEqual(start, begin)
            self.assertLessEqual(start + dur, end)
            self.assertGreaterEqual(dur, 1_000_000)
        self.assertEqual(recording.count("attention", "seen"), recording.count("attention", "stored"))

    @SEES_BUILTINS
    def test_attention_asks_the_library_of_torch(self):
        """What torch knows of a thread without Python's help is not asked of Python, except for the address where functorch is in use."""
        measured, recording = self.record("--scene", "attention", env={"STAND_IN_TORCH_CPU": str(STAND_IN_TORCH_CPU)})
        self.assertEqual(recording.rows(self.SHAPES), 2 * self.MARKED)
        self.assertEqual(measured["addresses_asked"], 2)
        self.assertEqual(measured["asked_in_mode"], measured["asked_by_torch"])

    @SEES_BUILTINS
    def test_attention_by_the_table_for_other_libraries(self):
        measured, recording = self.record("--scene", "attention", env={"STAND_IN_TORCH_CPU": str(STAND_IN_TORCH_CPU), "STAND_IN_DLPACK": "1"})
        self.assertEqual(recording.rows(self.SHAPES), 2 * self.MARKED)
        # Four a call that is marked in C. Of the others: two with six dimensions, of which the first ends it, and one each that is not on
        # the GPU, has no memory, or is nested.
        self.assertEqual(measured["views"], 2 * (5 * 4 + 2 + 3))
        self.assertEqual(measured["addresses_asked"], 0)
        self.assertEqual(measured["asked_in_mode"], measured["asked_by_torch"])

    def test_attention_looks_as_before(self):
        measured, _ = self.record("--scene", "attention")
        self.assertEqual(measured["error"], "sizes of the heads differ")
        self.assertEqual(measured["names"], ["scaled_dot_product_attention", "torch._C._nn", "Docs of attention."])
        self.assertTrue(measured["pickled"])
        self.assertEqual(measured["builtin"], "aten::scaled_dot_product_attention", "for torch.jit")
        self.assertEqual(measured["asked_in_mode"], measured["asked_by_torch"], "a torch function mode sees nothing of ours")

    def test_flash_attention(self):
        measured, recording = self.record("--scene", "flash_attention")
        self.assertEqual(measured["outcomes"], ["out", "gradients"] * 4)
        shapes = ((2, 8, 2, 128, 256, 64, 64, 14, 1), (3, 4, 4, 32, 32, 16, 16, 14, 0), (4, 8, 2, 32, 64, 16, 16, 14, 0),
                  (None, 8, 8, None, None, 64, 64, 14, 0))
        self.assertEqual(recording.rows(self.SHAPES), [(2, *shape, direction, None, 0) for direction in ("forward", "backward")
                                                       for shape in shapes])
        longest = recording.rows("SELECT max(dur_ns) FROM attentions WHERE direction = 'backward'")[0][0]
        self.assertGreaterEqual(longest, 2_000_000)
        self.assertEqual(recording.count("python", "installed"), 6)

    def test_samples_of_batches(self):
        _, recording = self.record("--scene", "samples")
        batches = [4, 4, 2, None]  # three batches and the end of the pass
        self.assertEqual([samples for (samples,) in recording.rows("SELECT samples FROM data_waits ORDER BY start_ns")],
                         2 * batches + [None] * 4 + [None] * 4, "images that are not stacked tell no size, nor do texts")

    def test_containers_of_the_program_are_not_asked(self):
        measured, recording = self.record("--scene", "own_containers")
        self.assertEqual(measured["asked"], [])
        self.assertEqual([samples for (samples,) in recording.rows("SELECT samples FROM data_waits ORDER BY start_ns")],
                         [4, None] * 3 + [None, None])

    def test_samplers_of_the_program_are_not_asked(self):
        measured, recording = self.record("--scene", "own_samplers")
        self.assertEqual(measured["asked"], [])
        self.assertEqual(recording.rows("SELECT samples, batch_size FROM data_waits ORDER BY start_ns"),
                         [(samples, size) for size in (4, None, None) for samples in (4, 4, 2, None)])

    def test_a_smaller_batch_is_believed_after_full_ones_only(self):
        _, recording = self.record("--scene", "smaller_batches")
        self.assertEqual([samples for (samples,) in recording.rows("SELECT samples FROM data_waits ORDER BY start_ns")],
                         [4, 4, 3, None, 4, None] + [None, 4, None, None, 4, None])

    def test_allocator(self):
        measured, recording = self.record("--scene", "allocator")
        self.assertEqual(measured["before"], 0, "nothing is asked before torch uses the GPU")
        self.assertEqual(recording.rows("SELECT DISTINCT device, allocated_gb, reserved_gb, active_gb, peak_allocated_gb, "
                                        "peak_reserved_gb, retries, ooms FROM allocator_samples"),
                         [(0, *(gib * 2**30 / 1e9 for gib in (1, 4, 2, 3, 5)), 2, 1)])

    def test_garbage_collections(self):
        measured, recording = self.record("--scene", "collect")
        full = [dur for (dur,) in recording.rows("SELECT dur_ns FROM host_spans WHERE generation = 2 ORDER BY dur_ns DESC")]
        self.assertGreater(len(full), 0)
        self.assertLessEqual(full[0], measured["took"])
        self.assertGreater(full[0], 0.7 * measured["took"])
        self.assertEqual(recording.rows("SELECT count(*) FROM host_spans WHERE generation = 1"), [(1,)])
        young = recording.rows("SELECT min(dur_ns) FROM host_spans WHERE generation = 0")[0][0]
        self.assertTrue(young is None or young >= 100_000)

    def test_errors_of_the_loader_reach_the_program(self):
        for workers in ("0", "1"):
            with self.subTest(workers=workers):
                measured, recording = self.record("--scene", "error", "--workers", workers)
                self.assertEqual(measured, {"seen": [4, 4], "error": "item 9 cannot be read", "type": "ValueError"})
                self.assertEqual([wait.batch for wait in self.waits(recording)], [0, 1, None])
                recording.close()
                (self.folder / "run.db").unlink()

    def test_forked_child_that_goes_on_training(self):
        measured, recording = self.record("--scene", "fork")
        self.assertEqual(measured["child"], 7)
        self.assert_waits(self.waits(recording), measured["waits"])
        self.assertEqual(recording.rows("SELECT count(*) FROM step_mark"), [(measured["steps"],)])
        self.assertEqual(recording.rows("SELECT count(*) FROM host_span WHERE kind = 1"), [(0,)])

    def test_loaders_on_two_threads(self):
        measured, recording = self.record("--scene", "threads")
        for index, (tid, ns, count) in enumerate(measured["threads"]):
            waits = [wait for wait in self.waits(recording) if wait.tid == tid]
            self.assertEqual(len(waits), count)
            self.assertEqual({wait.batch_size for wait in waits}, {4 + index})
            # The other thread may hold the interpreter when a wait of this one ends.
            self.assertGreater(sum(wait.dur for wait in waits), 0.9 * ns)

    def test_switched_off(self):
        _, recording = self.record("--never-hooked", env={"TRACEINJECT_PYTHON": "0"})
        for table in ("data_wait", "step_mark", "host_span", "data_loader"):
            self.assertEqual(recording.rows(f"SELECT count(*) FROM {table}"), [(0,)], table)
        self.assertNotIn(("python", "installed"), recording.health())

    def test_what_is_missing_is_left_alone_and_counted(self):
        # Each part by itself; the others go on.
        for target, table in (("torch.utils.data.dataloader:_BaseDataLoaderIter", "data_wait"), ("torch._C:PyTorchFileWriter", "host_span")):
            with self.subTest(target=target):
                if table == "data_wait":
                    ended = self.run_program("--never-hooked", "--scene", "checkpoint", "--break", target)
                else:
                    ended = self.run_program("--never-hooked", "--break", target)
                self.assertEqual((ended.code, ended.stderr), (0, ""))
                recording = self.open()
                self.assertEqual((recording.count("python", "installed"), recording.count("python", "failed")), (4, 1))
                self.assertEqual(recording.rows(f"SELECT count(*) FROM {'data_loader' if table == 'data_wait' else 'step_mark'}")[0][0] > 0,
                                 table != "data_wait")
                recording.close()
                (self.folder / "run.db").unlink()

    def test_optimizer_module_without_optimizers(self):
        ended = self.run_program("--never-hooked", "--scene", "checkpoint", "--break", "torch.optim.optimizer:Optimizer")
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        self.assertEqual(self.open().count("python", "failed"), 1)

    def test_same_output_with_and_without(self):
        for flags in (("--scene", "error"), ("--scene", "error", "--workers", "1")):
            plain = self.run_program(*flags, "--never-hooked", preload=False)
            loaded = self.run_program(*flags)
            self.assertEqual((loaded.code, loaded.stdout, loaded.stderr), (plain.code, plain.stdout, plain.stderr))


def touched():
    """Lines of the table in hooks.py: (pattern of names, how, why it cannot be told, the test that says so)."""
    tree = ast.parse((harness.ROOT / "injector" / "python" / "hooks.py").read_text())
    values = {}
    for statement in tree.body:
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            with contextlib.suppress(NameError):  # what is no constant
                values[statement.targets[0].id] = eval(compile(ast.Expression(statement.value), "hooks.py", "eval"), {}, dict(values))
    return values["TOUCHED"]


class Unchanged(Program):
    """No object of the program is replaced, and nothing tells that it is observed."""

    def test_modules_and_classes_hold_what_they_held(self):
        plain = json.loads(self.run_program("--scene", "unchanged", "--never-hooked", preload=False).stdout)
        measured, _ = self.record("--scene", "unchanged")
        self.assertEqual(measured["changed"], plain["changed"])
        self.assertEqual(measured["traced"], plain["traced"], "the program's tracers do not see us")
        self.assertEqual(plain["watched"], [])

    # Scenes that together touch all that can be, the modules that they import, and their environment.
    SCENES = (("unchanged", (), {}), ("unchanged", (), {"STAND_IN_TORCH_CPU": str(STAND_IN_TORCH_CPU), "STAND_IN_DLPACK": "1"}),
              ("distributed_checkpoint", ("torch.distributed.checkpoint",), {}), ("flash_attention", ("flash_attn",), {}),
              ("proton", ("triton.profiler",), {}))

    def test_what_is_touched_is_in_the_table(self):
        """By name, and each line of it by some program; nothing else of modules, classes and objects is different with us."""
        table, told = touched(), set()
        for scene, modules, env in self.SCENES:
            with self.subTest(scene=scene, env=env):
                flags = ["--scene", scene, "--tell-touched", *(f"--import={module}" for module in modules)]
                env = self.proton() if scene == "proton" else env
                plain, ours = (self.run_program(*flags, *more, preload=preload, env=env)
                               for preload, more in ((False, ["--never-hooked"]), (True, [])))
                self.assertEqual(ours.code, 0, ours.stderr)
                plain, ours = json.loads(plain.stderr), json.loads(ours.stderr)
                self.assertEqual(ours["changed"], plain["changed"])
                found = {line: self.is_touched(line, ours, plain, env) for line in table}
                for name in ours["watched"]:
                    self.assertTrue(any(fnmatch.fnmatchcase(name, line[0]) for line in table if line[1] == "vectorcall"), name)
                for kind in ours["referenced"].keys() - plain["referenced"].keys():
                    bases = ours["referenced"][kind]
                    self.assertTrue(any(line[0] in bases for line in table if line[1] == "weak reference"), kind)
                recording = self.open()
                detail = recording.health()["python", "installed"][1]
                for line, is_touched in found.items():
                    if is_touched or line[1] != "weak reference":  # which is told of where objects may get one
                        self.assertEqual(f"{line[0]} ({line[1]})" in detail, is_touched, line[0])
                    told |= {line} if is_touched else set()
                recording.close()
                (self.folder / "run.db").unlink()
        self.assertEqual(told, set(table))

    def is_touched(self, line, ours, plain, env):
        name, how = line[:2]
        if how == "vectorcall":
            return any(fnmatch.fnmatchcase(watched, name) for watched in ours["watched"])
        if how == "weak reference":
            return any(name in ours["referenced"][kind] for kind in ours["referenced"].keys() - plain["referenced"].keys())
        if how == "skip_code":
            return ours["skipped"] > plain["skipped"]
        return "STAND_IN_DLPACK" in env if how == "DLPack view" else True

    def proton(self):
        """With a copy of CUPTI of its own."""
        own = self.temporary / "own"
        own.mkdir()
        shutil.copy(harness.FAKE_GPU / "cuda13" / "libcupti.so.13", own / "libcupti.so")
        return {"TRITON_CUPTI_LIB_PATH": str(own), "FAKE_GPU_PROFILE": str(self.folder / "truth.profile")}

    def test_each_line_of_the_table_names_a_test(self):
        for line in touched():
            module, name, method = line[3].split(".")
            tree = ast.parse((HERE / f"{module}_test.py").read_text())
            methods = [part.name for statement in tree.body if isinstance(statement, ast.ClassDef) and statement.name == name
                       for part in statement.body if isinstance(part, ast.FunctionDef)]
            self.assertIn(method, methods, line[0])

    def test_no_frame_comes_in_between(self):
        plain = json.loads(self.run_program("--scene", "frames", "--never-hooked", preload=False).stdout)
        measured, _ = self.record("--scene", "frames")
        self.assertEqual(measured, plain)
        self.assertIn("__next__", measured["loader"])

    def test_subclasses_are_told_the_function_that_the_program_knows(self):
        measured, recording = self.record("--scene", "identity")
        self.assertEqual(measured["told"], [True, True])
        if sys.version_info >= (3, 9):
            self.assertEqual(recording.rows("SELECT count(*) FROM attention"), [(2,)], "the call inside is the one that runs")

    def test_modules_are_not_loaded_before_the_program_uses_them(self):
        (self.temporary / "flash_attn_interface.py").write_text("print('loaded')")
        env = {"PYTHONPATH": f"{self.temporary}:{harness.STAND_IN['PYTHONPATH']}"}
        self.assert_text(LAZY, "_LazyModule\n", env=env)

    def test_the_programs_observers_of_collections_stay_last(self):
        self.assert_text(OWN_CALLBACK, "True\nTrue\n")

    def test_the_programs_import_is_not_called(self):
        self.assert_text(OWN_IMPORT, "[]\n")

    def test_tracers_that_begin_and_end_amid_a_call(self):
        plain = self.run_program(command=[sys.executable, "-c", TRACED], preload=False)
        self.assert_text(TRACED, plain.stdout)
        recording = self.open()
        # Before 3.11 nothing can be kept from a tracer: what it would see of us is left out, and counted.
        left_out = 0 if sys.version_info >= (3, 11) else recording.count("python", "unobserved")
        self.assertEqual(recording.rows("SELECT count(*) FROM step_mark"), [(8 if sys.version_info >= (3, 11) else 2,)])
        self.assertEqual(left_out > 0, sys.version_info < (3, 11))

    @unittest.skipIf(sys.version_info < (3, 12), "there is no sys.monitoring")
    def test_what_monitoring_tells_beside(self):
        """A function of Python that is called through us is taken for one of C; nothing of ours is told of."""
        plain, ours = (json.loads(self.run_program(command=[sys.executable, "-c", MONITORED], preload=preload).stdout)
                       for preload in (False, True))
        added = [event for event in ours if event[0] in ("C_RETURN", "C_RAISE")]
        self.assertGreater(len(added), len([event for event in plain if event[0] in ("C_RETURN", "C_RAISE")]))
        python_only = [[event for event in events if event[0] not in ("C_RETURN", "C_RAISE")] for events in (plain, ours)]
        self.assertEqual(*python_only)

    def test_dictionaries_of_arguments(self):
        """All are as without us, but for f(*args), which cannot be told from f(*args, **{}): to do without one would fail there."""
        plain = self.run_program(command=[sys.executable, "-c", DICTIONARIES], preload=False)
        self.assertEqual(plain.stdout, "[True, True, True, False, True, False]\n", plain.stderr)
        self.assert_text(DICTIONARIES, f"[True, True, True, False, True, {sys.version_info >= (3, 9)}]\n")  # 3.8: it is not seen

    def test_recursion_goes_as_deep_as_before(self):
        plain = self.run_program(command=[sys.executable, "-c", DEEP], preload=False)
        self.assertEqual(plain.code, 0, plain.stderr)
        self.assert_text(DEEP, plain.stdout)

    def test_torch_compile_skips_our_code(self):
        measured, _ = self.record("--scene", "compiler")
        self.assertEqual(measured["files"], ["utils/<traceinject>"])
        for name in ("after_next", "before_step", "after_step", "before_usage", "report", "get", "find"):
            self.assertIn(name, measured["names"])


# A program that ends at every moment of the start: the request for a pending call meets an interpreter that ends.
ENDS_EARLY = """
import ctypes, sys, time
import torch
runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
end = time.monotonic() + float(sys.argv[1])
while time.monotonic() < end:
    pass
"""
# torch never comes, so that requests go on while the interpreter ends, which an atexit function of C makes long.
ENDS_WAITING = """
import ctypes, sys, time
runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
class Slow:
    def __del__(self, sleep=time.sleep):
        sleep(0.7)
keep = Slow()
"""
FORKS = """
import ctypes, os, sys, time, warnings
import torch
warnings.simplefilter("ignore", DeprecationWarning)  # since 3.12 of a fork where there are threads, of which ours are some
runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
for _ in range(20):
    child = os.fork()
    if child == 0:
        torch.optim.SGD().step()
        os._exit(3)
    assert os.WEXITSTATUS(os.waitpid(child, 0)[1]) == 3
import watched
print(watched.is_watched(torch._C._log_api_usage_once))
"""
# The main thread is in C when torch is there: the call is made once it returns, in the main interpreter.
SUB_INTERPRETER = """
import ctypes, sys, time
import _xxsubinterpreters as interpreters
import torch
# ctypes loads only where a sub-interpreter shares all with the main one, which since 3.12 has to be asked for.
sub = interpreters.create(**({"isolated": False} if sys.version_info >= (3, 12) else {}))
runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
interpreters.run_string(sub, "import sys, torch, time\\ntime.sleep(0.5)\\nfor _ in range(100000): pass\\n"
                        "import watched\\nassert not watched.is_watched(torch._C._log_api_usage_once)")
interpreters.destroy(sub)
import watched
print(watched.wait_until_watched(torch._C._log_api_usage_once))
"""
# What runs until the recording is there and the program's functions are watched.
WATCHED = """
import ctypes, gc, sys
import torch, watched
runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
assert "LD_PRELOAD" not in __import__("os").environ or watched.wait_until_watched(torch._C._nn.scaled_dot_product_attention)
"""
# A module that is loaded when it is first used, by the recipe of importlib's documentation.
LAZY = """
import importlib.util, sys
spec = importlib.util.find_spec("flash_attn_interface")
spec.loader = importlib.util.LazyLoader(spec.loader)
module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(module)
""" + WATCHED + """
print(type(module).__name__)
"""
# An observer of the program's around a part of it.
OWN_CALLBACK = """
import gc
def mine(phase, info):
    pass
gc.callbacks.append(mine)
""" + WATCHED + """
print(gc.callbacks.pop() is mine)
gc.callbacks.append(mine)
print(gc.callbacks.pop() is mine)
"""
OWN_IMPORT = """
import builtins
own = builtins.__import__
calls = []
def note(name, globals=None, *more):
    if "__name__" not in (globals or {}):
        calls.append(name)
    return own(name, globals, *more)
builtins.__import__ = note
""" + WATCHED.replace('__import__("os")', "sys.modules['os']") + """
print(calls)
"""
# A tracer that begins amid one step and ends amid another.
TRACED = WATCHED + """
seen = set()
def trace(frame, event, argument):
    seen.add(frame.f_code.co_filename.rpartition("/")[2])
    return trace
class Traced(torch.optim.SGD):
    def step(self):
        sys.settrace(None if sys.gettrace() else trace)
optimizer, plain = Traced(), torch.optim.SGD()
for _ in range(2):
    optimizer.step()
    plain.step()
    optimizer.step()
    plain.step()
print(sorted(seen))
"""
# What sys.monitoring tells of calls.
MONITORED = WATCHED + """
monitoring, seen = sys.monitoring, []
monitoring.use_tool_id(3, "test")
def note(event):
    return lambda code, offset, *more: seen.append((event, code.co_filename.rpartition("/")[2], code.co_name))
events = monitoring.events
for event in "CALL", "C_RETURN", "C_RAISE", "PY_START", "PY_RETURN", "PY_UNWIND", "RAISE":
    monitoring.register_callback(3, getattr(events, event), note(event))
optimizer, batches = torch.optim.SGD(), iter(torch.utils.data.DataLoader([1, 2, 3], batch_size=2))
monitoring.set_events(3, events.CALL | events.PY_START | events.PY_RETURN | events.PY_UNWIND | events.RAISE)
optimizer.step()
try:
    while True:
        batches.__next__()
except StopIteration:
    pass
monitoring.set_events(3, 0)
import json
print(json.dumps(seen))
"""
# Steps and calls of a builtin from each depth up to the limit of recursion. CPython 3.8 alone tells nobody how to count a call.
DEEP = WATCHED + """
attention, optimizer, depth, outcomes = torch._C._nn.scaled_dot_product_attention, torch.optim.SGD(), [0], [0, 0]
optimizer.step()
class Deeper:
    @staticmethod
    def __torch_function__(*given):
        depth[0] += 1
        return attention(Deeper(), None, None)
def go():
    depth[0] = max(depth[0], 1)  # where 3.8 meets the limit in a step twice, it ends the process, also without us
    try:
        optimizer.step()
        outcomes[0] += 1
    except RecursionError:
        outcomes[1] += 1
    return go()
for run in (go, lambda: attention(Deeper(), None, None))[:1 if sys.version_info < (3, 9) else 2]:
    try:
        run()
    except RecursionError:
        pass
print(depth, outcomes)
"""
# Whether a builtin gets a dictionary of arguments, which PyTorch hands on to __torch_function__ as it is.
DICTIONARIES = WATCHED + """
from builtins_of_c import had_dictionary
call, tensors, told = torch._C._nn.scaled_dot_product_attention, [torch.Tensor(2, 8, 128, 64)] * 3, []
for form in (lambda: call(*tensors, **{}), lambda: call(*tensors, is_causal=True), lambda: call(*tensors, **{"is_causal": True}),
             lambda: call(tensors[0], tensors[1], tensors[2]), lambda: call(tensors[0], tensors[1], value=tensors[2]),
             lambda: call(*tensors)):
    form()
    told.append(had_dictionary())
print(told)
"""
# An alarm rings all the time, and its handler raises. Each must arrive, also one that rings while we are at work: as we start, and
# around the program's calls. What it interrupts is a function: some versions of CPython miss the handler of a loop inside a try.
INTERRUPTED = """
import ctypes, signal, sys, time
import torch, watched
class Alarm({"BaseException": BaseException, "TimeoutError": TimeoutError}[sys.argv[1]]):
    pass
armed, rung, caught = False, 0, 0
def ring(*_):
    global armed, rung
    if armed:
        armed, rung = False, rung + 1
        raise Alarm
def idle():
    while time.monotonic() < end:
        pass
def step():
    while time.monotonic() < end:
        optimizer.step()
def load():
    while time.monotonic() < end:
        for _ in torch.utils.data.DataLoader(range(64), batch_size=1, collate_fn=lambda items: {1: torch.Tensor(1, 3, 3)}):
            pass
optimizer, work = torch.optim.SGD(), {"idle": idle, "step": step, "load": load}[sys.argv[2]]
signal.signal(signal.SIGALRM, ring)
runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
if work is idle:
    signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
if work is not idle:
    assert watched.wait_until_watched(torch._C._log_api_usage_once)
    signal.setitimer(signal.ITIMER_REAL, 0.0001, 0.0001)
end = time.monotonic() + 1
while time.monotonic() < end:
    try:
        armed = True
        work()
        armed = False
    except Alarm:
        caught += 1
# Not by ignoring the signal: Python complains of one that rang just before.
signal.setitimer(signal.ITIMER_REAL, 0)
print(rung > 200, caught - rung)
"""


class Lifecycle(Program):
    def test_the_interpreter_ends_while_we_start(self):
        for seconds in ("0", "0.0005", "0.001", "0.002", "0.005", "0.02", "0.1"):
            with self.subTest(seconds=seconds):
                ended = self.run_text(ENDS_EARLY, seconds)
                self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "", ""))

    def test_the_interpreter_ends_while_we_wait_for_torch(self):
        ended = self.run_text(ENDS_WAITING)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "", ""))
        self.assertNotIn(("python", "installed"), self.open().health())

    def test_forks_while_a_call_is_pending(self):
        ended = self.run_text(FORKS)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "True\n", ""))
        self.assertEqual(self.open().rows("SELECT count(*) FROM step_mark"), [(0,)])

    def test_sub_interpreters_are_left_alone(self):
        if sys.version_info[:2] not in ((3, 8), (3, 9), (3, 10), (3, 11), (3, 12)):
            self.skipTest("_xxsubinterpreters is named differently in this Python")
        ended = self.run_text(SUB_INTERPRETER)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "True\n", ""))

    def test_what_signal_handlers_raise_stays_the_programs(self):
        for kind in ("BaseException", "TimeoutError"):
            for work in ("idle", "step", "load"):
                with self.subTest(kind=kind, work=work):
                    ended = self.run_text(INTERRUPTED, kind, work)
                    self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "True 0\n", ""))
                    for path in self.folder.glob("run.db*"):
                        path.unlink()

    def test_python_without_torch_and_programs_without_python(self):
        for command in ([sys.executable, "-c", ENDS_WAITING], [str(harness.FAKE_GPU / "cuda13" / "fake_train"), "--steps", "3"]):
            ended = self.run_program(command=command)
            self.assertEqual((ended.code, ended.stderr), (0, ""))
            recording = self.open()
            for table in ("data_wait", "step_mark", "host_span", "data_loader"):
                self.assertEqual(recording.rows(f"SELECT count(*) FROM {table}"), [(0,)], table)
            self.assertNotIn(("python", "installed"), recording.health())
            recording.close()
            (self.folder / "run.db").unlink()


# What depends on the version of CPython.
CORE = ("PythonSide.test_optimizers_are_told_apart", "PythonSide.test_checkpoints", "PythonSide.test_attention",
        "PythonSide.test_samples_of_batches", "PythonSide.test_samplers_of_the_program_are_not_asked",
        "PythonSide.test_errors_of_the_loader_reach_the_program", "PythonSide.test_forked_child_that_goes_on_training", "Unchanged",
        "Lifecycle.test_forks_while_a_call_is_pending", "Lifecycle.test_sub_interpreters_are_left_alone",
        "Lifecycle.test_what_signal_handlers_raise_stays_the_programs")


def other_pythons():
    """{version: path} of those on the machine that are supported and not this one: on PATH, or among the versions of pyenv."""
    pyenv = pathlib.Path(os.environ.get("PYENV_ROOT", pathlib.Path.home() / ".pyenv")) / "versions"
    found = {}
    for minor in range(9, 15):
        if (3, minor) == sys.version_info[:2]:
            continue
        for path in (shutil.which(f"python3.{minor}"), *sorted(pyenv.glob(f"3.{minor}.*/bin/python3"))):
            # One on PATH may stand for what is not there, and some are built without these modules.
            code = f"import ctypes, sqlite3, sys; sys.exit(sys.version_info[:2] != (3, {minor}))"
            if path and subprocess.run([path, "-c", code], capture_output=True, check=False).returncode == 0:
                found[f"3.{minor}"] = str(path)
                break
    return found


class OtherPythons(unittest.TestCase):
    def test_core(self):
        """The tests that depend on the version of CPython, by each that is found."""
        pythons = other_pythons()
        if not pythons:
            self.skipTest(f"no Python but this one ({sys.version.split()[0]}) was found; install others for this test")
        for version, path in pythons.items():
            with self.subTest(version=version):
                ended = subprocess.run([path, "-B", __file__, *CORE], capture_output=True, text=True, check=False)
                self.assertEqual(ended.returncode, 0, ended.stderr)


if __name__ == "__main__":
    os.environ.pop("PYTHONPATH", None)
    harness.main()
