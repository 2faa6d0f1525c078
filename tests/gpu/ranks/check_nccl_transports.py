#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the recordings of a job of two ranks say which transport connected them, and whether a program's own NCCL output is as it
would be without the library.

  check_nccl_transports.py recorded ...   the facts in the recordings and in the report
  check_nccl_transports.py output ...     two outputs of the same program
"""

import argparse
import collections
import json
import pathlib
import re
import sqlite3
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
from checks import Checks  # noqa: E402

# How each transport is called in the report.
NAMES = {"P2P": "P2P/", "SHM": "SHM/", "Socket": "NET/Socket"}
LINKS = """
  SELECT l.rank, l.peer, l.sends, coalesce(n.text, t.text), l.channels, l.setup IS NOT NULL FROM nccl_link l
  JOIN string t ON t.id = l.transport LEFT JOIN string n ON n.id = l.network"""
SETUPS = """
  SELECT u.rank, u.size, c.hash, u.rings, u.trees, u.channels, u.nvls FROM nccl_setup u
  LEFT JOIN communicator c ON c.id = u.communicator"""

Link = collections.namedtuple("Link", "rank peer sends transport channels assigned")
Setup = collections.namedtuple("Setup", "rank size hash rings trees channels nvls")


class Recorded:
    def __init__(self, path):
        database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
        self.links = [Link(*row) for row in database.execute(LINKS)]
        self.setups = [Setup(*row) for row in database.execute(SETUPS)]
        self.health = {f"{source}.{counter}": value
                       for source, counter, value in database.execute("SELECT source, counter, value FROM health")}
        database.close()


def check_links(checks, ranks, transport):
    seen = collections.Counter(link.transport for rank in ranks for link in rank.links)
    checks.add("transport", set(seen) == {transport}, f"{dict(seen)}; expected {transport} alone")
    told = [any(link.sends and (link.rank, link.peer) == (rank, 1 - rank) for link in recorded.links)
            for rank, recorded in enumerate(ranks)]
    checks.add("each rank tells of what it sends", all(told), str(told))
    channels = [link.channels for rank in ranks for link in rank.links]
    checks.add("channels", bool(channels) and min(channels) > 0, str(sorted(set(channels))))
    assigned = sum(link.assigned for rank in ranks for link in rank.links)
    checks.note("connections whose communicator is known", f"{assigned} of {len(channels)}")


def check_setups(checks, ranks):
    setups = [setup for rank in ranks for setup in rank.setups]
    checks.add("communicators are told", all(rank.setups for rank in ranks) and all(setup.size == 2 for setup in setups),
               f"{len(setups)} setups")
    checks.add("each is known by its hash", bool(setups) and all(setup.hash is not None for setup in setups),
               f"{sum(setup.hash is not None for setup in setups)} of {len(setups)}")
    same = [{setup.hash for setup in rank.setups} for rank in ranks]
    checks.add("both ranks tell of the same ones", same[0] == same[1], f"{len(same[0])} and {len(same[1])}")
    complete = all(setup.rings and setup.trees and setup.channels for setup in setups)
    checks.add("rings, trees, channels", bool(setups) and complete,
               str(sorted({(setup.rings, setup.trees, setup.channels) for setup in setups}, key=str)))
    checks.add("no NVLS", not any(setup.nvls for setup in setups), "switched off in the environment")


def check_health(checks, ranks):
    bad = {name: rank.health[name] for rank in ranks for name in ("nccl_log.failed", "nccl_log.dropped", "writer.reopened")
           if rank.health.get(name)}
    lines = [rank.health.get("nccl_log.lines", 0) for rank in ranks]
    checks.add("the log was read whole", not bad and all(lines), f"lines that told something: {lines}; {bad or 'nothing lost'}")
    checks.note("other lines", str([rank.health.get("nccl_log.ignored", 0) for rank in ranks]))


def check_report(checks, report, transport):
    transports = report["run"]["nccl"].get("transports", [])
    names = {path["name"] for one in transports for path in one.get("paths", [])}
    checks.add("report", bool(names) and all(name.startswith(NAMES[transport]) for name in names), str(sorted(names)))
    remarks = " ".join(remark for one in transports for remark in one.get("remarks", []))
    expected = {"P2P": remarks == "", "SHM": "host memory" in remarks,
                "Socket": "TCP sockets, though both are on one host" in remarks}
    checks.add("what the report says of it", expected[transport], remarks or "nothing")


def check_quiet(checks, temporary, stdout):
    left = [path.name for path in pathlib.Path(temporary).glob("traceinject-nccl-*")]
    checks.add("no log is left behind", not left, str(left))
    shown = sum("NCCL INFO" in line for line in stdout.splitlines())
    checks.add("the program shows nothing of the log", shown == 0, f"{shown} lines")


def without_numbers(text):
    """Processes, threads, addresses, times and processors differ from run to run."""
    lines = [re.sub(r"\d+(\.\d+)?", "#", re.sub(r"0x[0-9a-f]+", "0x#", line)).rstrip() for line in text.splitlines()]
    return collections.Counter(lines)


def check_output(checks, plain, recorded):
    """As multisets of lines: NCCL's threads write in no fixed order."""
    plain, recorded = without_numbers(plain), without_numbers(recorded)
    missing, extra = plain - recorded, recorded - plain
    checks.add("output", bool(plain) and not missing and not extra,
               f"{sum(plain.values())} lines; missing {list(missing)[:3]}, too many {list(extra)[:3]}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("recorded", "output"))
    parser.add_argument("--part", required=True)
    parser.add_argument("--checks", required=True)
    parser.add_argument("--transport", choices=tuple(NAMES))
    parser.add_argument("--run-db", nargs=2)
    parser.add_argument("--report")
    parser.add_argument("--temporary", help="the folder for NCCL's log, which has to be empty")
    parser.add_argument("--stdout", help="of the recorded program")
    parser.add_argument("--plain", help="output without the library")
    parser.add_argument("--recorded", help="output with it")
    arguments = parser.parse_args()
    checks = Checks(arguments.checks, arguments.part)
    if arguments.what == "output":
        check_output(checks, pathlib.Path(arguments.plain).read_text(), pathlib.Path(arguments.recorded).read_text())
        return
    ranks = [Recorded(path) for path in arguments.run_db]
    check_links(checks, ranks, arguments.transport)
    check_setups(checks, ranks)
    check_health(checks, ranks)
    check_report(checks, json.loads(pathlib.Path(arguments.report).read_text()), arguments.transport)
    check_quiet(checks, arguments.temporary, pathlib.Path(arguments.stdout).read_text())


if __name__ == "__main__":
    main()
