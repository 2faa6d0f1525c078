# SPDX-License-Identifier: Apache-2.0
"""The NVTX payloads of the real libnccl, which announces an operation before it looks for a GPU."""

import glob
import os
import subprocess
import sys
import unittest

import harness

# Makes one piece of GPU work, so that a file is made, and then the NCCL calls. They fail, having no communicator, after they were
# announced. 9: bfloat16, 7: float32; 4: average, 2: maximum.
SCRIPT = """
import ctypes, sys
runtime = ctypes.CDLL("libcudart.so.13")
memory = ctypes.c_void_p()
assert runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096)) == 0
assert runtime.cudaMemsetAsync(memory, 1, ctypes.c_size_t(4096), None) == 0
assert runtime.cudaDeviceSynchronize() == 0
nccl = ctypes.CDLL(sys.argv[1])
count = ctypes.c_size_t
assert nccl.ncclAllReduce(None, None, count(12345), 9, 4, None, None) != 0
assert nccl.ncclAllGather(None, None, count(1000), 7, None, None) != 0
assert nccl.ncclReduceScatter(None, None, count(100), 7, 2, None, None) != 0
assert nccl.ncclBroadcast(None, None, count(10), 7, 3, None, None) != 0
assert nccl.ncclReduce(None, None, count(11), 7, 0, 5, None, None) != 0
nccl.ncclGroupStart()
nccl.ncclSend(None, count(7), 7, 2, None, None)
nccl.ncclRecv(None, count(8), 7, 6, None, None)
nccl.ncclGroupEnd()
print("done")
"""

# function, bytes, reduction, peer, root
EXPECTED = [("AllReduce", 24690, 4, None, None), ("AllGather", 4000, None, None, None), ("ReduceScatter", 400, 2, None, None),
            ("Broadcast", 40, None, None, 3), ("Reduce", 44, 0, None, 5), ("Send", 28, None, 2, None), ("Recv", 32, None, 6, None)]


def find_nccl():
    listed = subprocess.run(["sh", "-c", "ldconfig -p | sed -n 's/.*libnccl.so.2 .*=> //p'"], capture_output=True, text=True,
                            check=False).stdout.split()
    patterns = [os.environ.get("CUDA_HOME", "/usr/local/cuda") + "/lib*/libnccl.so.2", "/usr/local/cuda*/lib*/libnccl.so.2"]
    patterns += [folder + "/nvidia/nccl/lib/libnccl.so.2" for folder in sys.path]
    return next(iter(listed + [path for pattern in patterns for path in sorted(glob.glob(pattern))]), None)


class Nccl(harness.TestCase):
    def test_payloads_of_the_real_library(self):
        library = find_nccl()
        if library is None:
            self.skipTest("no libnccl.so.2 was found by ldconfig, in a CUDA folder or in a Python package")
        ended = self.finish(self.start(command=[sys.executable, "-c", SCRIPT, library]))
        self.assertEqual((ended.code, ended.stdout), (0, "done\n"), ended.stderr)
        recording = self.open()
        self.assertEqual([(c.function, c.bytes, c.reduction, c.peer, c.root) for c in recording.collectives()], EXPECTED)
        self.assertEqual(recording.count("nccl", "seen"), recording.count("nccl", "stored"))
        grouped = [event.text for event in recording.nvtx() if event.domain == "NCCL"]
        self.assertIn("ncclGroupStart", grouped)
        self.assertIn("ncclGroupEnd", grouped)


if __name__ == "__main__":
    harness.main()
