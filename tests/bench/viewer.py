#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What traceview costs: time to the first rows and to all of them, memory, and CPU time, draw commands and vertices of a frame at zooms from everything to 1 ms.

usage: viewer.py BUILD [--events N] [--generated N]    BUILD: the CMake folder of a release build

A recording of N events (default 10 million) is written to a temporary folder and read; then frames of a run of N events generated in
memory (default 100 million, which needs 3.3 GB) are measured. Exits with 1 if a limit is broken. Needs no display; run it on a machine
that does nothing else.
"""

import argparse
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
FRAMES = 500
LIMITS = {"first_rows_s": 1.5, "whole_s": 10, "read_s": 10, "bytes_an_event": 36, "picture_bytes_an_event": 68, "frame_ms": 4, "frame_ms_generated": 8, "draw_commands": 200}

broken = []


def report(what, value, limit, unit=""):
    print(f"{what:<52} {value:>10.2f} {unit:<5} limit {limit}")
    if value > limit:
        broken.append(what)


def run(command):
    """Its output, seconds and peak memory in bytes. --check tells a recording that lacks something by 1."""
    environment = {name: value for name, value in os.environ.items() if name not in ("DISPLAY", "WAYLAND_DISPLAY")}
    began = time.monotonic()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, env=environment)
    output = process.stdout.read()
    _, status, usage = os.wait4(process.pid, 0)
    seconds = time.monotonic() - began
    if os.waitstatus_to_exitcode(status) not in (0, 1):
        sys.exit(f"{' '.join(command)} failed")
    return output, seconds, usage.ru_maxrss * 1024


def make_run(path, events):
    subprocess.run([sys.executable, str(HERE / "make_run.py"), path, "--events", str(events)], check=True)


def measure_opening(frames):
    report("as a window: first rows", frames["first_rows_s"], LIMITS["first_rows_s"], "s")
    report("as a window: everything", frames["whole_s"], LIMITS["whole_s"], "s")


def measure_frames(what, frames, limit_ms):
    report(f"{what}: frame, p95", frames["frame_ms"]["p95"], limit_ms, "ms")
    for zoom in frames["zooms"]:
        report(f"{what}: frame of {zoom['span_ns'] / 1e6:.0f} ms, p95", zoom["frame_ms"]["p95"], limit_ms, "ms")
    report(f"{what}: draw commands, most", frames["draw_commands"]["max"], LIMITS["draw_commands"])
    print(f"{what}: query p95 {frames['query_ms']['p95']} ms, vertices p95 {frames['vertices']['p95']}, "
          f"lanes {frames['lane_bytes'] / frames['events']:.1f} bytes an event")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("build", type=pathlib.Path)
    parser.add_argument("--events", type=int, default=10_000_000)
    parser.add_argument("--generated", type=int, default=100_000_000)
    arguments = parser.parse_args()
    traceview = str(arguments.build / "bin" / "traceview")
    with tempfile.TemporaryDirectory() as folder:
        recording = os.path.join(folder, "run.db")
        make_run(recording, arguments.events)
        _, seconds, peak = run([traceview, recording, "--check"])
        report("read and arranged", seconds, LIMITS["read_s"], "s")
        report("peak memory without graphics, an event", peak / arguments.events, LIMITS["bytes_an_event"], "bytes")
        small = os.path.join(folder, "small.db")
        make_run(small, 1000)
        picture = os.path.join(folder, "run.png")
        _, _, graphics = run([traceview, small, "--screenshot", picture])
        _, _, peak = run([traceview, recording, "--screenshot", picture])
        # What OpenGL takes, 100 MB and more where it is software, takes no part in events. The report is made meanwhile, which takes
        # what the lanes alone do not.
        print(f"peak memory of a picture: {peak / 1e6:.0f} MB, {graphics / 1e6:.0f} MB of it for any picture")
        report("peak memory of a picture, an event", (peak - graphics) / arguments.events, LIMITS["picture_bytes_an_event"], "bytes")
        output, _, _ = run([traceview, recording, "--bench-frames", str(FRAMES)])
        frames = json.loads(output)
        measure_opening(frames)
        measure_frames("recording", frames, LIMITS["frame_ms"])
    output, _, _ = run([traceview, "--bench-events", str(arguments.generated), "--bench-frames", str(FRAMES)])
    measure_frames("generated", json.loads(output), LIMITS["frame_ms_generated"])
    if broken:
        sys.exit("above the limit: " + "; ".join(broken))


if __name__ == "__main__":
    main()
