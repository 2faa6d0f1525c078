# SPDX-License-Identifier: Apache-2.0
"""A `traceview --serve` that runs beside a test, and a viewer that talks to it as the page does (viewer/serve/input_events.h)."""

import contextlib
import re
import signal
import struct
import subprocess

import web_socket

FRAME, FONT, LINK, COPIED, TITLE, COMMAND, STATE = range(7)


class Server:
    def __init__(self, program, *arguments, address="127.0.0.1:0"):
        self.process = subprocess.Popen([program, *arguments, "--serve", address], stderr=subprocess.PIPE, text=True)
        self.said = ""
        while not (found := re.search(r"http://[^:]+:(\d+)/#token=(\w+)", self.said)):
            line = self.process.stderr.readline()
            if not line:
                raise RuntimeError(f"it did not start: {self.said}")
            self.said += line
        self.port, self.token = int(found[1]), found[2]

    def address(self, link=""):
        return f"http://127.0.0.1:{self.port}/#token={self.token}" + (f"&{link}" if link else "")

    def end(self, number=signal.SIGINT):
        """The exit code."""
        self.process.send_signal(number)
        code = self.process.wait(timeout=60)
        self.said += self.process.stderr.read()
        self.process.stderr.close()
        return code

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.process.stderr.close()


def text(words):
    data = words.encode()
    return struct.pack("<H", len(data)) + data


def hello(token, width=1280, height=900, scale=1.0, dark=True, link=""):
    return b"\0" + text(token) + struct.pack("<HHfB", width, height, scale, dark) + text(link)


def key(name, typed="", held=0):
    return struct.pack("<BB", 9, held) + text(name) + text(typed)


def wheel(steps, control=False):
    return struct.pack("<BB", 4, control) + struct.pack("<Bff", 8, steps, 0) + struct.pack("<BB", 4, 0)


def move(x, y):
    return struct.pack("<Bff", 5, x, y)


def button(number, down):
    return struct.pack("<BBB", 7, number, down)


def take_number(data, at):
    """A number of 7 bits a byte, and where it ends."""
    value = shift = 0
    while True:
        value |= (data[at] & 127) << shift
        shift += 7
        at += 1
        if data[at - 1] < 128:
            return value, at


class Viewer:
    """Sees every frame as soon as it comes."""

    def __init__(self, server, width=1280, height=900, link=""):
        self.socket = web_socket.WebSocket(server.port, "/viewer", origin=f"http://127.0.0.1:{server.port}")
        self.socket.send(hello(server.token, width, height, link=link))
        self.frame = 0
        self.link = self.title = self.state = ""
        self.copied = self.command = None
        self.server_ms = []  # for each frame
        self.frame_bytes = []  # on the way

    def close(self):
        self.socket.close()

    def send(self, *events):
        self.socket.send(b"".join(events))

    def receive(self):
        """Which part the next message is; None: the server has ended it."""
        before = self.socket.received_bytes
        message = self.socket.receive()
        if message is None:
            return None
        part = message[0]
        if part == FRAME:
            self.frame, at = take_number(message, 1)
            spent_us, _ = take_number(message, at)
            self.server_ms.append(spent_us / 1000)
            self.frame_bytes.append(self.socket.received_bytes - before)
            # Of a server that has ended there may be more to read, last of all why.
            with contextlib.suppress(BrokenPipeError, ConnectionResetError):
                self.socket.send(struct.pack("<BI", 2, self.frame))
        elif part == LINK:
            self.link = message[1:].decode()
        elif part == COPIED:
            self.copied = message[1:].decode()
        elif part == TITLE:
            self.title = message[1:].decode()
        elif part == COMMAND:
            self.command = message[1:].decode()
        elif part == STATE:
            self.state = message[1:].decode()
        return part

    def receive_until(self, holds):
        while not holds():
            if self.receive() is None:
                raise ConnectionError(self.socket.reason)
