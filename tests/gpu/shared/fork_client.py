# SPDX-License-Identifier: Apache-2.0
"""Starts fork_server.py and tells it what to run."""

import json
import os
import pathlib
import select
import signal
import subprocess
import sys


def json_lines(text):
    """The objects among the lines of a program's output, which holds warnings as well."""
    found = []
    for line in text.splitlines():
        if line.startswith("{"):
            try:
                found.append(json.loads(line))
            except json.JSONDecodeError:
                pass
    return found


class ForkServer:
    """A parent of measured processes (fork_server.py)."""

    def __init__(self, options, library=None, more=None):
        """`more`: what its environment has from the start, for what the library reads when a program starts."""
        environment = {name: value for name, value in os.environ.items() if not name.startswith("TRACEINJECT")} | (more or {})
        if library:
            environment["LD_PRELOAD"] = library
        self.timeout = options.timeout
        self.process = subprocess.Popen([sys.executable, pathlib.Path(__file__).with_name("fork_server.py"), options.workload],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment, start_new_session=True)

    def wait_until_ready(self):
        if self.answer() != "ready":
            raise RuntimeError("PyTorch could not be imported")

    def answer(self, limit=None):
        limit = limit or self.timeout
        if not select.select([self.process.stdout], [], [], limit)[0]:
            os.killpg(self.process.pid, signal.SIGKILL)  # with the child that is being measured
            self.process.wait()
            raise RuntimeError(f"no answer within {limit} s")
        return self.process.stdout.readline().strip()

    def execute(self, arguments, environment, output, limit=None):
        """The child's exit code; what it printed is in the file `output`."""
        self.begin(arguments, environment, output)
        return self.end(limit)

    def begin(self, arguments, environment, output):
        request = {"runs": arguments, "environment": environment, "output": str(output)}
        print(json.dumps(request), file=self.process.stdin, flush=True)

    def end(self, limit=None):
        """The exit code of the child that was begun."""
        answer = self.answer(limit)
        if not answer:
            raise RuntimeError("the parent of the measured processes has ended")
        return int(answer)

    def run(self, arguments, environment, output):
        """What the program printed last, once for each list of arguments."""
        code = self.execute(arguments, environment, output)
        text = output.read_text()
        if code != 0:
            raise RuntimeError(f"exit code {code}\n{text[-2000:]}")
        results = [json.loads(line) for line in text.splitlines() if line.startswith('{"workload"')]
        if len(results) != len(arguments):
            raise RuntimeError(f"{len(results)} results of {len(arguments)} runs\n{text[-2000:]}")
        return results

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
