#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a long recording of a short real one, to measure readers with: its steady steps, one behind the other, as often as is needed.

Kernels, calls, ranges, products, attention, waits, marks and samples of the steps are repeated with new times and correlation ids,
so that every analysis has as much to do as in a long run of that program. One process, one GPU, no collectives.

    repeat_run.py samples/recordings/transformer_h200.db.zst run.db --kernels 10000000
"""

import argparse
import pathlib
import shutil
import sqlite3
import subprocess
import sys

WARM_UP_STEPS = 12
PAUSE_NS = 1_000_000  # between two repetitions, so that their work does not overlap
HOST = {"api": "start", "sync": "start", "nvtx": "start", "gemm": "start", "attention": "start", "data_wait": "start", "host_span": "start",
        "step_mark": "time", "device_sample": "time", "device_slow_sample": "time", "host_sample": "time", "worker_sample": "time",
        "allocator_sample": "time"}
GPU = {"kernel": "start", "memcpy": "start", "memset": "start"}


def unpack(recording, output):
    if recording.suffix == ".zst":
        subprocess.run(["zstd", "-qdf", str(recording), "-o", str(output)], check=True)
    else:
        shutil.copyfile(recording, output)


def cut(run):
    """Leaves the steady steps; what a call launched belongs to the step of the call. Returns when they start and how long they take."""
    marks = [time for (time,) in run.execute("SELECT time FROM step_mark ORDER BY time")]
    if len(marks) < WARM_UP_STEPS + 3:
        sys.exit(f"repeat_run.py: the recording has {len(marks)} steps; {WARM_UP_STEPS + 3} are needed")
    first, last = marks[WARM_UP_STEPS], marks[-1]
    for table, column in HOST.items():
        run.execute(f"DELETE FROM {table} WHERE {column} < ? OR {column} >= ?", (first, last))
    run.execute("CREATE UNIQUE INDEX kept ON api (correlation)")
    for table in GPU:
        run.execute(f"DELETE FROM {table} WHERE correlation NOT IN (SELECT correlation FROM api)")
    run.execute("DROP INDEX kept")
    begin, end = run.execute("SELECT min(start), max(start + dur) FROM kernel").fetchone()
    return first, max(last - first, end - begin)


def repeat(run, table, column, times, period_ns, ids):
    names = [row[1] for row in run.execute(f"PRAGMA table_info({table})")]
    moved = {column: f"{column} + k * {period_ns}", "correlation": f"correlation + k * {ids}"}
    run.execute(f"CREATE TEMP TABLE once AS SELECT * FROM {table} ORDER BY {column}")
    run.execute(f"WITH RECURSIVE n(k) AS (SELECT 1 UNION ALL SELECT k + 1 FROM n WHERE k + 1 < {times}) "
                f"INSERT INTO {table} SELECT {', '.join(moved.get(name, name) for name in names)} FROM n CROSS JOIN once")
    run.execute("DROP TABLE once")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("recording", type=pathlib.Path)
    parser.add_argument("output", type=pathlib.Path)
    parser.add_argument("--kernels", type=int, default=10_000_000)
    options = parser.parse_args()
    unpack(options.recording, options.output)
    run = sqlite3.connect(options.output, isolation_level=None)
    run.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA temp_store = MEMORY")
    first, length_ns = cut(run)
    kernels, ids = run.execute("SELECT count(*), (SELECT max(correlation) - min(correlation) + 1 FROM api) FROM kernel").fetchone()
    times, period_ns = -(-options.kernels // kernels), length_ns + PAUSE_NS
    if times > 1:
        for table, column in {**HOST, **GPU}.items():
            repeat(run, table, column, times, period_ns, ids)
    run.execute("DELETE FROM clock_pair")
    seconds = (times * period_ns) // 1_000_000_000
    run.execute(f"WITH RECURSIVE n(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k < {seconds}) INSERT INTO clock_pair "
                f"SELECT {first} + k * 1000000000, k * 1000000000, k * 1000000000, k * 1000000000, {first} + k * 1000000000 FROM n")
    run.execute("UPDATE process SET end = ?", (first + times * period_ns,))
    run.execute("DELETE FROM health WHERE counter IN ('seen', 'stored')")
    run.execute("VACUUM")
    counts = ", ".join(f"{run.execute(f'SELECT count(*) FROM {table}').fetchone()[0]:,} {table}"
                       for table in ("kernel", "api", "nvtx", "step_mark"))
    print(f"{options.output}: {counts}; {options.output.stat().st_size / 1e9:.2f} GB")


if __name__ == "__main__":
    main()
