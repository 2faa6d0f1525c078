# SPDX-License-Identifier: Apache-2.0
"""Jobs of several ranks on one host, each rank a child of a parent that has imported PyTorch (fork_server.py)."""

import os
import signal
import socket
import time

from fork_client import ForkServer, json_lines

# NVLink multicast stays off: it may not be there, and harms what shares the machine where it fails.
SAFE = {"NCCL_NVLS_ENABLE": "0"}


class Group:
    """The ranks of one job after the other, each rank a child of a parent of its own."""

    def __init__(self, options, world, library=None, environment=None):
        self.options, self.world, self.library, self.environment = options, world, library, environment
        self.servers, self.ready = [], False

    def start(self):
        self.ready = False
        self.servers = [ForkServer(self.options, self.library, self.environment) for _ in range(self.world)]

    def run(self, words, environment, output, limit):
        """The result lines of rank 0. What each rank printed is in the file `output` with its number."""
        outputs = [output.with_suffix(f".rank{rank}.txt") for rank in range(self.world)]
        try:
            self.wait_until_ready()
            self.begin(words, environment, outputs)
            due = time.monotonic() + limit
            codes = [server.end(max(1, due - time.monotonic())) for server in self.servers]
        except (RuntimeError, OSError) as error:
            self.kill()
            raise RuntimeError(f"{error}; see {outputs[0]}") from None
        lines = json_lines(outputs[0].read_text())
        if any(codes) or not lines:
            raise RuntimeError(f"exit codes {codes}; see {outputs[0]}")
        return lines

    def wait_until_ready(self):
        if not self.servers:
            self.start()
        for server in [] if self.ready else self.servers:
            server.wait_until_ready()
        self.ready = True

    def begin(self, words, environment, outputs):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        world = str(self.world)
        for rank, (server, output) in enumerate(zip(self.servers, outputs)):
            mine = {"RANK": str(rank), "LOCAL_RANK": str(rank), "WORLD_SIZE": world, "LOCAL_WORLD_SIZE": world,
                    "MASTER_ADDR": "127.0.0.1", "MASTER_PORT": str(port), "OMP_NUM_THREADS": "1"}
            server.begin([words], SAFE | mine | environment, output)

    def stop(self):
        for server in self.servers:
            server.stop()
        self.servers, self.ready = [], False

    def kill(self):
        for server in self.servers:
            try:
                os.killpg(server.process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            server.process.wait()
        self.servers = []
