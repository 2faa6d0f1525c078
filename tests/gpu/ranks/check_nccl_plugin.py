#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Compares the NCCL operations of a recording with what the program issued, and how they were carried out with what was asked for."""

import argparse
import collections
import json
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
from checks import Checks  # noqa: E402
from run_db import RunDb  # noqa: E402

LINK_GOAL = 0.999
POINT_TO_POINT = ("Send", "Recv")
OPERATIONS = """
  SELECT c.id, f.text, c.bytes, d.text, a.text, o.text, p.collective IS NOT NULL, c.communicator, p.sequence
  FROM collective c JOIN string f ON f.id = c.function LEFT JOIN collective_plan p ON p.collective = c.id
  LEFT JOIN string d ON d.id = p.datatype LEFT JOIN string a ON a.id = p.algorithm LEFT JOIN string o ON o.id = p.protocol"""
# The launch of a kernel inside the time that NCCL gave for it, on the same thread.
LAUNCHED = """
  SELECT DISTINCT a.correlation FROM collective_plan p JOIN api a ON a.thread = p.thread AND a.start >= p.launch_start
    AND a.start < p.launch_start + p.launch_dur JOIN api_name n ON n.id = a.name WHERE n.class = 1"""
# Before version 5 NCCL gives no such time, but tells of the operation right after the launch.
LAUNCHED_BEFORE = """
  SELECT DISTINCT (SELECT a.correlation FROM api a JOIN api_name n ON n.id = a.name
                   WHERE n.class = 1 AND a.thread = p.thread AND a.start < p.time ORDER BY a.start DESC LIMIT 1)
  FROM collective_plan p WHERE p.launch_start IS NULL"""
NEWEST = 5
TOLD_IN_BYTES = ("AllGather", "Broadcast")  # before version 5

Operation = collections.namedtuple("Operation", "number function bytes datatype algorithm protocol planned communicator sequence")


def check_issued(checks, operations, issued):
    """Counts and bytes, for the sizes that the program wrote down."""
    expected = {(entry["function"], entry["bytes"]): entry["count"] for entry in issued}
    numbers = collections.defaultdict(set)
    for operation in operations:
        numbers[operation.function, operation.bytes].add(operation.number)
    found = {key: len(numbers[key]) for key in expected}
    different = {f"{key[0]} of {key[1]} bytes": (found[key], expected[key]) for key in expected if found[key] != expected[key]}
    checks.add("each operation issued is there once", bool(expected) and not different,
               f"{sum(expected.values())} operations of {len(expected)} kinds" if not different else
               f"recorded, issued: {dict(list(different.items())[:4])}")


def check_plans(checks, operations, issued, interface):
    expected = {(entry["function"], entry["bytes"]):
                entry["datatype"] if interface == NEWEST or entry["function"] not in TOLD_IN_BYTES else None for entry in issued}
    own = [operation for operation in operations if (operation.function, operation.bytes) in expected]
    planned = sum(operation.planned for operation in own)
    checks.add("NCCL told how each was carried out", bool(own) and planned == len(own), f"{planned} of {len(own)}")
    wrong = collections.Counter((operation.function, operation.datatype) for operation in own
                                if operation.datatype != expected[operation.function, operation.bytes])
    checks.add("datatypes", not wrong, "as issued" if not wrong else str(dict(wrong)))


def check_choice(checks, operations, algorithm, protocol):
    """What the environment asked for; without that, only that something was chosen. NVLS is switched off."""
    own = [operation for operation in operations if operation.planned and operation.function not in POINT_TO_POINT]
    chosen = collections.Counter((operation.algorithm, operation.protocol) for operation in own)
    if algorithm and protocol:
        passed = set(chosen) == {(algorithm, protocol)}
    else:
        passed = bool(chosen) and not any(one is None for choice in chosen for one in choice)
    text = ", ".join(f"{count} x {one} {other}" for (one, other), count in chosen.most_common())
    checks.add("algorithm and protocol", passed, f"{text}; asked for: {algorithm or 'any'} {protocol or 'any'}")
    checks.add("no NVLS", not any((one or "").startswith("NVLS") for one, _ in chosen), "switched off in the environment")


def check_sequences(checks, operations):
    """Numbers of one function on one communicator count up one by one."""
    numbers = collections.defaultdict(list)
    for operation in operations:
        if operation.sequence is not None:
            numbers[operation.communicator, operation.function].append(operation.sequence)
    broken = [key for key, seen in numbers.items() if sorted(seen) != list(range(min(seen), min(seen) + len(seen)))]
    checks.add("sequence numbers without holes", bool(numbers) and not broken, f"{len(numbers)} sequences, {len(broken)} broken")


def check_interface(checks, database, interface):
    """That the interface is the one that was left: only the newest gives the time of the launch, and the communicator's hosts come
    with version 4."""
    launches = {row[0] for row in database.db.execute("SELECT DISTINCT launch_start IS NOT NULL FROM collective_plan")}
    hosts = {row[0] for row in database.db.execute(
        "SELECT DISTINCT nodes IS NOT NULL FROM communicator WHERE id IN (SELECT communicator FROM collective)")}
    checks.add("version of the interface", launches == {int(interface == NEWEST)} and hosts == {int(interface >= 4)}, f"{interface}")


def check_kernels(checks, database, interface):
    kernels = database.db.execute(
        "SELECT k.correlation FROM kernel k JOIN kernel_shape h ON h.id = k.shape JOIN string n ON n.id = h.name "
        "WHERE n.text LIKE '%nccl%' AND k.graph_node IS NULL").fetchall()
    launched = {row[0] for row in database.db.execute(LAUNCHED if interface == NEWEST else LAUNCHED_BEFORE)}
    linked = sum(row[0] in launched for row in kernels)
    checks.add("NCCL kernels lead to their operations", bool(kernels) and linked >= LINK_GOAL * len(kernels),
               f"{linked} of {len(kernels)}", linked=linked, kernels=len(kernels))


def check_health(checks, database):
    health = database.health()
    lost = {name: value for name, value in health.items() if name in ("nccl_plugin.dropped", "nccl_plugin.unlinked", "nccl.dropped")}
    agree = health.get("nccl_plugin.seen") == health.get("nccl_plugin.stored")
    checks.add("nothing lost", not lost and agree, f"{health.get('nccl_plugin.seen')} told, {health.get('nccl_plugin.stored')} stored"
               + (f", {lost}" if lost else ""))


def check_report(checks, report):
    nccl = report["run"]["nccl"]
    kernels, linked = int(nccl.get("kernels", 0)), int(nccl.get("linked_kernels", 0))
    checks.add("analyze joins the kernels to calls", kernels > 0 and linked >= LINK_GOAL * kernels, f"{linked} of {kernels}")
    told = sorted({f"{row['algorithm']} {row['protocol']}" for row in nccl["rows"] if "algorithm" in row})
    checks.add("analyze tells algorithm and protocol", bool(told), ", ".join(told) or "none")


def check(checks, database, issued, report, algorithm=None, protocol=None, interface=NEWEST):
    operations = [Operation(*row) for row in database.db.execute(OPERATIONS)]
    check_issued(checks, operations, issued)
    check_plans(checks, operations, issued, interface)
    check_choice(checks, operations, algorithm, protocol)
    check_sequences(checks, operations)
    check_interface(checks, database, interface)
    check_kernels(checks, database, interface)
    check_health(checks, database)
    check_report(checks, report)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--part", required=True)
    parser.add_argument("--checks", required=True)
    parser.add_argument("--run-db", required=True, nargs="+")
    parser.add_argument("--issued", required=True, nargs="+", help="one for each recording, in the same order")
    parser.add_argument("--report", required=True)
    parser.add_argument("--interface", type=int, default=NEWEST, help="version that NCCL was left with")
    parser.add_argument("--algorithm")
    parser.add_argument("--protocol")
    options = parser.parse_args()
    if len(options.run_db) != len(options.issued):
        parser.error("give as many logs of operations as recordings")
    with open(options.report) as file:
        report = json.load(file)
    for rank, (path, log) in enumerate(zip(options.run_db, options.issued)):
        with open(log) as file:
            issued = json.load(file)
        check(Checks(options.checks, f"{options.part} rank {rank}"), RunDb(path), issued, report, options.algorithm, options.protocol,
              options.interface)


if __name__ == "__main__":
    main()
