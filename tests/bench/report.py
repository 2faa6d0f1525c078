#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a full report costs by the size of the recording: time, memory, how time grows with the number of kernels, and how much of the
processor time SQLite takes to read the rows.

SQLite's part is measured apart, in a process that reads the same columns of the same tables as analyze does, with the function that
analyze reads with, and does nothing with them (analyzer/import/open/bare_read.cc; cmake -DTRACEINJECT_BENCH=ON). Without that program
(--bare-read) Python reads and compares them, which takes a fifth longer: the share is then too large.

Recordings are made of a short real one (repeat_run.py), in a folder that is removed afterwards; 30 million kernels need 5 GB there.

    report.py build/release/bin/analyze --bare-read build/release/bin/bare_read --kernels 100000 --kernels 1000000 --kernels 10000000
"""

import argparse
import collections
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
# What analyze reads of the tables that grow with the recording (analyzer/import/run_db/run_db_events.cc).
READ = {
    "kernel": "start, dur, stream, shape, correlation, graph_node",
    "memcpy": "start, dur, stream, kind, src_kind, dst_kind, async, bytes, correlation, graph_node, src_device, dst_device",
    "memset": "start, dur, stream, bytes, correlation, graph_node",
    "api": "start, dur, thread, name, correlation, result",
    "sync": "start, dur, thread, kind, event, stream",
    "nvtx": "start, dur, thread, kind, domain, text, category",
    "gemm": "start, dur, thread, shape",
    "attention": "start, dur, thread, shape, direction",
}
Cost = collections.namedtuple("Cost", "seconds processor_s memory_bytes")


def cost_of(command):
    start = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, used = os.wait4(process.pid, 0)
    seconds = time.perf_counter() - start
    if os.waitstatus_to_exitcode(status) != 0:
        sys.exit(f"report.py: {command[0]} failed")
    return Cost(seconds, used.ru_utime + used.ru_stime, used.ru_maxrss * 1024)


def bare_read(program, recording):
    """A command that reads every value and does nothing with it, one call of a function a row."""
    if program:
        return [program, recording, *(part for table in READ.items() for part in table)]
    queries = [f"SELECT count(max({columns})) FROM {table}" for table, columns in READ.items()]
    script = "import sqlite3, sys\nrun = sqlite3.connect(f'file:{sys.argv[1]}?immutable=1', uri=True)\n"
    script += "".join(f"run.execute({query!r}).fetchall()\n" for query in queries)
    return [sys.executable, "-c", script, recording]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("analyze", help="the program to measure")
    parser.add_argument("--kernels", type=int, action="append", help="may be repeated (default: 10 million)")
    parser.add_argument("--recording", type=pathlib.Path, default=ROOT / "samples" / "recordings" / "transformer_h200.db.zst")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--bare-read", help="the program bare_read of the same build")
    parser.add_argument("--folder", help="where recordings are made (default: the system's for temporary files)")
    options = parser.parse_args()
    print(f"{len(os.sched_getaffinity(0))} processors")
    print("| kernels | report, s (median) | processor, s | us a kernel | memory, GB | SQLite alone, s | its share |")
    print("|---|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory(dir=options.folder) as folder:
        recording = pathlib.Path(folder) / "run.db"
        for kernels in options.kernels or [10_000_000]:
            made = subprocess.run([sys.executable, ROOT / "tests" / "bench" / "repeat_run.py", options.recording, recording, "--kernels",
                                   str(kernels)], check=True, capture_output=True, text=True).stdout
            os.sync()  # what is still being written would slow the first run down
            count = int(made.split(":")[1].split()[0].replace(",", ""))
            # Turn about, so that other load of the machine meets both alike.
            pairs = [(cost_of([options.analyze, recording]), cost_of(bare_read(options.bare_read, recording))) for _ in range(options.runs)]
            seconds, processor_s = (statistics.median(report[part] for report, _ in pairs) for part in range(2))
            memory = max(report.memory_bytes for report, _ in pairs)
            sqlite_s = statistics.median(read.processor_s for _, read in pairs)
            print(f"| {count:,} | {seconds:.2f} | {processor_s:.2f} | {1e6 * processor_s / count:.3f} | {memory / 1e9:.2f} "
                  f"| {sqlite_s:.2f} | {100 * sqlite_s / processor_s:.0f} % |", flush=True)


if __name__ == "__main__":
    main()
