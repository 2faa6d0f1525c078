# SPDX-License-Identifier: Apache-2.0
"""NCCL's profiler plug-in on the stand-in for libnccl: every operation is stored once, with how it was carried out."""

import collections
import os
import subprocess
import unittest

import harness

STEPS = 3
WORK = ["--steps", str(STEPS), "--nccl"]
VERSIONS = (1, 2, 3, 4, 5)
Operation = collections.namedtuple("Operation", "tid function hash bytes peer root")


class NcclPlugin(harness.TestCase):
    def record(self, *flags, version=5, payload="new", **env):
        output = f"run{len(self.files())}.db"
        env = {"FAKE_NCCL_PROFILER": str(version), "TRACEINJECT_OUTPUT": output, **env}
        ended = self.play(*WORK, payload, *flags, env=env)
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        return self.open(output), self.truth(ended)

    @staticmethod
    def operations(truth):
        """By number: what the program called."""
        return {line["number"]: line for line in truth.of("collective")}

    def assert_operations(self, recording, lines):
        expected = [Operation(line["tid"], line["function"], line["hash"], line["bytes"], line.get("peer"), line.get("root"))
                    for line in lines]
        self.assert_same([Operation(c.tid, c.function, c.communicator, c.bytes, c.peer, c.root) for c in recording.collectives()],
                         expected)

    def launch_of(self, recording, plan, calls):
        """Correlation of the CUDA call that launched the kernel, as run_db.sql says it is found."""
        own = [call for call in calls if call.tid == plan.tid and "Launch" in call.name]
        if plan.launch_start is not None:
            found = [call for call in own if plan.launch_start <= call.start < plan.launch_end]
            self.assertEqual(len(found), 1)
        else:
            found = [max((call for call in own if call.start < plan.time), key=lambda call: call.start)]
        return found[0].correlation

    def assert_plans(self, recording, truth, version, missing=()):
        """Each operation that a kernel carried out has its plan, and that leads to its kernel."""
        calls = recording.calls()
        columns = "c.id, f.text, c.bytes, m.hash, c.start"
        collectives = {row[0]: row for row in recording.rows(
            f"SELECT {columns} FROM collective c JOIN string f ON f.id = c.function JOIN communicator m ON m.id = c.communicator")}
        called = self.operations(truth)
        kernels = {kernel.correlation for kernel in recording.kernels()}
        expected, found = [], []
        for line in truth.of("plan"):
            operation = called[line["number"]]
            (launch,) = [call for call in truth.recorded_calls() if call.tid == line["tid"]
                         and line["launch_before"] <= call.start <= line["launch_after"]]
            p2p = "peer" in operation
            in_bytes = version < 5 and operation["function"] in ("AllGather", "Broadcast")
            expected.append((
                operation["function"], operation["bytes"], operation["hash"], launch.correlation,
                None if p2p else line["sequence"], operation["bytes"] if in_bytes else line["count"],
                None if in_bytes else line["datatype"], line["algorithm"] or None, line["protocol"] or None,
                None if p2p and version < 4 else line["channels"], None if p2p else line["warps"]))
        for plan in recording.plans():
            if plan.collective in missing:
                continue
            _, function, size, comm, _ = collectives[plan.collective]
            correlation = self.launch_of(recording, plan, calls)
            self.assertIn(correlation, kernels)
            found.append((function, size, comm, correlation, *plan[3:10]))
        self.assert_same(found, expected)

    def test_each_version_with_nvtx(self):
        for version in VERSIONS:
            with self.subTest(version=version):
                recording, truth = self.record(version=version)
                self.assert_operations(recording, truth.of("collective"))
                self.assert_plans(recording, truth, version)
                self.assert_nothing_lost(recording)
                for collective in recording.collectives():
                    self.assertIsNotNone(collective.end)

    def test_each_version_without_nvtx(self):
        for version in VERSIONS:
            for off in ({"NCCL_NVTX_DISABLE": "1"}, {"TRACEINJECT_NVTX": "0"}):
                with self.subTest(version=version, off=off):
                    recording, truth = self.record(version=version, **off)
                    self.assert_operations(recording, truth.of("collective"))
                    self.assert_plans(recording, truth, version)
                    self.assert_nothing_lost(recording)

    def test_reductions_without_nvtx(self):
        recording, _ = self.record(version=1, NCCL_NVTX_DISABLE="1")
        self.assertEqual({c.function: c.reduction for c in recording.collectives()},
                         {"AllReduce": 4, "AllGather": None, "ReduceScatter": 0, "Broadcast": None, "Reduce": 2, "Send": None,
                          "Recv": None})

    def test_old_payloads_get_their_communicator(self):
        for version in (1, 2):
            recording, truth = self.record(version=version, payload="old")
            self.assert_operations(recording, truth.of("collective"))
            self.assert_plans(recording, truth, version)

    def test_groups_threads_and_communicators(self):
        for version in VERSIONS:
            for off in ({}, {"NCCL_NVTX_DISABLE": "1"}):
                with self.subTest(version=version, off=off):
                    # Before version 5 an operation told on another thread cannot be led to its launch.
                    if version == 5:
                        self.check_more(off)
                    else:
                        self.check_more_before_calls(version, off)

    def check_more(self, off):
        recording, truth = self.record("--nccl-more", "--threads", "2", "--devices", "2", **off)
        self.assert_operations(recording, truth.of("collective"))
        captured = [row[0] for row in recording.rows("SELECT id FROM collective WHERE bytes = ?", 12 << 20)]
        self.assertEqual(len(captured), STEPS * 4)
        self.assertEqual(sum(plan.collective in captured for plan in recording.plans()), STEPS * 4)
        self.assert_plans(recording, truth, 5, missing=captured)
        aborted = recording.rows("SELECT count(*) FROM collective WHERE bytes = ? AND id IN (SELECT collective FROM collective_plan)",
                                 6 << 20)
        self.assertEqual(aborted, [(0,)])
        # Two of the three replays of each graph.
        self.assertEqual(recording.count("nccl_plugin", "repeated"), STEPS * 4 * 2)
        self.assertEqual(recording.count("nccl_plugin", "unlinked"), 0)
        self.assertEqual(recording.count("nccl_plugin", "dropped"), 0)

    def check_more_before_calls(self, version, off):
        recording, truth = self.record("--nccl-more", "--threads", "2", "--devices", "2", version=version, **off)
        lines = truth.of("collective")
        if not off:
            self.assert_operations(recording, lines)
            self.assertEqual(recording.count("nccl_plugin", "unlinked"), STEPS * 4 * 2)
        carried_out = {line["number"] for line in truth.of("plan")}
        once = [line for line in lines if line["number"] in carried_out and line["bytes"] != 4 << 20]
        with_plan = collections.Counter(
            (function, size) for function, size in recording.rows(
                "SELECT f.text, c.bytes FROM collective c JOIN string f ON f.id = c.function "
                "WHERE c.id IN (SELECT collective FROM collective_plan)") if size not in (4 << 20, 12 << 20))
        self.assertEqual(with_plan, collections.Counter((line["function"], line["bytes"]) for line in once))

    def test_operations_of_one_kernel_have_its_launch(self):
        recording, _ = self.record("--nccl-more", "--steps", "1")
        launches = collections.defaultdict(list)
        for plan in recording.plans():
            launches[plan.launch_start].append(plan.collective)
        self.assertEqual(collections.Counter(map(len, launches.values())), {1: 8, 2: 1, 3: 1})

    def test_communicators_have_their_name_and_nodes(self):
        for version, off in ((4, {}), (5, {}), (5, {"NCCL_NVTX_DISABLE": "1"})):
            with self.subTest(version=version, off=off):
                recording, truth = self.record("--nccl-more", version=version, **off)
                self.assertEqual(sorted(recording.rows("SELECT hash, name, nodes, size, rank FROM communicator")),
                                 sorted((line["hash"], line["name"] or None, 2, line["size"], line["rank"])
                                        for line in truth.of("communicator")))

    def test_made_before_recording_began(self):
        for off in ({}, {"NCCL_NVTX_DISABLE": "1"}):
            recording, truth = self.record("--nccl-early", **off)
            self.assert_operations(recording, truth.of("collective"))
            self.assert_plans(recording, truth, 5)
            self.assertEqual(recording.rows("SELECT count(*), max(name), max(size) FROM communicator"), [(1, None, None)])

    def test_nccl_goes_on_after_the_recording_ended(self):
        ended = self.play("--nccl", "new", "--nccl-more", "--steps", "300", "--kernels", "100", "--kernel-us", "5",
                          env={"TRACEINJECT_MAX_SIZE": "64K", "TRACEINJECT_FLUSH_MS": "50"})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        recording = self.open()
        self.assertEqual(recording.count("file", "max_size"), 1)
        self.assertEqual(recording.integrity(), "ok")

    def test_a_plugin_of_the_user_is_left_alone(self):
        for value in ("none", "/nowhere/libplugin.so"):
            recording, truth = self.record(NCCL_PROFILER_PLUGIN=value)
            self.assert_operations(recording, truth.of("collective"))
            self.assertEqual((recording.plans(), recording.count("nccl_plugin", "seen")), ([], 0))

    def test_the_plugin_that_nccl_finds_by_itself_is_left_alone(self):
        folder = harness.BUILD / "stand_in" / "nccl"
        env = {"LD_LIBRARY_PATH": f"{harness.FAKE_GPU / 'cuda13'}:{folder}", "FAKE_NCCL_PROFILER": "5"}
        ended = self.play_both(*WORK, "new", env=env)
        self.assertEqual(ended.stdout, "their plug-in\ntrained\n")
        recording = self.open()
        self.assert_operations(recording, self.truth(ended).of("collective"))
        self.assertEqual(recording.plans(), [])
        count, detail = recording.health()["start", "disabled_source"]
        self.assertEqual(count, 1)
        self.assertIn(f"another NCCL profiler plug-in {folder}/libnccl-profiler.so is installed and is used", detail)
        # Who wants ours instead can say so.
        recording, _ = self.record(**env, NCCL_PROFILER_PLUGIN="STATIC_PLUGIN")
        self.assertNotEqual(recording.plans(), [])
        self.assertEqual(recording.count("start", "disabled_source"), 0)

    def test_a_profiler_in_the_net_plugin_is_left_alone(self):
        for name in ("libnccl-net.so", "libnccl-net-theirs.so"):
            with self.subTest(name=name):
                folder = self.folder / f"truth.{name}"
                folder.mkdir()
                (folder / name).symlink_to(harness.BUILD / "stand_in" / "nccl_net" / "libnccl-net.so")
                env = {"LD_LIBRARY_PATH": f"{harness.FAKE_GPU / 'cuda13'}:{folder}", "FAKE_NCCL_PROFILER": "5"}
                if name.endswith("theirs.so"):
                    env["NCCL_NET_PLUGIN"] = "theirs"
                ended = self.play_both(*WORK, "new", env=env)
                self.assertEqual(ended.stdout, "their plug-in\ntrained\n")
                recording = self.open()
                self.assert_operations(recording, self.truth(ended).of("collective"))
                self.assertEqual(recording.plans(), [])
                self.assertIn(f"{folder}/{name} is installed and is used", recording.health()["start", "disabled_source"][1])
                recording.close()
                recording.path.unlink()

    def test_a_net_plugin_without_a_profiler_is_nothing_to_us(self):
        folder = harness.BUILD / "stand_in" / "nccl_plain_net"
        recording, _ = self.record(LD_LIBRARY_PATH=f"{harness.FAKE_GPU / 'cuda13'}:{folder}")
        self.assertNotEqual(recording.plans(), [])
        self.assertEqual(recording.count("start", "disabled_source"), 0)

    def test_switched_off(self):
        for env in ({}, {"NCCL_PROFILER_PLUGIN": "STATIC_PLUGIN"}):
            recording, truth = self.record(TRACEINJECT_NCCL="0", **env)
            self.assert_operations(recording, truth.of("collective"))
            self.assertEqual(recording.plans(), [])

    def test_children_without_the_preloaded_library(self):
        """CUDA loads us there, by the variable that they inherit: they are not recorded, and NCCL is as it would be without us."""
        env = {"LD_LIBRARY_PATH": f"{harness.FAKE_GPU / 'cuda13'}:{harness.BUILD / 'stand_in' / 'nccl'}", "FAKE_NCCL_PROFILER": "5",
               "NCCL_DEBUG": "INFO"}
        train = f"{harness.FAKE_GPU}/cuda13/fake_train --nccl new --nccl-more --nvtx --events"
        for option in ({}, {"TRACEINJECT_NCCL_LOG": "1"}):
            ended = self.finish(self.start(command=["sh", "-c", f"env -u LD_PRELOAD {train}"], env={**env, **option}))
            plain = self.finish(self.start(command=["sh", "-c", train], env=env, preload=False))
            self.assertEqual((ended.code, harness.numberless(ended.stdout), ended.stderr), (0, harness.numberless(plain.stdout), ""))
            self.assertIn("their plug-in", ended.stdout)
            self.assertEqual((self.files(), list(self.temporary.iterdir())), ([], []))

    def test_program_that_loads_the_library_itself_late(self):
        """As CUDA does it in a child, whatever way the path comes there."""
        ended = self.play(*WORK, "new", "--nvtx", preload=False, env={"CUDA_INJECTION64_PATH": str(harness.LIBRARY),
                                                                      "NVTX_INJECTION64_PATH": str(harness.LIBRARY)})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        self.assertEqual(self.files(), [])

    def test_forked_children_record_nothing(self):
        for fork in ("after:idle", "after:exit", "before:train"):
            with self.subTest(fork=fork):
                ended = self.play("--nccl", "new", "--fork", fork, env={"TRACEINJECT_OUTPUT": "fork%p.db"})
                self.assertEqual(ended.code, 0)

    def test_the_analyzer_links_every_kernel(self):
        for version in (4, 5):
            for off in ({}, {"NCCL_NVTX_DISABLE": "1"}):
                with self.subTest(version=version, off=off):
                    recording, _ = self.record(version=version, **off)
                    report = subprocess.run([harness.BUILD / "bin" / "analyze", "report", recording.path, "--all", "--format", "json"],
                                            capture_output=True, text=True, check=True, env={**os.environ}).stdout
                    nccl = harness.json.loads(report)["run"]["nccl"]
                    self.assertEqual(int(nccl["kernels"]), STEPS * 6)
                    self.assertEqual(nccl["linked_kernels"], nccl["kernels"])
                    told = {(row["function"], row.get("algorithm"), row.get("protocol")) for row in nccl["rows"]}
                    self.assertIn(("AllReduce", "RING", "SIMPLE"), told)
                    self.assertIn(("Broadcast", "TREE", "LL"), told)


if __name__ == "__main__":
    harness.main()
