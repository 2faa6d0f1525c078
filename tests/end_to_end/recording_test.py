# SPDX-License-Identifier: Apache-2.0
"""Everything that happens is in the database, with every field as it was."""

import collections
import unittest

import harness


class Recording(harness.TestCase):
    def assert_calls(self, recording, truth):
        selected = "cannot select single calls" not in str(recording.rows("SELECT detail FROM health"))
        self.assert_same(recording.calls(), truth.recorded_calls(selected))

    def assert_joined(self, recording):
        """Each piece of GPU work has exactly one launching call."""
        launches = collections.Counter(call.correlation for call in recording.calls())
        work = recording.kernels() + recording.memcpys() + recording.memsets()
        joined = sum(launches[operation.correlation] == 1 for operation in work)
        self.assertGreater(len(work), 0)
        self.assertGreaterEqual(joined / len(work), 0.999)

    def assert_syncs(self, recording, truth):
        """The wrapper saw each call from outside, so its interval encloses the call's."""
        expected, recorded = collections.defaultdict(list), collections.defaultdict(list)
        for line in sorted(truth.of("sync"), key=lambda line: line["start"]):
            expected[line["tid"], line["kind"]].append(line)
        for sync in recording.syncs():
            recorded[sync.tid, sync.kind].append(sync)
        self.assertEqual({key: len(found) for key, found in recorded.items()},
                         {key: len(lines) for key, lines in expected.items()})
        pairs = [pair for key, lines in expected.items() for pair in zip(lines, recorded[key])]
        for line, sync in pairs:
            self.assertLessEqual(sync.start, line["start"])
            self.assertGreaterEqual(sync.end, line["end"])
            stream = (line["device"], line["context"], line["stream"]) if "stream" in line else None
            self.assertEqual(sync.stream, stream)
            self.assertEqual(sync.event is None, "event" not in line)
        self.assert_events(sorted(pairs, key=lambda pair: pair[0]["start"]))

    def assert_events(self, pairs):
        """A wait leads to the right record: the last one of its event that began before it."""
        really, by_number = {}, {}
        for line, sync in pairs:
            if sync.event is None:
                continue
            if sync.kind == 1:
                really[line["event"]] = by_number[sync.event] = line
            else:
                self.assertIs(by_number[sync.event], really[line["event"]])

    def assert_nvtx(self, recording, truth):
        expected, recorded = collections.defaultdict(list), collections.defaultdict(list)
        for line in sorted(truth.of("nvtx"), key=lambda line: line["start_before"]):
            expected[line["tid"], line["kind"], line["domain"]].append(line)
        for event in recording.nvtx():
            if event.domain != "NCCL":
                recorded[event.tid, event.kind, event.domain].append(event)
        self.assertEqual({key: len(found) for key, found in recorded.items()},
                         {key: len(lines) for key, lines in expected.items()})
        for key, lines in expected.items():
            for line, event in zip(lines, recorded[key]):
                self.assert_nvtx_event(line, event)

    def assert_nvtx_event(self, line, event):
        self.assertEqual(event.text, line["text"])
        self.assertEqual(event.category, line.get("category"))
        self.assertEqual(event.color, line.get("color"))
        self.assert_between(line["start_before"], event.start, line["start_after"])
        if line.get("open"):
            self.assertIsNone(event.end)
        elif event.kind == 3:
            self.assertEqual(event.start, event.end)
        else:
            self.assert_between(line["end_before"], event.end, line["end_after"])
        if "bytes" in line:
            self.assertIn(bytes.fromhex(line["bytes"]), event.payload)
        else:
            self.assertEqual(event.payload, line.get("integer", line.get("real")))

    def assert_between(self, low, value, high):
        self.assertLessEqual(low, value)
        self.assertLessEqual(value, high)

    def assert_collectives(self, recording, truth):
        lines = sorted(truth.of("collective"), key=lambda line: (line["tid"], line["start_before"]))
        recorded = sorted(recording.collectives(), key=lambda collective: (collective.tid, collective.start))
        self.assertEqual(len(recorded), len(lines))
        for line, collective in zip(lines, recorded):
            self.assertEqual(
                (collective.tid, collective.function, collective.communicator, collective.bytes, collective.reduction,
                 collective.peer, collective.root),
                (line["tid"], line["function"], line.get("communicator"), line["bytes"], line.get("reduction"),
                 line.get("peer"), line.get("root")))
            self.assert_between(line["start_before"], collective.start, line["start_after"])
            self.assert_between(line["end_before"], collective.end, line["end_after"])
        self.assert_same(recording.communicators(),
                         [harness.Communicator(line["hash"], line["size"], line["rank"], line["device"])
                          for line in truth.of("communicator")])

    def assert_everything(self, recording, truth):
        self.assert_nothing_lost(recording)  # first: what was lost explains what differs below
        self.assert_gpu_work(recording, truth)
        self.assert_calls(recording, truth)
        self.assert_joined(recording)
        self.assert_syncs(recording, truth)
        self.assert_nvtx(recording, truth)
        self.assert_collectives(recording, truth)
        self.assertEqual(recording.integrity(), "ok")

    def test_each_cuda_version(self):
        for cuda in harness.CUDA_VERSIONS:
            with self.subTest(cuda=cuda):
                output = f"{cuda}.db"
                ended = self.play("--steps", "20", "--threads", "2", *harness.EVERYTHING, cuda=cuda,
                                  env={"TRACEINJECT_OUTPUT": output})
                self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
                self.assert_everything(self.open(output), self.truth(ended))

    def test_calls_inside_others_that_are_told(self):
        """CUPTI tells the outer one only. If it tells both, one is stored."""
        for cuda in harness.CUDA_VERSIONS:
            with self.subTest(cuda=cuda):
                output = f"{cuda}.db"
                ended = self.play("--steps", "10", "--threads", "2", *harness.EVERYTHING, cuda=cuda,
                                  env={"TRACEINJECT_OUTPUT": output, "FAKE_CUPTI_NESTED": "1", **harness.SHUFFLED})
                self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
                self.assert_everything(self.open(output), self.truth(ended))

    def test_each_cupti_12(self):
        # 26 has the first longer copy records, 27 and above may refuse buffers.
        for version in ("21", "22", "23", "26", "28"):
            with self.subTest(version=version):
                output = f"{version}.db"
                ended = self.play("--steps", "5", *harness.EVERYTHING, cuda="cuda12",
                                  env={"TRACEINJECT_OUTPUT": output, "FAKE_CUPTI_VERSION": version})
                self.assertEqual(ended.code, 0)
                recording = self.open(output)
                self.assert_everything(recording, self.truth(ended))
                self.assertEqual(recording.rows("SELECT cupti_version FROM process"), [(int(version),)])

    def test_memory_and_stream_kinds(self):
        """Of each layout of these records; the last two CUDA versions have the longer one."""
        for cuda, version in (("cuda12_0", "18"), ("cuda12", "22"), ("cuda12", "24"), ("cuda13", "")):
            with self.subTest(cuda=cuda, version=version):
                output = f"{cuda}{version}.db"
                env = {"TRACEINJECT_OUTPUT": output, "TRACEINJECT_KINDS": "kernel,memcpy,memcpy2,memset,api,memory,stream"}
                ended = self.play("--steps", "5", *harness.EVERYTHING, cuda=cuda,
                                  env=env | ({"FAKE_CUPTI_VERSION": version} if version else {}))
                self.assertEqual(ended.code, 0)
                recording, truth = self.open(output), self.truth(ended)
                self.assert_everything(recording, truth)
                self.assert_same(recording.memory(), truth.memory())
                self.assertTrue(any(operation.pool for operation in recording.memory()))
                self.assertEqual(recording.count("memory", "stored"), len(truth.memory()))
                # Each leads to the call that made it.
                calls = {call.correlation for call in recording.calls()}
                self.assertEqual({operation.correlation for operation in recording.memory()} - calls, set())
                self.assert_streams(recording, truth, described=True)

    def test_streams_have_names_but_no_priorities_by_default(self):
        ended = self.play("--steps", "2", *harness.EVERYTHING)
        recording = self.open()
        self.assert_streams(recording, self.truth(ended), described=False)
        self.assertEqual(recording.memory(), [])

    def assert_streams(self, recording, truth, described):
        names = {(line["context"], line["stream"]): line["name"] for line in truth.of("stream_name")}
        created = {(line["context"], line["stream"]): (line["priority"], 2 if line["non_blocking"] else 1) for line in truth.of("stream")}
        rows = recording.rows("SELECT s.context, s.stream_id, s.priority, s.flags, n.text FROM stream s LEFT JOIN string n ON n.id = s.name")
        self.assertEqual(len({row[:2] for row in rows}), len(rows))
        for context, stream, priority, flags, name in rows:
            self.assertEqual(name, names.get((context, stream)))
            self.assertEqual((priority, flags), created.get((context, stream), (None, None)) if described else (None, None))
        self.assertGreater(sum(row[4] is not None for row in rows), 2)

    def test_late_shuffled_and_stale_delivery(self):
        for cuda in harness.CUDA_VERSIONS:
            with self.subTest(cuda=cuda):
                output = f"{cuda}.db"
                ended = self.play("--steps", "40", "--kernels", "40", "--threads", "3", *harness.EVERYTHING, cuda=cuda,
                                  env={"TRACEINJECT_OUTPUT": output, "TRACEINJECT_FLUSH_MS": "50", **harness.SHUFFLED,
                                       "FAKE_CUPTI_DELAY_MS": "60", "FAKE_CUPTI_STALE_NAMES": "1"})
                self.assertEqual(ended.code, 0)
                self.assert_everything(self.open(output), self.truth(ended))

    def test_each_way_to_launch(self):
        for launch in ("runtime", "symbol13", "driver"):
            with self.subTest(launch=launch):
                output = f"{launch}.db"
                ended = self.play("--launch", launch, "--steps", "5", env={"TRACEINJECT_OUTPUT": output})
                recording = self.open(output)
                self.assert_everything(recording, self.truth(ended))
                names = {call.name for call in recording.calls()}
                self.assertIn({"runtime": "cuLaunchKernel", "symbol13": "cuLaunchKernel",
                               "driver": "cuLaunchKernel"}[launch], names)

    def test_each_way_to_synchronise(self):
        for sync in ("stream", "event", "device"):
            with self.subTest(sync=sync):
                output = f"{sync}.db"
                ended = self.play("--sync", sync, "--steps", "5", env={"TRACEINJECT_OUTPUT": output})
                self.assert_everything(self.open(output), self.truth(ended))

    def test_old_nccl_tells_no_communicator(self):
        ended = self.play("--nccl", "old", "--steps", "5")
        recording = self.open()
        self.assert_everything(recording, self.truth(ended))
        self.assertEqual(recording.communicators(), [])

    def test_open_range_and_pop_without_push(self):
        ended = self.play("--nvtx", "--leave-open", "--steps", "3")
        self.assert_nvtx(self.open(), self.truth(ended))
        ended = self.play("--nvtx", "--extra-pop", "--steps", "3", env={"TRACEINJECT_OUTPUT": "pop.db"})
        recording = self.open("pop.db")
        self.assert_nvtx(recording, self.truth(ended))
        self.assertEqual(recording.count("nvtx", "unmatched"), 1)

    def test_facts_about_process_and_devices(self):
        ended = self.play("--devices", "2", env={"FAKE_GPU_NAME": "NVIDIA H200"})
        recording = self.open()
        ((pid, host, executable, command, cupti, runtime, driver, path),) = recording.rows(
            "SELECT pid, host, executable, command_line, cupti_version, runtime_version, driver_version, cupti_path FROM process")
        self.assertEqual(pid, ended.pid)
        self.assertTrue(host)
        self.assertTrue(executable.endswith("cuda13/fake_train"))
        self.assertIn("--devices", command)
        self.assertEqual((cupti, runtime, driver), (130001, 13000, 13000))
        self.assertTrue(path.endswith("libcupti.so.13"))
        devices = recording.rows("SELECT device, name, uuid, pci_bus_id, sm_count, cc_major, cc_minor, memory_bytes FROM device")
        self.assertEqual([device[:2] for device in devices], [(0, "NVIDIA H200"), (1, "NVIDIA H200")])
        self.assertEqual([device[4:] for device in devices], [(132, 9, 0, 85520809984)] * 2)
        self.assertEqual(devices[0][2], "GPU-10111213-1415-1617-1819-1a1b1c1d1e1f")
        self.assertNotEqual(devices[0][2], devices[1][2])
        self.assertEqual(devices[1][3].lower(), "0000:19:00.0")

    def test_lost_records_are_counted(self):
        ended = self.play("--steps", "5", env={"FAKE_CUPTI_DROP": "7"})
        recording, truth = self.open(), self.truth(ended)
        self.assertEqual(len(recording.kernels()), len(truth.kernels()) - 7)
        self.assertEqual(recording.count("cupti", "dropped"), 7)

    def test_dropped_records_are_counted_where_no_buffer_comes_back_after_them(self):
        # The oldest CUPTI cannot tell single calls: of probes (unseen_client.h) none comes either.
        ended = self.play("--steps", "5", cuda="cuda12_0", env={"FAKE_CUPTI_DROP": "1000000", "TRACEINJECT_KINDS": "kernel"})
        recording, truth = self.open(), self.truth(ended)
        self.assertEqual(recording.kernels(), [])
        self.assertEqual(recording.count("cupti", "dropped"), len(truth.kernels()))

    def test_work_that_still_runs_at_the_end_is_counted(self):
        # 100 kernels of 50 ms each are queued; the program ends at once.
        ended = self.play("--steps", "1", "--kernels", "100", "--kernel-us", "50000", "--sync", "none")
        self.assertEqual(ended.code, 0)
        recording, truth = self.open(), self.truth(ended)
        self.assertEqual(recording.count("kernel", "seen"), len(truth.kernels()))
        self.assertGreater(recording.count("kernel", "dropped"), 0)
        self.assertEqual(recording.count("kernel", "seen"),
                         recording.count("kernel", "stored") + recording.count("kernel", "dropped"))

    def test_records_lost_for_want_of_buffers_are_counted(self):
        # 90,000 kernels are more than the smallest pool holds, and full buffers come back only after seconds. No truth: it
        # would slow the run down, and the number is known.
        for cuda in ("cuda12", "cuda13"):
            with self.subTest(cuda=cuda):
                output = f"{cuda}.db"
                ended = self.play("--steps", "10", "--kernels", "3000", "--kernel-us", "0", "--threads", "3", cuda=cuda,
                                  env={"TRACEINJECT_OUTPUT": output, "TRACEINJECT_BUFFERS": "16M", "FAKE_GPU_TRUTH": "",
                                       "FAKE_CUPTI_DELAY_MS": "20000"})
                self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
                recording = self.open(output)
                self.assertGreater(recording.count("buffers", "exhausted"), 0)
                self.assertLess(recording.count("kernel", "stored"), 90_000)


if __name__ == "__main__":
    harness.main()
