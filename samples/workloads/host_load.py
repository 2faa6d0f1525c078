# SPDX-License-Identifier: Apache-2.0
"""Makes a late host of any machine: busy processes beside a program."""

import os
import subprocess
import sys

# Busy processes for each processor.
LOADS = {"none": 0, "light": 0.5, "medium": 1, "heavy": 2}


class HostLoad:
    """Busy processes, each pinned to a processor that this one may use. They end with this process, too: their input is closed then."""

    BUSY = "import os, select, sys\nos.sched_setaffinity(0, {int(sys.argv[1])})\n" \
           "while not select.select([sys.stdin], [], [], 0)[0]:\n    sum(range(100000))"

    def __init__(self, level):
        processors = sorted(os.sched_getaffinity(0))
        count = round(LOADS[level] * len(processors))
        self.pinned_to = [processors[int(i * len(processors) / min(count, len(processors))) % len(processors)] for i in range(count)]
        self.processes = []

    def start(self):
        # They are not to be recorded.
        environment = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD" and not name.startswith("TRACEINJECT")}
        for processor in self.pinned_to:
            self.processes.append(subprocess.Popen([sys.executable, "-S", "-c", self.BUSY, str(processor)], stdin=subprocess.PIPE, env=environment))

    def stop(self):
        for process in self.processes:
            process.stdin.close()
        for process in self.processes:
            process.wait()
        self.processes = []
