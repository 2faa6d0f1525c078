#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long a data frame of all kernels of a large recording takes in Python, and how much memory. Needs pandas.

The recording is made up (make_run.py), in a folder that is removed afterwards; half of its events are kernels. 20 million events need 0.6 GB
there.

    python_reader.py --programs build/release/bin --events 20000000
"""

import argparse
import os
import pathlib
import resource
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging" / "python"))
import traceinject  # noqa: E402

SOME = ["start_ns", "dur_ns", "device", "stream", "name"]


def processor_s():
    return sum(usage.ru_utime + usage.ru_stime for usage in map(resource.getrusage, (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))


def measure(path, columns):
    begin, used = time.monotonic(), processor_s()
    with traceinject.open(path) as run:
        table = run.kernels(columns=columns)
        read_s = time.monotonic() - begin
        frame = table.to_pandas()
    seconds = time.monotonic() - begin
    print(f"{len(frame):>11,} kernels of {len(frame.columns):>2} columns: {seconds:6.2f} s ({read_s:.2f} s to read), "
          f"{processor_s() - used:.2f} s of processor time, {resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6:.2f} GB here, "
          f"{resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1e6:.2f} GB in analyze", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", type=pathlib.Path, required=True, help="the folder with analyze")
    parser.add_argument("--events", type=int, default=20_000_000)
    parser.add_argument("--repeat", type=int, default=3)
    options = parser.parse_args()
    os.environ["TRACEINJECT_PROGRAMS"] = str(options.programs.resolve())
    with tempfile.TemporaryDirectory() as folder:
        path = pathlib.Path(folder) / "run.db"
        subprocess.run([sys.executable, pathlib.Path(__file__).with_name("make_run.py"), path, "--events", str(options.events)], check=True)
        for columns in (SOME, None):
            for _ in range(options.repeat):
                measure(path, columns)


if __name__ == "__main__":
    main()
