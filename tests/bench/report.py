#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a full report costs by the size of the recording: time, memory, and how time grows with the number of kernels.

Recordings are made of a short real one (repeat_run.py), in a folder that is removed afterwards; 30 million kernels need 5 GB there.

    report.py build/release/bin/analyze --kernels 100000 --kernels 1000000 --kernels 10000000 --kernels 30000000
"""

import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]


def measure(analyze, recording):
    """(seconds, peak memory in bytes) of one report."""
    start = time.perf_counter()
    process = subprocess.Popen([analyze, recording], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"report.py: analyze failed on {recording}")
    return seconds, used.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("analyze", help="the program to measure")
    parser.add_argument("--kernels", type=int, action="append", help="may be repeated (default: 10 million)")
    parser.add_argument("--recording", type=pathlib.Path, default=ROOT / "samples" / "recordings" / "transformer_h200.db.zst")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--folder", help="where recordings are made (default: the system's for temporary files)")
    options = parser.parse_args()
    print(f"{len(os.sched_getaffinity(0))} processors")
    print("| kernels | report, s (median) | us a kernel | memory, GB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        recording = pathlib.Path(folder) / "run.db"
        for kernels in options.kernels or [10_000_000]:
            made = subprocess.run([sys.executable, ROOT / "tests" / "bench" / "repeat_run.py", options.recording, recording, "--kernels",
                                   str(kernels)], check=True, capture_output=True, text=True).stdout
            os.sync()  # what is still being written would slow the first run down
            count = int(made.split(":")[1].split()[0].replace(",", ""))
            runs = [measure(options.analyze, recording) for _ in range(options.runs)]
            seconds, memory = statistics.median(run[0] for run in runs), max(run[1] for run in runs)
            print(f"| {count:,} | {seconds:.2f} | {1e6 * seconds / count:.3f} | {memory / 1e9:.2f} |", flush=True)


if __name__ == "__main__":
    main()
