#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What long_run.sh runs: a launch-bound program without the library, then with it, looked at all the time (tests/faults/soak.py).

    long_run.py --library libtraceinject.so [--minutes 8]
    long_run.py run SECONDS                              (the program)
"""

import argparse
import os
import pathlib
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT / "tests" / "faults"), str(ROOT / "samples" / "workloads")]
# As many as a machine gives whose host is slow; what came is told.
LEAST_RECORDS_A_SECOND = 50_000


class RealGpu:
    def __init__(self, library):
        self.library = library.resolve()

    def program(self, seconds):
        return [sys.executable, __file__, "run", str(seconds)]

    def environment(self, preload):
        traced = {"LD_PRELOAD": str(self.library), "TRACEINJECT_MAX_SIZE": "1T"} if preload else {}
        return dict(os.environ, **traced)


def run(seconds):
    import transformer
    sys.argv = ["transformer.py", "--preset", "launch-bound", "--steps", "1000000", "--workers", "0"]
    trainer = transformer.Trainer(transformer.parse_options())
    until = time.monotonic() + float(seconds)
    while time.monotonic() < until:
        trainer.step()
    trainer.synchronise()


def main():
    if sys.argv[1:2] == ["run"]:
        return run(sys.argv[2])
    import soak
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--library", type=pathlib.Path, required=True)
    soak.add_options(parser, minutes=8)
    options = soak.parse(parser)
    return soak.soak(RealGpu(options.library), options.minutes, LEAST_RECORDS_A_SECOND, options.folder)


if __name__ == "__main__":
    sys.exit(main())
