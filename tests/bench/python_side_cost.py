#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What the marks cost the training thread: nanoseconds per batch and per optimizer step, on the stand-in for PyTorch and the fake GPU.

usage: python_side_cost.py BUILD    BUILD: the CMake build folder

The watched function and a copy of it take turns in one recorded process; printed is the difference of their best rounds,
which other processes disturb least. Rounds are short enough for a thread's queue, so that every mark is really stored.
"""

import json
import os
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
ROUNDS, CALLS = 40, 2000

PROGRAM = """
import ctypes, json, sys, time
import torch
runtime, memory = ctypes.CDLL("libcudart.so.13"), ctypes.c_void_p()
runtime.cudaMalloc(ctypes.byref(memory), ctypes.c_size_t(4096))
runtime.cudaMemsetAsync(memory, 0, ctypes.c_size_t(4096), None)
iterator = torch.utils.data.dataloader._BaseDataLoaderIter
import watched
assert watched.wait_until_watched(iterator.__next__, torch.optim.SGD.__dict__["step"])

class Endless(iterator):
    def __init__(self):
        self._num_yielded = 0
    def _next_data(self):
        return 0

def seconds(call, argument):
    start = time.perf_counter()
    for _ in range(CALLS):
        call(*argument)
    return time.perf_counter() - start

endless, optimizer = Endless(), torch.optim.SGD()
following, stepping = iterator.__next__, torch.optim.SGD.step.__wrapped__
calls = {"wait for data": ((following, (endless,)), (watched.unwatched_copy(following), (endless,))),
         "step mark": ((stepping, (optimizer,)), (watched.unwatched_copy(stepping), (optimizer,)))}
best = {name: [1e9, 1e9] for name in calls}
for _ in range(ROUNDS):
    for name, pair in calls.items():
        for index, (call, argument) in enumerate(pair):
            best[name][index] = min(best[name][index], seconds(call, argument) / CALLS * 1e9)
    time.sleep(0.06)
json.dump(best, sys.stdout)
""".replace("CALLS", str(CALLS)).replace("ROUNDS", str(ROUNDS))


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        environment = {**os.environ, "LD_PRELOAD": str(build / "lib" / "libtraceinject.so"), "LD_LIBRARY_PATH": str(build / "fake_gpu" / "cuda13"),
                       "PYTHONPATH": f"{ROOT}/tests/end_to_end/stand_in:{ROOT}/tests/end_to_end", "PYTHONDONTWRITEBYTECODE": "1",
                       "STAND_IN_BUILTINS": str(build / "stand_in" / "builtins.so"),
                       "TRACEINJECT_FLUSH_MS": "50", "TRACEINJECT_OUTPUT": f"{folder}/run.db"}
        ended = subprocess.run([sys.executable, "-c", PROGRAM], env=environment, capture_output=True, text=True, check=True, timeout=120)
    for name, (marked, plain) in json.loads(ended.stdout).items():
        print(f"{name}: {marked - plain:.0f} ns a call (best of {ROUNDS} rounds of {CALLS} calls: {marked:.0f} ns with, {plain:.0f} ns without)")
    return 0


if __name__ == "__main__":
    sys.exit(main())
