#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How fast `analyze merge` puts ranks together, beside what SQLite alone takes to copy their rows from file to file.

Prints rows, seconds of the wall and of processor time, and rows a second.
"""
import argparse
import os
import pathlib
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

import make_run

ANALYZE = pathlib.Path(os.environ.get("TRACEINJECT_BUILD", make_run.SCHEMA.parents[1] / "build" / "release")) / "bin" / "analyze"


def make_ranks(folder, ranks, events):
    """Recordings as make_run.py writes them, but for whose they are."""
    for rank in range(ranks):
        path = folder / f"run.rank{rank:05}.db"
        subprocess.run([sys.executable, make_run.__file__, path, "--events", str(events)], check=True)
        run = sqlite3.connect(path)
        run.execute("UPDATE process SET rank = ?, local_rank = ?, pid = ?, world_size = ?", (rank, rank, 100 + rank, ranks))
        run.commit()
        run.close()


def copy_rows(sources, target):
    """All tables of events, as they are: the least that a merge has to do."""
    to = sqlite3.connect(target, isolation_level=None)
    to.executescript("PRAGMA journal_mode = OFF; PRAGMA synchronous = OFF; PRAGMA cache_size = -65536;")
    to.executescript(make_run.SCHEMA.read_text())
    for source in sources:
        to.execute("ATTACH ? AS source", (f"file:{source}?immutable=1",))
        to.execute("BEGIN")
        for table in ("kernel", "api", "nvtx"):
            # An expression, as ids have to change: whole pages are not copied.
            columns = [row[1] for row in to.execute(f"PRAGMA table_info({table})")]
            to.execute(f"INSERT INTO {table} SELECT {', '.join([columns[0] + ' + 1', *columns[1:]])} FROM source.{table}")
        to.execute("COMMIT")
        to.execute("DETACH source")
    rows = sum(to.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in ("kernel", "api", "nvtx"))
    to.close()
    return rows


def timed(what, work, who):
    used, began = resource.getrusage(who), time.monotonic()
    rows = work()
    wall, now = time.monotonic() - began, resource.getrusage(who)
    cpu = now.ru_utime + now.ru_stime - used.ru_utime - used.ru_stime
    print(f"{what}: {wall:.2f} s, {cpu:.2f} s of processor time{f', {rows / wall / 1e6:.2f} million rows a second' if rows else ''}")
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--ranks", type=int, default=8)
    parser.add_argument("--events", type=int, default=200_000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        make_ranks(folder, options.ranks, options.events)
        sources = sorted(folder.glob("run.rank*.db"))
        rows = timed("SQLite alone", lambda: copy_rows(sources, folder / "plain.out"), resource.RUSAGE_SELF)
        for what, command in (("analyze merge", ["merge", folder / "run.db", "-o", folder / "merged.out"]),
                              ("analyze report of the files", ["report", folder / "run.db", "-o", folder / "apart.txt"]),
                              ("analyze report of the merged file", ["report", folder / "merged.out", "-o", folder / "together.txt"])):
            def run(words=tuple(command), count=rows if command[0] == "merge" else 0):
                subprocess.run([ANALYZE, *words], check=True)
                return count
            timed(what, run, resource.RUSAGE_CHILDREN)
        print(f"{rows:,} rows; the files have {sum(path.stat().st_size for path in sources) / 1e6:.0f} MB, merged "
              f"{(folder / 'merged.out').stat().st_size / 1e6:.0f} MB")


if __name__ == "__main__":
    main()
