# SPDX-License-Identifier: Apache-2.0
"""An `analyze serve` that runs beside a test, and clients of it."""

import contextlib
import http.client
import os
import re
import signal
import socket
import subprocess
import time

import harness

ANALYZE = harness.BUILD / "bin" / "analyze"
WAIT_S = 50


class Server:
    """`test` ends it. It serves what stands in the test's folder."""

    def __init__(self, test, *arguments, address="127.0.0.1:0"):
        self.test = test
        self.process = subprocess.Popen([ANALYZE, "serve", *arguments, "--metrics", address, "--every", "100ms"],
                                        cwd=test.folder, stderr=subprocess.PIPE, text=True)
        test.addCleanup(self.process.communicate)
        test.addCleanup(self.process.kill)
        self.said = ""
        while not (found := re.search(r"\(port (\d+)\)", self.said)):
            line = self.process.stderr.readline()
            if not line:
                test.fail(f"it did not start: {self.said}")
            self.said += line
        self.port = int(found.group(1))

    def read_line(self):
        return self.process.stderr.readline()

    def ask(self, path="/metrics", method="GET", **headers):
        """The answer with its `text`, on a connection of its own."""
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)) as connection:
            connection.request(method, path, headers={name.replace("_", "-"): value for name, value in headers.items()})
            answer = connection.getresponse()
            answer.body = answer.read()
            return answer

    def text(self, path="/metrics"):
        return self.ask(path).body.decode()

    def wait_for(self, holds, path="/metrics"):
        """The text at the path, once that holds of it."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            text = self.text(path)
            if holds(text):
                return text
            time.sleep(0.1)
        self.test.fail(f"it never came: {text[-3000:]}")

    def connect(self):
        client = socket.create_connection(("127.0.0.1", self.port), timeout=60)
        self.test.addCleanup(client.close)
        return client

    def ask_raw(self, data):
        """What comes until the server closes; empty also where it resets the connection."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=60) as client:
            answer = b""
            with contextlib.suppress(ConnectionError):
                client.sendall(data)
                client.shutdown(socket.SHUT_WR)
                while part := client.recv(65536):
                    answer += part
            return answer

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def end(self, number=signal.SIGINT):
        """The exit code."""
        self.process.send_signal(number)
        return self.process.wait(timeout=30)


def metric(text, name, **labels):
    """The first value of the metric that has these labels; None: there is none."""
    for found in re.finditer(rf"^traceinject_{name}(?:{{([^}}]*)}})? (\S+)$", text, re.MULTILINE):
        if all(f'{label}="{value}"' in (found[1] or "") for label, value in labels.items()):
            return float(found[2])
    return None
