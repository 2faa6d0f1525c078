#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""coverage.py SUMMARY: of gcovr's JSON summary, the share of lines of each reader that inputs ran through; see coverage.sh."""
import json
import re
import sys

LEAST = 0.8
# What reads what others wrote, and where that is.
READERS = {
    "run.db": r"analyzer/import/run_db/",
    "Kineto's JSON": r"analyzer/import/(kineto/|source/(json_pieces|decimal))",
    "Nsight Systems' SQLite": r"analyzer/import/nsys/",
    "rocmProfileData": r"analyzer/import/rpd/",
    "tables of either": r"analyzer/import/foreign/",
    "rank summaries": r"analyzer/ranks/summary/(summary_file|check_summary)",
    "timelines of operations": r"analyzer/ranks/timeline/",
    "conditions of a budget": r"analyzer/compare/gate/condition",
    "requests": r"analyzer/(http/(http_message|url_text|access|credentials)|commands/serve/pages)",
    "a browser's input, links": r"viewer/serve/(input_events|view_link|link_text|view_state)",
    "viewer scripts": r"viewer/core/session/script",
    "marks": r"viewer/core/session/sidecar",
    "CUPTI's buffers": r"injector/cupti/(decoder|record_walk)",
    "NVTX": r"injector/nvtx/decoder",
    "NCCL": r"injector/nccl/(log_decoder|log_line|nccl_payload)",
    "Python's memory":
        r"injector/stacks/(python_process|python_layout|frame_walk|code_lines|code_object|attribute_reader|module_names)",
    "files of machine code": r"injector/stacks/(object_file|unwind_row|byte_reader)",
}


def main():
    if len(sys.argv) != 2 or sys.argv[1].startswith("-"):
        sys.exit(__doc__)
    try:
        with open(sys.argv[1], encoding="utf-8") as summary:
            counted = json.load(summary)["files"]
    except (OSError, ValueError, KeyError, TypeError) as error:
        sys.exit(f"coverage.py: {sys.argv[1]} is no summary of gcovr: {error}")
    files = [one for one in counted if re.search(r"\.(cc|h)$", one["filename"]) and "_test.cc" not in one["filename"]]
    below = 0
    for reader, pattern in READERS.items():
        found = [one for one in files if re.match(pattern, one["filename"])]
        lines, covered = (sum(one[name] for one in found) for name in ("line_total", "line_covered"))
        if lines == 0:
            sys.exit(f"coverage.py: no lines of {reader} ({pattern})")
        below += covered < LEAST * lines
        print(f"{reader:26} {covered:5} of {lines:5} lines  {100 * covered / lines:5.1f} %{'  too few' if covered < LEAST * lines else ''}")
        for one in sorted(found, key=lambda one: one["line_percent"]):
            if one["line_percent"] < 100 * LEAST:
                print(f"    {one['filename']}: {one['line_covered']} of {one['line_total']}")
    sys.exit(below > 0)


if __name__ == "__main__":
    main()
