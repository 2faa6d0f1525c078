#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes a long recording of a short real one, to measure readers with: its steady steps, one behind the other, as often as is needed.

Kernels, calls, ranges, products, attention, collectives, waits, marks and samples of the steps are repeated with new times and ids, so
that every analysis has as much to do as in a long run of that program. One process, one GPU.

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
        "allocator_sample": "time", "stack_sample": "time", "collective": "start"}
PLANS = {"collective_plan": "time"}  # of the collectives
GPU = {"kernel": "start", "memcpy": "start", "memset": "start"}


def drop_absent(run, tables):
    """Without those that the recording, which may be older, does not have."""
    there = {name for (name,) in run.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {table: column for table, column in tables.items() if table in there}


def unpack(recording, output):
    if recording.suffix == ".zst":
        subprocess.run(["zstd", "-qdf", str(recording), "-o", str(output)], check=True)
    else:
        shutil.copyfile(recording, output)


def cut(run, steps=None):
    """Leaves the steady steps, or the first of them; what a call launched belongs to the step of the call. Returns when they start and how
    long they take."""
    marks = [time for (time,) in run.execute("SELECT time FROM step_mark ORDER BY time")]
    if len(marks) < WARM_UP_STEPS + 3:
        sys.exit(f"repeat_run.py: the recording has {len(marks)} steps; {WARM_UP_STEPS + 3} are needed")
    marks = marks[WARM_UP_STEPS:][:steps and steps + 1]
    first, last = marks[0], marks[-1]
    for table, column in drop_absent(run, HOST).items():
        run.execute(f"DELETE FROM {table} WHERE {column} < ? OR {column} >= ?", (first, last))
    run.execute("CREATE UNIQUE INDEX kept ON api (correlation)")
    for table in GPU:
        run.execute(f"DELETE FROM {table} WHERE correlation NOT IN (SELECT correlation FROM api)")
    run.execute("DROP INDEX kept")
    run.execute("DELETE FROM collective_plan WHERE collective NOT IN (SELECT id FROM collective)")
    begin, end = run.execute("SELECT min(start), max(start + dur) FROM kernel").fetchone()
    return first, max(last - first, end - begin)


def span(run, table, column):
    return run.execute(f"SELECT coalesce(max({column}) - min({column}) + 1, 0) FROM {table}").fetchone()[0]


def repeat_all(run, times, period_ns):
    """Puts `times` copies of the steps behind each other."""
    by = {"correlation": span(run, "api", "correlation"), "sequence": span(run, "collective_plan", "sequence"), "launch_start": period_ns}
    collectives = span(run, "collective", "id")
    for table, column in drop_absent(run, {**HOST, **GPU, **PLANS}).items():
        repeat(run, table, times, {**by, column: period_ns, "id" if table == "collective" else "collective": collectives})


def repeat(run, table, times, by):
    """`by`: for each column that changes from one copy to the next, by how much."""
    names = [row[1] for row in run.execute(f"PRAGMA table_info({table})")]
    moved = {column: f"{column} + k * {step}" for column, step in by.items()}
    column = HOST.get(table) or GPU.get(table) or PLANS[table]
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
    kernels = run.execute("SELECT count(*) FROM kernel").fetchone()[0]
    times, period_ns = -(-options.kernels // kernels), length_ns + PAUSE_NS
    if times > 1:
        repeat_all(run, times, period_ns)
    finish(run, first, times * period_ns)
    counts = ", ".join(f"{run.execute(f'SELECT count(*) FROM {table}').fetchone()[0]:,} {table}"
                       for table in ("kernel", "api", "nvtx", "step_mark"))
    print(f"{options.output}: {counts}; {options.output.stat().st_size / 1e9:.2f} GB")


def finish(run, first, length_ns):
    """What says of the whole recording how long it is and what is in it."""
    run.execute("DELETE FROM clock_pair")
    seconds = length_ns // 1_000_000_000
    proc = "1, " if any(row[1] == "proc" for row in run.execute("PRAGMA table_info(clock_pair)")) else ""  # since version 5
    run.execute(f"WITH RECURSIVE n(k) AS (SELECT 0 UNION ALL SELECT k + 1 FROM n WHERE k < {seconds}) INSERT INTO clock_pair "
                f"SELECT {proc}{first} + k * 1000000000, k * 1000000000, k * 1000000000, k * 1000000000, {first} + k * 1000000000 FROM n")
    run.execute("UPDATE process SET end = ?", (first + length_ns,))
    run.execute("DELETE FROM health WHERE counter IN ('seen', 'stored')")
    run.execute("VACUUM")


if __name__ == "__main__":
    main()
