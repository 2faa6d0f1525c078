# SPDX-License-Identifier: Apache-2.0
"""Samples of the GPUs, the process' threads and its data workers, and the facts about the machine."""

import json
import os
import pathlib
import signal
import sys
import time
import unittest

import harness

HERE = pathlib.Path(__file__).resolve().parent
# Two seconds and a half of work; the file, and with it the samples, begin with the first flush.
WORK = ["--steps", "250", "--step-us", "10000"]
FAST = {"TRACEINJECT_FLUSH_MS": "100"}
OLD_DRIVER = "cuda12_0"
SAMPLES = ("device_sample", "device_slow_sample", "host_sample", "worker", "worker_sample")


class Telemetry(harness.TestCase):
    def record(self, *flags, cuda="cuda13", env=()):
        ended = self.play(*(flags or WORK), cuda=cuda, env={**FAST, **dict(env)})
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
        recording = self.open()
        self.assertEqual(recording.integrity(), "ok")
        return recording

    def count(self, recording, table):
        return recording.rows(f"SELECT count(*) FROM {table}")[0][0]

    def facts(self, recording):
        return {f"{kind} {key}": value if reason is None else f"unknown: {reason}"
                for kind, key, value, reason in recording.rows("SELECT kind, key, value, reason FROM system_fact")}

    def test_devices_are_sampled_at_the_rate_that_is_set(self):
        for hz, least, most in (("10", 18, 27), ("50", 80, 130)):
            with self.subTest(hz=hz):
                recording = self.record(env={"TRACEINJECT_TELEMETRY_HZ": hz})
                self.assert_nothing_lost(recording)
                self.assertTrue(least <= self.count(recording, "device_sample") <= most, self.count(recording, "device_sample"))
                self.assertIn(self.count(recording, "device_slow_sample"), (2, 3))
                self.assertEqual(recording.count("device_sample", "stored"),
                                 self.count(recording, "device_sample") + self.count(recording, "device_slow_sample"))
                recording.close()
                (self.folder / "run.db").unlink()

    def test_every_figure_of_a_device(self):
        recording = self.record(env={
            "FAKE_NVML_SM_CLOCK_MHZ": "1410", "FAKE_NVML_MEMORY_CLOCK_MHZ": "2600", "FAKE_NVML_POWER_MW": "700100",
            "FAKE_NVML_TEMPERATURE_C": "84", "FAKE_NVML_THROTTLE": "0x24", "FAKE_NVML_UTILISATION_PCT": "55",
            "FAKE_NVML_MEMORY_USED": "70000000000", "FAKE_NVML_PCIE_GENERATION": "3", "FAKE_NVML_PCIE_WIDTH": "8"})
        self.assertEqual(recording.rows(
            "SELECT DISTINCT device, sm_clock_mhz, memory_clock_mhz, power_mw, temperature_c, throttle_reasons, sm_utilisation_pct, "
            "memory_utilisation_pct, memory_used_bytes FROM device_sample"), [(0, 1410, 2600, 700100, 84, 0x24, 55, 41, 70000000000)])
        self.assertEqual(recording.rows(
            "SELECT DISTINCT device, pcie_generation, pcie_width, pcie_tx_bytes_s, pcie_rx_bytes_s, pcie_replays, nvlink_tx_bytes, "
            "nvlink_rx_bytes, nvlink_replays, nvlink_recoveries, nvlink_crc_errors, ecc_corrected, ecc_uncorrected "
            "FROM device_slow_sample"), [(0, 3, 8, 1500000, 12000000000, 3, 1024000, 2048000, 8, 0, 0, 7, 0)])
        self.assertEqual(recording.rows("SELECT DISTINCT power_cap, too_hot, hardware_slowdown, power_w FROM device_samples"),
                         [(1, 1, 0, 700.1)])

    def test_only_devices_with_work_are_sampled(self):
        recording = self.record("--devices", "2", *WORK)
        self.assertEqual(recording.rows("SELECT DISTINCT device FROM device_sample ORDER BY device"), [(0,), (1,)])
        recording.close()
        (self.folder / "run.db").unlink()
        recording = self.record()
        self.assertEqual(recording.rows("SELECT DISTINCT device FROM device_sample"), [(0,)])

    def test_facts_of_the_machine(self):
        facts = self.facts(self.record(env={"FAKE_NVML_LAST_LINK": "0"}))
        for key, value in {
                "host nvidia_driver": "580.65.06", "gpu 0.pcie_generation": "5", "gpu 0.pcie_width": "16",
                "gpu 0.pcie_generation_most": "5", "gpu 0.pcie_generation_of_card": "6", "gpu 0.persistence_mode": "on",
                "gpu 0.ecc": "on", "gpu 0.mig": "off", "gpu 0.power_limit_mw": "700000",
                "nvlink 0.0": "active, to 00000000:98:00.0", "nvlink 0.3": "inactive",
                "p2p 0 00000000:19:00.0": "read: ok, write: ok, NVLink: ok, atomics: not supported",
                "host kernel": os.uname().release}.items():
            self.assertEqual(facts.get(key), value, key)
        self.assertNotIn("nvlink 0.4", facts)
        for key in ("host shared_memory_kib", "host open_files_most", "host locked_memory_most", "host cpu_affinity",
                    "host cpu_governor", "host transparent_huge_pages", "host iommu", "gpu 0.numa_node", "gpu 0.acs",
                    "gpu 0.iommu_group_type"):
            self.assertIn(key, facts)
        self.assertTrue(facts["gpu 0.acs"].startswith("unknown: "), "there is no such card here")

    def test_what_is_amiss_with_the_machine_stands_beside_the_verdict(self):
        self.record(env={"FAKE_NVML_PERSISTENCE": "0", "FAKE_NVML_PCIE_WIDTH": "8", "FAKE_NVML_THROTTLE": "0x40",
                         "CUDA_LAUNCH_BLOCKING": "1"}).close()
        report = self.play(command=[harness.BUILD / "bin" / "analyze", "run.db", "--format", "json"], preload=False)
        found = {one["name"]: (one["severity"], one["text"]) for one in json.loads(report.stdout)["hygiene"]}
        self.assertEqual(found["pcie_link"], ("warning", "GPU 0: PCIe x8, although card and slot support x16"))
        self.assertEqual(found["persistence_off"], ("note", "GPU 0: persistence mode is off"))
        self.assertEqual(found["blocking_launches"], ("warning", "CUDA_LAUNCH_BLOCKING=1 is set"))
        severity, text = found["throttled_by_heat"]
        self.assertEqual(severity, "warning")
        self.assertRegex(text, r"^GPU 0: thermal or hardware limits reduced the clock in [\d.]+ % of the busy time \(hardware thermal\)")
        text = self.play(command=[harness.BUILD / "bin" / "analyze", "run.db", "--full"], preload=False).stdout
        self.assertIn("\nMachine findings\n  warning: CUDA_LAUNCH_BLOCKING=1 is set\n    try: unset it", text)

    def test_an_old_driver_tells_less(self):
        recording = self.record(cuda=OLD_DRIVER, env={"FAKE_NVML_THROTTLE": "4"})
        self.assertEqual(recording.rows("SELECT DISTINCT throttle_reasons FROM device_sample"), [(4,)], "by its old name")
        self.assertEqual(recording.rows("SELECT DISTINCT nvlink_tx_bytes, nvlink_replays FROM device_slow_sample"), [(None, 8)])
        facts = self.facts(recording)
        for key in ("gpu 0.mig", "gpu 0.pcie_generation_of_card", "p2p 0 00000000:19:00.0"):
            self.assertTrue(facts[key].startswith("unknown: "), key)

    def test_a_figure_that_the_card_refuses_is_unknown(self):
        recording = self.record(env={"FAKE_NVML_REFUSE": "nvmlDeviceGetPowerUsage"})
        self.assertEqual(recording.rows("SELECT DISTINCT power_mw, temperature_c FROM device_sample"), [(None, 61)])
        self.assert_nothing_lost(recording)

    def test_a_device_is_found_by_its_place_if_not_by_its_identity(self):
        recording = self.record(env={"FAKE_NVML_REFUSE": "nvmlDeviceGetHandleByUUID"})
        self.assertGreater(self.count(recording, "device_sample"), 10)

    def test_switched_off(self):
        recording = self.record(env={"TRACEINJECT_TELEMETRY_HZ": "0"})
        for table in SAMPLES:
            self.assertEqual(self.count(recording, table), 0, table)
        self.assertEqual(recording.rows("SELECT DISTINCT kind FROM system_fact WHERE kind NOT IN ('env', 'option', 'stacks')"), [])

    def test_no_thread_while_switched_off_or_without_gpu_work(self):
        for flags, env, expected in ((WORK, {}, True), (WORK, {"TRACEINJECT_TELEMETRY_HZ": "0"}, False), (["--no-gpu"], {}, False)):
            with self.subTest(flags=flags, env=env):
                process = self.start(*flags, env={**FAST, **env})
                seen = set()
                while process.poll() is None:
                    for task in pathlib.Path(f"/proc/{process.pid}/task").glob("*/comm"):
                        try:
                            seen.add(task.read_text().strip())
                        except OSError:
                            pass
                    time.sleep(0.02)
                self.finish(process)
                self.assertEqual("traceinject-tel" in seen, expected, seen)

    def test_without_nvml_there_is_a_note_and_no_harm(self):
        without = str(harness.FAKE_GPU / "without_nvml")
        for env, reason in (({"FAKE_NVML_INIT_ERROR": "9"}, "Driver Not Loaded"),
                            ({"LD_LIBRARY_PATH": without}, "libnvidia-ml.so.1")):
            with self.subTest(env=env):
                recording = self.record(env=env)
                value, detail = recording.health()["device_sample", "failed"]
                self.assertEqual(value, 1)
                self.assertIn(reason, detail)
                self.assertEqual(self.count(recording, "device_sample"), 0)
                self.assertGreater(self.count(recording, "host_sample"), 0)
                recording.close()
                (self.folder / "run.db").unlink()

    def test_a_driver_that_never_answers_does_not_delay_the_exit(self):
        for function in ("nvmlInit_v2", "nvmlDeviceGetPowerUsage", "nvmlDeviceGetPcieThroughput"):
            with self.subTest(function=function):
                begin = time.monotonic()
                ended = self.play("--steps", "100", "--step-us", "10000", env={**FAST, "FAKE_NVML_HANG": function})
                self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "trained\n", ""))
                self.assertLess(time.monotonic() - begin, 3)
                recording = self.open()
                self.assert_gpu_work(recording, self.truth(ended))
                self.assertEqual(recording.meta["closed"], 1)
                self.assertIn("does not return", recording.health()["device_sample", "failed"][1])
                recording.close()
                (self.folder / "run.db").unlink()

    def test_forks_do_not_wait_for_a_driver_that_never_answers(self):
        begin = time.monotonic()
        ended = self.play("--steps", "100", "--step-us", "10000", "--fork", "after:idle",
                          env={**FAST, "FAKE_NVML_HANG": "nvmlDeviceGetPowerUsage"})
        self.assertEqual(ended.code, 0)
        self.assertLess(time.monotonic() - begin, 5)

    def test_a_killed_process_leaves_its_samples(self):
        process = self.start("--steps", "-1", "--step-us", "5000", env=FAST)
        self.wait_for_kernels(process, 300)
        time.sleep(1.2)
        process.send_signal(signal.SIGKILL)
        self.finish(process)
        recording = self.open()
        self.assertEqual(recording.integrity(), "ok")
        self.assertGreater(self.count(recording, "device_sample"), 8)
        self.assertGreater(self.count(recording, "host_sample"), 2)
        self.assertEqual(recording.count("device_sample", "stored"),
                         self.count(recording, "device_sample") + self.count(recording, "device_slow_sample"))

    def test_threads_are_sampled_once_a_second(self):
        recording = self.record()
        rounds = [time_ns for (time_ns,) in recording.rows("SELECT DISTINCT time_ns FROM host_samples ORDER BY 1")]
        self.assertIn(len(rounds), (3, 4))
        gaps = [after - before for before, after in zip(rounds, rounds[1:-1])]
        self.assertTrue(all(0.9e9 < gap < 1.5e9 for gap in gaps), gaps)
        for column in ("cpu_ns", "minor_faults"):
            for (tid,) in recording.rows("SELECT DISTINCT tid FROM host_samples"):
                values = [value for (value,) in recording.rows(
                    f"SELECT {column} FROM host_samples WHERE tid = ? ORDER BY time_ns", tid)]
                self.assertEqual(values, sorted(values), "cumulative")

    def test_the_recording_is_the_users_own(self):
        self.record()
        self.assertEqual((self.folder / "run.db").stat().st_mode & 0o777, 0o600)


# A program with two data workers, one of which burns processor time while the other sleeps. In `direct` they are plain processes that
# nobody names; the loaders of the stand-in for PyTorch name theirs.
WORKERS = """
import ctypes, multiprocessing, sys, time
def burn(seconds):  # of processor time, which a busy machine gives in more time
    end = time.process_time() + seconds
    while time.process_time() < end:
        pass
class Items:
    def __len__(self):
        return 16
    def __getitem__(self, index):
        # Batches go to the workers in turn: the first gets the even ones.
        if index % 2 == 0:
            burn(0.4)
        else:
            time.sleep(0.4)
        return index
if __name__ == "__main__":
    context, how = sys.argv[1:]
    runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
    runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
    runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
    if how == "loader":
        import torch
        import watched
        watched.wait_until_watched(torch._C._log_api_usage_once)
        for batch in torch.utils.data.DataLoader(Items(), batch_size=1, num_workers=2, multiprocessing_context=context):
            pass
    else:
        start = multiprocessing.get_context(context).Process
        processes = [start(target=function, args=(3,)) for function in (burn, time.sleep)]
        for process in processes:
            process.start()
        for process in processes:
            process.join()
"""


class Workers(harness.TestCase):
    def record(self, context, how):
        script = self.folder / "truth.workers.py"
        script.write_text(WORKERS)
        ended = self.finish(self.start(command=[sys.executable, str(script), context, how],
                                       env={**FAST, **harness.STAND_IN}))
        self.assertEqual((ended.code, ended.stdout, ended.stderr), (0, "", ""))
        self.assertEqual(self.files(), ["run.db"], "workers leave nothing behind")
        recording = self.open()
        self.assertEqual(recording.integrity(), "ok")
        self.assertEqual(recording.count("worker_sample", "stored"), recording.rows("SELECT count(*) FROM worker_sample")[0][0])
        return recording

    def busy_and_idle(self, recording, where):
        """Seconds of processor time of the busiest worker and of the one after it."""
        used = sorted((cpu for (cpu,) in recording.rows(f"SELECT cpu_s FROM workers WHERE {where}")), reverse=True)
        self.assertGreaterEqual(len(used), 2)
        return used[:2]

    def test_a_busy_and_an_idle_worker_of_a_loader(self):
        for context in ("fork", "spawn"):
            with self.subTest(context=context):
                recording = self.record(context, "loader")
                self.assertEqual(recording.rows("SELECT count(*), count(DISTINCT loader) FROM worker WHERE loader IS NOT NULL"), [(2, 1)])
                busy, idle = self.busy_and_idle(recording, "loader IS NOT NULL")
                self.assertGreater(busy, 1)
                self.assertLess(idle, 0.6)
                recording.close()
                (self.folder / "run.db").unlink()

    def test_python_processes_that_nobody_names(self):
        for context in ("fork", "spawn"):
            with self.subTest(context=context):
                recording = self.record(context, "direct")
                busy, idle = self.busy_and_idle(recording, "loader IS NULL")
                self.assertGreater(busy, 1)
                self.assertLess(idle, 0.6)
                for pid, start, end in recording.rows("SELECT pid, start_ns, end_ns FROM workers WHERE cpu_s > 1"):
                    self.assertIsNotNone(end, "it ended before the recording")
                    self.assertGreater((end - start) / 1e9, 2)
                states = recording.rows("SELECT worker, sum(states) FROM worker_sample GROUP BY worker")
                self.assertTrue(any(count >= 6 for _, count in states), "four looks a second")
                recording.close()
                (self.folder / "run.db").unlink()


if __name__ == "__main__":
    harness.main()
