# SPDX-License-Identifier: Apache-2.0
"""Places of programs without Python: which function launched a kernel, and which waited, by stacks of machine code."""

import collections
import json
import shutil
import subprocess

import harness

FOLDER = harness.FAKE_GPU / "cuda13"
# Which function launches a kernel, and which calls a function that waits.
LAUNCHED_BY = {
    "_Z12embed_kernelPf": "_ZN5model5embedEi",
    "_Z16attention_kernelPf": "_ZN5model9Attention7forwardEiPKc",
    "_Z11adam_kernelPf": "_ZN5model4adamIfEEvT_",
    "_Z13plugin_kernelPf": "_ZL15layer_of_pluginv",
}
THREADS = {f"thread_kernel_{number}": f"_ZN12_GLOBAL__N_111thread_workILi{number}EEEvi" for number in range(4)}
LAUNCHED_BY.update(THREADS)
WAITED_BY = {"cudaStreamSynchronize": {"_ZN5model9read_lossEv", *THREADS.values()},
             "cudaDeviceSynchronize": {"_ZN5model12wait_for_allEv", "_ZL15layer_of_pluginv", "main"}}


def is_of_launch(function, kernel):
    """What nvcc puts between a function and the launch."""
    return function == kernel or "__device_stub__" in function


class NativeStacks(harness.TestCase):
    def record(self, program, *arguments, env=()):
        """Twice, without and with the library: what the program prints stays the same."""
        command = [FOLDER / program, *map(str, arguments)]
        plain = self.finish(self.start(command=command, preload=False))
        ended = self.finish(self.start(command=command, env={"TRACEINJECT_FLUSH_MS": "100", **dict(env)}))
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "done\n", ""))
        self.assertEqual((plain.code, plain.stdout, plain.stderr), (0, "done\n", ""))
        recording = self.open()
        self.addCleanup(recording.close)
        self.assert_nothing_lost(recording)
        self.assertEqual(recording.count("stack", "stored"), recording.rows("SELECT count(*) FROM stack_sample")[0][0])
        self.assertEqual(recording.count("stack", "seen"), recording.count("stack", "stored"))
        return recording

    def stacks(self, recording):
        """By id: functions from the innermost on."""
        stacks = collections.defaultdict(list)
        for stack, function in recording.rows("SELECT stack, function FROM stack_frames ORDER BY stack, depth"):
            stacks[stack].append(function)
        return stacks

    def launches(self, recording):
        """(kernel, functions that led to its launch), of those whose stack was taken."""
        stacks = self.stacks(recording)
        return [(kernel, [function for function in stacks[stack] if not is_of_launch(function, kernel)]) for kernel, stack in recording.rows(
            """SELECT n.text, x.stack FROM stack_sample x JOIN kernel k ON k.correlation = x.correlation
               JOIN kernel_shape h ON h.id = k.shape JOIN string n ON n.id = h.name WHERE x.kind = 3""")]

    def waits(self, recording):
        stacks = self.stacks(recording)
        return [(call, stacks[stack]) for call, stack in recording.rows(
            """SELECT n.name, x.stack FROM stack_sample x JOIN api a ON a.correlation = x.correlation
               JOIN api_name n ON n.id = a.name WHERE x.kind = 2 AND n.name LIKE '%Synchronize'""")]

    def assert_placed(self, recording, at_least):
        launches, waits = self.launches(recording), self.waits(recording)
        wrong = [one for one in launches if one[1][:1] != [LAUNCHED_BY[one[0]]]]
        wrong += [one for one in waits if not WAITED_BY[one[0]] & set(one[1][:1])]
        self.assertGreaterEqual(len(launches), at_least)
        self.assertLessEqual(len(wrong), 0.01 * (len(launches) + len(waits)), wrong[:3])
        # Every stack was taken at a call that is recorded.
        joined = recording.rows("SELECT count(*), sum(correlation IS NOT NULL) FROM stack_sample")[0]
        self.assertGreaterEqual(joined[1], 0.99 * joined[0])

    def analyze(self, *arguments):
        return subprocess.run([harness.BUILD / "bin" / "analyze", *arguments], cwd=self.folder, capture_output=True, text=True, check=True).stdout

    def verdict(self):
        return json.loads(self.analyze("report", "run.db", "--format", "json"))["verdict"]

    def code(self, *flags):
        rows = json.loads(self.analyze("code", "run.db", "--format", "json", *flags))
        return rows if isinstance(rows, list) else next(iter(rows.values()))


class Programs(NativeStacks):
    def test_functions_that_launch_and_one_that_waits(self):
        recording = self.record("native_program", "wait", 400)
        self.assert_placed(recording, 300)
        self.assertEqual(recording.count("stack", "cut"), 0)
        self.assertEqual(recording.rows("SELECT key, value FROM system_fact WHERE kind = 'stacks'"), [("native", "x86-64")])
        for functions in self.stacks(recording).values():
            self.assertNotIn("WithLaunchStack", str(functions))
        files = {file for _, file in recording.rows("SELECT function, file FROM stack_frames WHERE function LIKE '_ZN5model%'")}
        self.assertEqual({file.rpartition("/")[2] for file in files}, {"native_program"})
        verdict = self.verdict()
        self.assertEqual(verdict["label"], "sync_bound")
        self.assertEqual(verdict["code"][0]["place"], "model::read_loss in native_program")
        self.assertTrue(verdict["code"][0]["own"])
        self.assertTrue(any("model::read_loss in native_program" in line["text"] for line in verdict["evidence"]))

    def test_the_slow_function(self):
        self.assert_placed(self.record("native_program", "compute", 400), 300)
        verdict = self.verdict()
        self.assertEqual(verdict["code"][0]["place"], "model::Attention::forward in native_program")
        self.assertEqual(verdict["code"][0]["library"], "attention_kernel of native_program")
        rows = self.code()
        self.assertEqual(verdict["label"], "compute_bound")
        kernels = {row["function"]: row["kernel_ns"] for row in rows if row["kernel_ns"]}
        self.assertEqual(set(kernels), {"model::Attention::forward", "model::adam<float>", "model::embed"})
        self.assertAlmostEqual(kernels["model::Attention::forward"] / sum(kernels.values()), 2.1 / 2.3, delta=0.01)
        self.assertEqual({row["line"] for row in rows}, {None})
        self.assertEqual({row["file"].rpartition("/")[2] for row in rows}, {"native_program"})
        functions = {row["function"]: row["kernel_ns"] for row in self.code("--functions")}
        self.assertEqual(functions, {row["function"]: row["kernel_ns"] for row in rows})
        self.analyze("html", "run.db", "-o", "report.html")
        page = (self.folder / "report.html").read_text()
        self.assertIn("model::Attention::forward", page)
        self.assertNotIn("native_program:0", page)

    def test_frame_pointers_instead_of_unwind_tables(self):
        self.assert_placed(self.record("native_program_frames", "wait", 300), 200)

    def test_neither(self):
        """The function that makes a call is known, its callers are not."""
        recording = self.record("native_program_bare", "wait", 300)
        self.assertGreater(recording.count("stack", "cut"), 0)
        stacks = self.stacks(recording)
        for kernel, stack in recording.rows(
                """SELECT n.text, x.stack FROM stack_sample x JOIN kernel k ON k.correlation = x.correlation
                   JOIN kernel_shape h ON h.id = k.shape JOIN string n ON n.id = h.name WHERE x.kind = 3"""):
            self.assertTrue(is_of_launch(stacks[stack][0], kernel), stacks[stack])
        waits = self.waits(recording)
        self.assertGreater(len(waits), 100)
        for call, functions in waits:
            self.assertIn(functions[0], WAITED_BY[call])
        self.verdict()

    def test_without_symbols(self):
        """Functions are known by where they begin."""
        recording = self.record("native_program_stripped", "wait", 300)
        for kernel, functions in self.launches(recording):
            self.assertRegex(functions[0], r"^native_program_stripped\+0x[0-9a-f]+$")
        innermost = collections.defaultdict(set)
        for kernel, functions in self.launches(recording):
            innermost[kernel].add(functions[2])
        self.assertEqual([len(functions) for functions in innermost.values()], [1, 1, 1])
        self.assertEqual(len(set.union(*innermost.values())), 3)
        waited = {functions[0] for call, functions in self.waits(recording) if call == "cudaStreamSynchronize"}
        self.assertEqual(len(waited), 1)
        self.assertEqual(self.verdict()["code"][0]["place"], waited.pop())

    def test_many_threads(self):
        recording = self.record("native_program", "threads", 4000)
        self.assert_placed(recording, 800)
        tids = recording.rows("SELECT count(DISTINCT thread) FROM stack_sample WHERE kind = 3")[0][0]
        self.assertEqual(tids, 4)

    def test_a_plug_in_that_is_unloaded(self):
        recording = self.record("native_program", "plugin", 60, FOLDER / "libnative_plugin.so")
        launches = [functions for kernel, functions in self.launches(recording) if kernel == "_Z13plugin_kernelPf"]
        self.assertGreater(len(launches), 200)
        good = [functions for functions in launches if functions[:3] == ["_ZL15layer_of_pluginv", "plugin_work", "main"]]
        self.assertGreaterEqual(len(good), 0.99 * len(launches))

    def test_code_without_a_file(self):
        recording = self.record("native_program", "generated", 2000)
        launches = self.launches(recording)
        self.assertGreater(len(launches), 200)
        for _, functions in launches:
            self.assertIn("behind_generated", functions[0])

    def test_a_program_that_is_built_anew_meanwhile(self):
        program = self.folder / "program"
        shutil.copy(FOLDER / "native_program", program)
        running = self.start(command=[program, "wait", "200"], env={"TRACEINJECT_FLUSH_MS": "100"})
        program.unlink()
        program.write_text("another one")
        self.assertEqual(self.finish(running).stdout, "done\n")
        recording = self.open()
        self.addCleanup(recording.close)
        self.assert_placed(recording, 100)
        self.assertEqual(recording.rows("SELECT DISTINCT file FROM stack_frames WHERE function = 'main'"), [(str(program),)])

    def test_small_stacks(self):
        self.assert_placed(self.record("native_program", "tiny", 300), 200)

    def test_off(self):
        recording = self.record("native_program", "wait", 100, env={"TRACEINJECT_STACKS_HZ": "0"})
        self.assertEqual(recording.rows("SELECT count(*) FROM stack_sample"), [(0,)])


if __name__ == "__main__":
    harness.main()
