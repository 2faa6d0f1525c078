#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes what fuzz targets change: small files cut from the recordings in samples/recordings, in the formats that are
read. Needs the built programs, and zstd:

    tests/fuzz/make_bases.py build/release

Tables lose their keys and what their columns must not hold, so that changes may break every rule of the schema."""

import contextlib
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parents[2]
RECORDINGS = ROOT / "samples" / "recordings"
BASES = ROOT / "tests" / "fuzz" / "bases"
sys.path.insert(0, str(ROOT / "tests" / "end_to_end"))
import nsys_export  # noqa: E402
import rare_parts  # noqa: E402

# Name of a base: recording, the first of its steps that stay, how many do, and one in how many calls stays.
CUTS = {
    "host": ("slow_numpy_h100.db.zst", 6, 5, 1),
    "rank0": ("ddp_h200/run.rank00000.db.zst", 8, 4, 32),
    "rank1": ("ddp_h200/run.rank00001.db.zst", 8, 4, 32),
}
# What belongs to a call, by the column that tells which. Others stay if they are of the time.
OF_CALLS = ("kernel", "memcpy", "memset", "api")
# What is looked at now and then stays for so long before and after, so that some of it is left.
AROUND_NS = {"device_sample": 10**9, "device_slow_sample": 10**10, "allocator_sample": 10**10, "host_sample": 10**9,
             "worker_sample": 10**9, "clock_pair": 10**10, "host_span": 10**9}


def connect(path):
    return contextlib.closing(sqlite3.connect(path))


def unpack(archive, path):
    subprocess.run(["zstd", "-dqf", str(archive), "-o", str(path)], check=True)


def pack(path, base):
    subprocess.run(["zstd", "-19", "-qf", str(path), "-o", str(BASES / f"{base}.zst")], check=True)


def tables(database):
    return [name for name, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name")]


def columns(database, table):
    return [row[1] for row in database.execute(f'PRAGMA table_info("{table}")')]


def cut(path, first, steps, one_in):
    """Leaves so many steps in the recording, and of those the chosen calls with all that they launched."""
    with connect(path) as database:
        marks = [time for time, in database.execute("SELECT time FROM step_mark ORDER BY time")]
        begin, end = marks[first - 1], marks[first - 1 + steps]
        for table in tables(database):
            names = columns(database, table)
            time = next((name for name in ("start", "time", "realtime") if name in names), None)
            if time is not None and table not in ("process", "worker", "memory_operation"):
                database.execute(f'DELETE FROM "{table}" WHERE "{time}" NOT BETWEEN ? AND ?',
                                 (begin - AROUND_NS.get(table, 0), end + AROUND_NS.get(table, 0)))
            if table in OF_CALLS:
                database.execute(f"DELETE FROM {table} WHERE correlation % ? <> 0", (one_in,))
        for table in OF_CALLS[:3]:
            database.execute(f"DELETE FROM {table} WHERE correlation NOT IN (SELECT correlation FROM api)")
        if "stack" in tables(database):
            database.execute("DELETE FROM stack WHERE id NOT IN (WITH RECURSIVE used(id) AS (SELECT stack FROM stack_sample "
                             "UNION SELECT s.parent FROM stack s JOIN used u ON s.id = u.id) "
                             "SELECT id FROM used WHERE id IS NOT NULL)")
            database.execute("DELETE FROM code_place WHERE id NOT IN (SELECT place FROM stack)")
        database.commit()
        database.execute("VACUUM")


def loosen(path):
    """The same tables without keys, constraints, and views."""
    with connect(path) as database:
        for view, in database.execute("SELECT name FROM sqlite_schema WHERE type = 'view'").fetchall():
            database.execute(f'DROP VIEW "{view}"')
        for table in tables(database):
            database.execute(f'ALTER TABLE "{table}" RENAME TO "strict"')
            database.execute(f'CREATE TABLE "{table}" AS SELECT * FROM "strict"')
            database.execute('DROP TABLE "strict"')
        database.commit()
        database.execute("VACUUM")


def make_rare(work, analyze):
    """The bases with what recordings have seldom."""
    trace, recording, export = (work / f"rare{name}" for name in ("_trace.json", ".db", ".sqlite"))
    rare_parts.write_trace(trace)
    subprocess.run([str(analyze), "import", str(trace), "--no-progress", "-o", str(recording)], check=True, stdout=subprocess.DEVNULL)
    with connect(recording) as database:
        rare_parts.add_to_recording(database)
    shutil.copy(work / "rank0.sqlite", export)
    with connect(export) as database:
        rare_parts.add_to_export(database)


def main():
    build = pathlib.Path(sys.argv[1]) if len(sys.argv) == 2 else sys.exit(__doc__)
    BASES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        for base, (recording, first, steps, one_in) in CUTS.items():
            path = work / f"{base}.db"
            unpack(RECORDINGS / recording, path)
            cut(path, first, steps, one_in)
        sources = work / "host.db", work / "rank0.db"
        for path in sources:
            nsys_export.write_export(path, work / f"{path.stem}.sqlite")
            for name in ("trace.json", "trace.rpd"):
                subprocess.run([str(build / "bin" / "analyze"), "export", str(path), "--no-progress", "-o",
                                str(work / f"{path.stem}_{name}")], check=True, stdout=subprocess.DEVNULL)
        make_rare(work, build / "bin" / "analyze")
        for path in sorted(work.iterdir()):
            if path.suffix != ".json":
                loosen(path)
            pack(path, path.name)
    for path in sorted(BASES.iterdir()):
        print(f"{path.stat().st_size:9,} {path.name}")


main()
