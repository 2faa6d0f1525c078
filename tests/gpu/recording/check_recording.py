#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a recording of one or several processes by itself: joins, losses, and the partition that `analyze` reports.

The partition is computed a second time here, by a sweep over the intervals in the database, and must agree to the nanosecond.
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
from checks import Checks  # noqa: E402
from run_db import RunDb  # noqa: E402

JOIN_GOAL = 0.999
PARTS = ("compute_ns", "exposed_communication_ns", "exposed_copy_ns", "idle_ns")


def check_file(checks, database):
    kernels = database.count("kernel")
    checks.add("recorded something", kernels > 0, f"{kernels} kernels, {database.count('memcpy')} copies, "
               f"{database.count('memset')} memsets, {database.count('api')} calls, {database.count('nvtx')} NVTX ranges, "
               f"{database.count('collective')} collectives, {database.path.stat().st_size} bytes: {database.path.name}")
    closed = database.db.execute("SELECT count(*) FROM meta WHERE key = 'closed' AND CAST(value AS INTEGER) = 1").fetchone()[0] == 1
    alone = not database.path.with_name(database.path.name + "-wal").exists()
    checks.add("closed cleanly, one file", closed and alone,
               f"meta.closed is {'' if closed else 'not '}set, {'no' if alone else 'a'} -wal file is left")
    for source, (operations, joined) in sorted(database.join_counts().items()):
        checks.add(f"{source} rows join exactly one launch", joined >= JOIN_GOAL * operations,
                   f"{joined} of {operations} ({joined / operations:.4%})", operations=operations, joined=joined)
    health = database.health()
    lost = {name: value for name, value in health.items()
            if value and name.endswith((".dropped", ".exhausted", ".refused", ".errors", ".max_size", ".failed"))}
    checks.add("nothing lost", bool(health) and not lost, "health counters of losses are 0" if not lost else str(lost))
    seen, stored = health.get("kernel.seen"), health.get("kernel.stored")
    checks.add("kernels seen, stored and in the file agree", seen == stored == kernels, f"{seen} seen, {stored} stored, {kernels} rows")


def sweep(intervals):
    """Exact partition of [first start, last end) as analyze defines it. O(n log n)."""
    edges = []
    for start, end, is_communication, is_kernel in intervals:
        lane = 1 if is_communication else 0 if is_kernel else 2
        edges += [(start, 1, lane), (end, -1, lane)]
    edges.sort()
    depth, parts, last = [0, 0, 0], dict.fromkeys(PARTS, 0), edges[0][0]
    for moment, change, lane in edges:
        part = next((name for name, count in zip(PARTS, depth) if count), "idle_ns")
        parts[part] += moment - last
        depth[lane] += change
        last = moment
    return parts


def check_partitions(checks, report, databases, expected):
    devices = report["devices"]
    checks.add("partitions reported", len(devices) == expected, f"{len(devices)}, expected {expected}")
    for device in devices:
        label, partition = device["label"], {name: int(value) for name, value in device["partition"].items() if name.endswith("_ns")}
        total = sum(partition[part] for part in PARTS)
        checks.add(f"partition of {label} sums exactly", total == partition["wall_ns"] > 0,
                   f"{' + '.join(str(partition[part]) for part in PARTS)} = {total}, wall {partition['wall_ns']} ns")
        own = sweep(databases[int(device["source"])].intervals_by_device()[int(device["ordinal"])])
        same = all(own[part] == partition[part] for part in PARTS)
        checks.add(f"partition of {label} agrees with a second computation", same,
                   "to the nanosecond" if same else f"reported {partition}, computed {own}")


def check_peer_copies(checks, database, least):
    copies = database.one("SELECT count(*) FROM memcpy WHERE src_device IS NOT NULL AND dst_device IS NOT NULL "
                          "AND src_device <> dst_device")
    checks.add("copies between the devices", copies >= least, f"{copies} recorded, at least {least} issued")


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--run-db", nargs="+", required=True, metavar="RUN.DB", help="one a rank, in the order of ranks")
    parser.add_argument("--report", required=True, metavar="REPORT.JSON", help="of all of them: analyze --format json")
    parser.add_argument("--partitions", type=int, required=True, help="(process, GPU) pairs that the report must hold")
    parser.add_argument("--peer-copies", type=int, default=0, help="copies between devices that the program issued at least")
    parser.add_argument("--checks", required=True, metavar="FILE", help="outcomes are appended here")
    parser.add_argument("--part", required=True, help="name of this recording in the outcomes")
    return parser.parse_args()


def main():
    options = parse_options()
    databases = [RunDb(path) for path in options.run_db]
    for rank, database in enumerate(databases):
        check_file(Checks(options.checks, f"{options.part} rank {rank}" if len(databases) > 1 else options.part), database)
    checks = Checks(options.checks, options.part)
    with open(options.report) as file:
        report = json.load(file)
    checks.add("files in one report", len(report["sources"]) == len(databases),
               f"{len(report['sources'])} of {len(databases)}")
    check_partitions(checks, report, databases, options.partitions)
    if options.peer_copies:
        check_peer_copies(checks, databases[0], options.peer_copies)


if __name__ == "__main__":
    main()
