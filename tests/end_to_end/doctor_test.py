# SPDX-License-Identifier: Apache-2.0
"""`analyze doctor` on machines that folders play, with the fake GPU and without one."""

import json
import os
import pathlib
import unittest

import harness

ANALYZE = harness.BUILD / "bin" / "analyze"
WITHOUT_A_DRIVER = {"LD_LIBRARY_PATH": "/nowhere"}
# Where the fake GPUs are, as /sys resolves it.
BRIDGE = "sys/devices/pci0000:17/0000:17:01.0"


class Doctor(harness.TestCase):
    def setUp(self):
        super().setUp()
        self.root = self.folder / "truth.root"
        self.write("proc/self/status", "Cpus_allowed_list:\t0-7\n")
        self.write("proc/self/mounts", "shm /dev/shm tmpfs rw,size=16777216k 0 0\n")
        self.write("proc/self/limits", "Max open files            65536                65536                files\n")
        self.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "performance\n")
        for node, cpus in (("0", "0-7"), ("1", "8-15")):
            self.write(f"sys/devices/system/node/node{node}/cpulist", cpus + "\n")
        for index in (0, 1):
            self.place_card(index, node=0)

    def write(self, name, text):
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())

    def place_card(self, index, node):
        place = f"0000:{0x18 + index:02x}:00.0"
        for name, text in (("numa_node", f"{node}\n"), ("vendor", "0x10de\n"), ("class", "0x030200\n"),
                           ("iommu_group/type", "DMA\n")):
            self.write(f"{BRIDGE}/{place}/{name}", text)
        self.write(f"{BRIDGE}/config", b"\0" * 4096)
        link = self.root / "sys/bus/pci/devices" / place
        link.parent.mkdir(parents=True, exist_ok=True)
        if not link.is_symlink():
            link.symlink_to(os.path.relpath(self.root / BRIDGE / place, link.parent))

    def examine(self, *flags, env=()):
        ended = self.play(command=[ANALYZE, "doctor", "--root", self.root, *flags], preload=False, env={
            "TRACEINJECT_OUTPUT": str(self.folder / "run.db"), **dict(env)})
        self.assertEqual(ended.stderr, "")
        return ended

    def lines(self, env=(), code=0):
        """By check: (status, text)."""
        ended = self.examine("--format", "json", env=env)
        found = json.loads(ended.stdout)
        self.assertEqual(ended.code, code, ended.stdout)
        for line in found:
            self.assertEqual(line["change"] != "", line["status"] in ("WARN", "FAIL") and "no NVIDIA GPU" not in line["text"], line)
        return {line["check"]: (line["status"], line["text"]) for line in found}

    def test_a_machine_with_two_gpus(self):
        lines = self.lines()
        self.assertEqual(lines["GPUs"], ("OK", "2 x NVIDIA H100 80GB HBM3"))
        self.assertEqual(lines["driver"], ("OK", "580.65.06, for CUDA 13.0"))
        self.assertEqual(lines["CUPTI"], ("OK", "libcupti.so.13, interface version 130001"))
        self.assertEqual(lines["recording library"], ("OK", str(harness.LIBRARY)))
        for check in ("injection variables", "hardware counters", "output folder", "CPU frequency governor", "size of /dev/shm",
                      "limit on open files", "persistence mode", "NVLink links",
                      "peer-to-peer access between the GPUs of the host", "PCIe Access Control Services (ACS)",
                      "CPU affinity and the GPU's NUMA node"):
            self.assertEqual(lines[check][0], "OK", (check, lines[check]))

    def test_what_is_amiss_is_a_warning_with_its_proof(self):
        self.write("sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n")
        self.write("proc/self/mounts", "shm /dev/shm tmpfs rw,size=65536k 0 0\n")
        self.place_card(1, node=1)
        lines = self.lines(env={"FAKE_NVML_PERSISTENCE": "0", "FAKE_NVML_PCIE_WIDTH": "8", "NCCL_P2P_DISABLE": "1",
                                "FAKE_NVML_PCIE_REPLAYS": "0"})
        for check, text in {
                "CPU frequency governor": "the CPU frequency governor is powersave",
                "size of /dev/shm": "/dev/shm size is 67.11 MB",
                "persistence mode": "GPU 0, GPU 1: persistence mode is off",
                "PCIe link": "GPU 0, GPU 1: PCIe x8, although card and slot support x16",
                "variables that keep NCCL off a faster path": "NCCL_P2P_DISABLE=1 is set",
                "CPU affinity and the GPU's NUMA node":
                    "GPU 1: the process runs on CPUs 0-7; the GPU is on NUMA node 1 (CPUs 8-15)"}.items():
            self.assertEqual(lines[check], ("WARN", text))
        self.assertNotIn("PCIe replays", lines)

    def test_what_stands_against_hardware_counters(self):
        self.write("proc/driver/nvidia/params", "EnableMSI: 1\nRmProfilingAdminOnly: 1\n")
        self.write("proc/self/status", "Cpus_allowed_list:\t0-7\nCapEff:\t0000000000000000\n")
        self.assertEqual(self.lines()["hardware counters"], ("WARN", "this user may not read performance counters"))
        self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", self.examine().stdout)
        self.write("proc/self/status", "Cpus_allowed_list:\t0-7\nCapEff:\t000001ffffffffff\n")
        self.assertEqual(self.lines()["hardware counters"][0], "OK", "root")
        self.write("proc/4711/comm", "nv-hostengine\n")
        status, text = self.lines()["hardware counters"]
        self.assertEqual(status, "?")
        self.assertIn("dcgmi profstat --pause", text)
        self.assertEqual(self.lines(env={"FAKE_NVML_MIG": "1"})["hardware counters"],
                         ("WARN", "the GPU is divided by MIG, where counters cannot be sampled"))

    def test_what_forbids_a_recording_fails(self):
        for env, check in (({"CUDA_INJECTION64_PATH": "libToolsInjection64.so"}, "injection variables"),
                           ({"TRACEINJECT_LIBRARY": "/nowhere/libtraceinject.so"}, "recording library"),
                           ({"TRACEINJECT_OUTPUT": "/proc/self/run.db"}, "output folder"),
                           ({"FAKE_GPU_DRIVER_VERSION": "11080"}, "driver"),
                           ({"FAKE_NVML_INIT_ERROR": "9"}, "GPUs"),
                           ({"TRACEINJECT": "0"}, "injection variables")):
            with self.subTest(env=env):
                self.assertEqual(self.lines(env=env, code=1)[check][0], "FAIL")

    def test_cupti_is_looked_for_where_the_library_would(self):
        found = str(harness.FAKE_GPU / "cuda12" / "libcupti.so.12")
        self.assertEqual(self.lines(env={"TRACEINJECT_CUPTI": found})["CUPTI"], ("OK", f"{found}, interface version 24"))
        self.assertEqual(self.lines(env={"FAKE_GPU_DRIVER_VERSION": "12060"})["CUPTI"],
                         ("WARN", "libcupti.so.13, interface version 130001, newer than the driver for CUDA 12.6"))

    def test_cards_without_a_driver(self):
        status, text = self.lines(env=WITHOUT_A_DRIVER, code=1)["GPUs"]
        self.assertEqual(status, "FAIL")
        self.assertIn("2 NVIDIA GPUs on the PCI bus but not usable: NVML: libnvidia-ml.so.1", text)

    def test_a_machine_without_a_gpu(self):
        for place in (self.root / "sys/bus/pci/devices").iterdir():
            place.unlink()
        lines = self.lines(env=WITHOUT_A_DRIVER)
        self.assertEqual(lines["GPUs"][0], "WARN")
        self.assertIn("no NVIDIA GPU on this machine", lines["GPUs"][1])
        self.assertNotIn("driver", lines)
        self.assertNotIn("persistence mode", lines)
        self.assertEqual(lines["size of /dev/shm"][0], "OK")

    def test_the_text_says_the_same(self):
        ended = self.examine(env={"FAKE_NVML_PERSISTENCE": "0"})
        self.assertEqual(ended.code, 0)
        self.assertIn("\nWARN  persistence mode: GPU 0, GPU 1: persistence mode is off\n        try: nvidia-persistenced", ended.stdout)
        self.assertRegex(ended.stdout, r"\n\n\d+ OK, \d+ warnings, 0 failed, \d+ unknown\n$")

    def test_the_machine_that_it_runs_on(self):
        ended = self.play(command=[ANALYZE, "doctor"], preload=False)
        self.assertIn(ended.code, (0, 1))
        self.assertIn("OK    GPUs: 2 x ", ended.stdout)
        self.assertTrue(pathlib.Path("/proc/self/limits").exists() and "limit on open files" in ended.stdout)


if __name__ == "__main__":
    harness.main()
