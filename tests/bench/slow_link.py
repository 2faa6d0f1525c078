# SPDX-License-Identifier: Apache-2.0
"""A link between two programs of this machine that is as slow as one to a far machine: every byte takes a while, and only so many go a second, each
way. In the program that measures, since not every kernel has netem. Standard library only."""

import queue
import socket
import threading
import time

# What a router on the way would hold, each way; then the sender has to wait.
HELD_BYTES = 256 << 10
CHUNK = 16 << 10


class Direction:
    """Of all connections together."""

    def __init__(self, delay_s, bytes_a_second):
        self.delay_s, self.bytes_a_second = delay_s, bytes_a_second
        self.lock = threading.Lock()
        self.free_at = 0.0

    def arrival(self, size):
        """When so many bytes that are sent now are there."""
        with self.lock:
            self.free_at = max(self.free_at, time.monotonic()) + size / self.bytes_a_second
            return self.free_at + self.delay_s

    def carry(self, source, target):
        """Until one of the two ends."""
        under_way = queue.Queue(maxsize=HELD_BYTES // CHUNK)
        threading.Thread(target=self._deliver, args=(under_way, target), daemon=True).start()
        try:
            while chunk := source.recv(CHUNK):
                under_way.put((self.arrival(len(chunk)), chunk))
        except OSError:
            pass
        under_way.put((0, b""))

    @staticmethod
    def _deliver(under_way, target):
        try:
            while (item := under_way.get())[1]:
                at, chunk = item
                time.sleep(max(at - time.monotonic(), 0))
                target.sendall(chunk)
            target.shutdown(socket.SHUT_WR)
        except OSError:
            target.close()


class SlowLink:
    """Listens at `port`, and leads to another port of this machine."""

    def __init__(self, target_port, delay_ms, mbit):
        self.target_port = target_port
        self.there, self.back = (Direction(delay_ms / 1e3, mbit * 1e6 / 8) for _ in range(2))
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
            except OSError:
                return
            far = socket.create_connection(("127.0.0.1", self.target_port))
            for end in (near, far):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for direction, source, target in ((self.there, near, far), (self.back, far, near)):
                threading.Thread(target=direction.carry, args=(source, target), daemon=True).start()

    def close(self):
        self.listener.close()
