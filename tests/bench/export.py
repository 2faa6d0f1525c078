#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What analyze export costs by the size of the recording and by format: time, processor time, peak memory, size of the output.

Recordings are made up (make_run.py), in a folder that is removed afterwards; 10 million events need 4 GB there.

    export.py build/release/bin/analyze --events 1000000 --events 10000000
"""
import argparse
import os
import pathlib
import subprocess
import sys
import tempfile
import time

MAKE_RUN = pathlib.Path(__file__).resolve().with_name("make_run.py")
OUTPUTS = ("trace.pftrace", "trace.json", "trace.json.gz", "run.prom")


def cost_of(command):
    """Seconds, seconds of processor time, and the most memory that the process had, in bytes."""
    begin = time.monotonic()
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}: exit code {process.returncode}")
    return time.monotonic() - begin, usage.ru_utime + usage.ru_stime, usage.ru_maxrss * 1024


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("analyze", type=pathlib.Path)
    parser.add_argument("--events", type=int, action="append", help="of a recording; may be given several times")
    parser.add_argument("--output", action="append", choices=OUTPUTS, help="only these")
    arguments = parser.parse_args()
    print(f"{'events':>10}  {'output':<14}{'time s':>8}{'CPU s':>8}{'events/s':>12}{'memory MB':>11}{'output MB':>11}{'bytes/event':>13}")
    for events in arguments.events or [1_000_000, 10_000_000]:
        with tempfile.TemporaryDirectory() as folder:
            run = pathlib.Path(folder) / "run.db"
            subprocess.run([sys.executable, MAKE_RUN, run, "--events", str(events)], check=True, stdout=subprocess.DEVNULL)
            for name in arguments.output or OUTPUTS:
                output = pathlib.Path(folder) / name
                seconds, processor_s, memory = cost_of([arguments.analyze, "export", run, "-o", output])
                size = output.stat().st_size
                print(f"{events:>10}  {name:<14}{seconds:>8.2f}{processor_s:>8.2f}{events / seconds:>12,.0f}{memory / 1e6:>11.0f}{size / 1e6:>11.1f}"
                      f"{size / events:>13.1f}", flush=True)
                output.unlink()


if __name__ == "__main__":
    main()
