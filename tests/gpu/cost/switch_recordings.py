#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What recording costs, alone and beside torch.profiler, measured inside one process.

Processes of the same program differ by several per cent in step time, more than the costs in question. So here one process opens and
closes its recording window (`analyze trigger`) and starts and stops torch.profiler between blocks of steps, in turns. `off` is a
process that has recorded: what CUPTI leaves behind in one is measured by cupti_residue.cc. With TRACEINJECT_KINDS=kernel, `on` is the
least that recording kernels with CUPTI costs. TRACEINJECT_FLUSH_MS=200 makes the library look at the trigger often enough.

    LD_PRELOAD=libtraceinject.so TRACEINJECT_OUTPUT=run.db TRACEINJECT_FLUSH_MS=200 \\
        python3 switch_recordings.py --analyze analyze --preset launch-bound
"""

import argparse
import os
import pathlib
import subprocess
import sys
import time

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "shared"))
import turns  # noqa: E402

SETTINGS = {  # whether the library records, and what torch.profiler does
    "off": (False, ""),
    "on": (True, ""),
    "profiler cuda": (False, "cuda"),
    "profiler cpu,cuda": (False, "cpu,cuda"),
    "on, profiler cuda": (True, "cuda"),
    "on, profiler cpu,cuda": (True, "cpu,cuda"),
}
FOLLOWED_S = 0.45  # two looks at the trigger


class Switch:
    def __init__(self, analyze):
        self.analyze, self.database = analyze, os.environ.get("TRACEINJECT_OUTPUT", "run.db")
        if "libtraceinject.so" not in os.environ.get("LD_PRELOAD", ""):
            sys.exit("switch_recordings.py: start it with LD_PRELOAD=libtraceinject.so: nothing is recorded")
        self.profiler, self.recording, self.rank = None, True, int(os.environ.get("RANK", "0"))

    def trigger(self, recording):
        if self.rank == 0:
            plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
            subprocess.run([self.analyze, "trigger", "start" if recording else "stop", self.database], env=plain, check=True,
                           stdout=subprocess.DEVNULL)
        self.recording = recording

    def to(self, setting):
        import torch
        from torch.profiler import ProfilerActivity, profile
        if self.profiler:
            self.profiler.stop()
            self.profiler = None
        recording, activities = SETTINGS[setting]
        if recording != self.recording:
            self.trigger(recording)
        time.sleep(FOLLOWED_S)  # in every turn, so that all begin alike
        if activities:
            self.profiler = profile(activities=[getattr(ProfilerActivity, name.upper()) for name in activities.split(",")])
            self.profiler.start()
        if torch.distributed.is_initialized():
            torch.distributed.barrier()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    turns.add_options(parser, SETTINGS, "off")
    parser.add_argument("--analyze", required=True, help="the analyze program")
    options = parser.parse_args()
    switches = []

    def make_switch():
        switches.append(Switch(options.analyze))
        return switches[0].to

    step_ms = turns.measure(options, turns.chosen(options, SETTINGS), make_switch)
    switches[0].to("on")
    if switches[0].rank == 0:
        print("\n" + turns.table(options, step_ms), flush=True)


if __name__ == "__main__":
    main()
