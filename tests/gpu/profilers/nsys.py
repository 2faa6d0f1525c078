#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds what analyze says of an export of Nsight Systems against nsys's own statistics of it. Run by nsys.sh."""

import argparse
import collections
import csv
import json
import pathlib
import subprocess
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import checks  # noqa: E402

ABOUT_FILES = ("path", "schema_version", "tool_version")


def rows_of(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


def without_files(told, path):
    if isinstance(told, dict):
        return {name: without_files(value, path) for name, value in told.items() if name not in ABOUT_FILES}
    if isinstance(told, list):
        return [without_files(value, path) for value in told]
    return told.replace(str(path), "it") if isinstance(told, str) else told


class Export:
    def __init__(self, analyze, out):
        self.analyze, self.out, self.path = analyze, out, out / "report1.sqlite"
        self.checks = checks.Checks(out / "checks.jsonl", "nsys")

    def ask(self, *words):
        return subprocess.run([str(word) for word in (self.analyze, *words)], check=True, capture_output=True, text=True).stdout

    def sql(self, query):
        return list(csv.DictReader(self.ask("sql", self.path, query, "--format", "csv").splitlines()))

    def compare_kernels(self):
        expected = {row["Name"]: (int(row["Instances"]), int(row["Total Time (ns)"]))
                    for row in rows_of(self.out / "stats_cuda_gpu_kern_sum.csv")}
        found = {row["name"]: (int(row["calls"]), int(row["ns"])) for row in self.sql(
            "SELECT name, count(*) AS calls, sum(dur_ns) AS ns FROM kernels GROUP BY name")}
        differing = [name for name in expected.keys() | found.keys() if expected.get(name) != found.get(name)]
        self.checks.add("kernels", not differing, f"{len(expected)} names, {len(differing)} differ: {sorted(differing)[:3]}")

    def compare_copies(self):
        expected = collections.Counter({row["Operation"]: int(row["Count"]) for row in rows_of(self.out / "stats_cuda_gpu_mem_time_sum.csv")})
        copies, memsets = (int(self.sql(f"SELECT count(*) AS n FROM {table}")[0]["n"]) for table in ("memcpys", "memsets"))
        self.checks.add("copies and memsets", sum(expected.values()) == copies + memsets,
                        f"nsys counts {dict(expected)}, analyze {copies} and {memsets}")

    def compare_import(self):
        recording = self.out / "imported.db"
        self.ask("import", self.path, "-o", recording, "--force")
        one, other = (without_files(json.loads(self.ask("report", path, "--format", "json")), path) for path in (self.path, recording))
        self.checks.add("import", one == other, "the export and the recording made of it report the same")
        linked = one["health"].get("join") or one["health"]
        self.checks.note("health", json.dumps(linked)[:300])
        self.checks.note("verdict", f"{one['verdict']['label']}, {len(one['devices'])} devices")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--analyze", required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    options = parser.parse_args()
    (options.out / "checks.jsonl").write_text("")
    export = Export(options.analyze, options.out)
    export.compare_kernels()
    export.compare_copies()
    export.compare_import()
    return checks.summary(options.out / "checks.jsonl", options.out / "results.json")


if __name__ == "__main__":
    sys.exit(main())
