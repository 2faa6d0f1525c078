# SPDX-License-Identifier: Apache-2.0
"""Many at once at the door of `traceview --serve`, most of whom mean no good: each is answered or shown out, whoever looks on is still served, and
afterwards nothing of them is left. TRACEINJECT_CROWD (40): how many at once; TRACEINJECT_FUZZED (4000): input events of random content."""

import os
import pathlib
import random
import socket
import struct
import time
import unittest

import served_viewer
import web_socket
from served_case import WAIT_S, Served

CROWD = int(os.environ.get("TRACEINJECT_CROWD", "40"))
FUZZED = int(os.environ.get("TRACEINJECT_FUZZED", "4000"))
EVENTS_A_CONNECTION = 200
# Of what stays with the allocator.
SPARE_BYTES = 24 << 20
KEYS = [*"ABCDEFGHIJKLMNOPQRSTUVWXYZ0", ",", ".", "/", "?", "[", "]", "Left", "Right", "Up", "Down", "PageUp", "PageDown", "Home", "Enter", "Esc",
        "Backspace", "Delete", "Tab", "F1", "", "none"]


def handshake(port, host=None, origin=None, lines=()):
    return "\r\n".join(["GET /viewer HTTP/1.1", f"Host: {host or f'127.0.0.1:{port}'}", "Upgrade: websocket", "Connection: Upgrade",
                        "Sec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==", "Sec-WebSocket-Version: 13",
                        *([f"Origin: {origin}"] if origin else []), *lines, "", ""]).encode()


class Guest:
    """A connection by hand. What it is told is looked at once all have come."""

    def __init__(self, port, first=b"", then=b""):
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=WAIT_S)
        self.answer = b""
        self.send(first)
        if then:  # once there is a WebSocket
            while b"\r\n\r\n" not in self.answer and (part := self.connection.recv(65536)):
                self.answer += part
            self.send(then)

    def send(self, content):
        try:
            self.connection.sendall(content)
        except OSError:
            pass  # it was shown out already, which told() shows

    def told(self):
        """All that comes until the end."""
        try:
            while part := self.connection.recv(65536):
                self.answer += part
        except ConnectionResetError:
            pass
        return self.answer

    def close(self):
        self.connection.close()


def frame(content, first=0x82, mask=0x80):
    return bytes([first, mask | len(content)]) + (b"\0\0\0\0" if mask else b"") + content


def random_event(chance):
    """Like those of the page, with whatever values; now and then not like any."""
    def number():
        return chance.choice((chance.uniform(-1e6, 1e6), chance.uniform(0, 1500), 0.0, -0.0, 1e6))
    kind = chance.randrange(13)
    text = served_viewer.text("".join(chance.choice("abc=&%2s.é\0{}\"") for _ in range(chance.randrange(40))))
    if kind == 0:
        most = 65536 if chance.random() < 0.05 else 1500  # drawing on the largest takes long
        return struct.pack("<BHHf", 1, chance.randrange(most), chance.randrange(most), number())
    if kind == 1:
        return b"\2" + struct.pack("<I", chance.randrange(3))
    if kind == 2:
        return b"\3" + text
    if kind == 3:
        return struct.pack("<BB", 4, chance.randrange(8))
    if kind == 4:
        return served_viewer.button(chance.randrange(3), chance.randrange(3))
    if kind == 5:
        return struct.pack("<Bff", 8, chance.uniform(-1000, 1000), chance.uniform(-1000, 1000))
    if kind == 6:
        return served_viewer.key(chance.choice(KEYS), chance.choice(("", "a", "\0", "é")), chance.randrange(16))
    if kind == 7:
        return b"\x0a" + text
    if kind == 8:
        return struct.pack("<BBff", 11, chance.randrange(2), number(), number())
    if kind == 9:
        return b"\x0c" + text
    return served_viewer.move(number(), number())


class Crowd(Served):
    @classmethod
    def tearDownClass(cls):
        code = cls.server.end()
        assert code == 0, f"exit code {code}: {cls.server.said}"

    def setUp(self):
        self.watcher = self.viewer()
        self.watcher.receive_until(lambda: self.watcher.title)

    def still_served(self):
        """The one who looks on presses a key and sees what it does."""
        self.watcher.send(served_viewer.key("Home"), served_viewer.key("W"))
        before = self.watcher.frame
        self.watcher.receive_until(lambda: self.watcher.frame > before)

    def descriptors(self):
        return len(list(pathlib.Path(f"/proc/{self.server.process.pid}/fd").iterdir()))

    def resident_bytes(self):
        fields = pathlib.Path(f"/proc/{self.server.process.pid}/statm").read_text().split()
        return int(fields[1]) * os.sysconf("SC_PAGE_SIZE")

    def wait_for_descriptors(self, count):
        deadline = time.monotonic() + WAIT_S
        while self.descriptors() > count:
            self.still_served()
            self.assertLess(time.monotonic(), deadline, f"{self.descriptors()} descriptors, {count} before")
            time.sleep(0.2)

    def come(self):
        """As many of each kind as make a crowd: what it is told, and how."""
        port, token = self.server.port, self.server.token
        hello = frame(served_viewer.hello(token))
        kinds = (
            ("no token", lambda: Guest(port, handshake(port), frame(served_viewer.hello("guess"))), b"token"),
            ("a foreign page", lambda: Guest(port, handshake(port, origin="http://evil.example")), b" 403 "),
            ("a foreign name", lambda: Guest(port, handshake(port, host="evil.example")), b" 403 "),
            ("no HTTP", lambda: Guest(port, b"\x16\x03\x01\x02\0\1\0\1\xfc\r\n\r\n"), b" 400 "),
            ("a huge header", lambda: Guest(port, handshake(port, lines=("X: " + "x" * 100_000,))), b" 431 "),
            ("silence", lambda: Guest(port), None),
            ("half a request", lambda: Guest(port, handshake(port)[:60]), None),
            ("no greeting", lambda: Guest(port, handshake(port)), None),
            ("a huge frame", lambda: Guest(port, handshake(port), hello + b"\x82\xff\0\0\0\0\x40\0\0\0\0\0\0\0xx"), b"\x03\xf1"),
            ("no such opcode", lambda: Guest(port, handshake(port), frame(b"x", first=0x8b)), b"\x03\xea"),
            ("no mask", lambda: Guest(port, handshake(port), frame(b"x", mask=0)), b"\x03\xea"),
            ("no input", lambda: Guest(port, handshake(port), hello + frame(b"\xff")), b"not understood"),
            ("a viewer", lambda: Guest(port, handshake(port), hello), None),
        )
        return [(*kinds[i % len(kinds)], kinds[i % len(kinds)][1]()) for i in range(CROWD)]

    def test_all_are_answered_and_nothing_of_them_stays(self):
        descriptors, resident, guests = self.descriptors(), [], []
        self.addCleanup(lambda: [guest.close() for *_, guest in guests])
        for _ in range(3):
            guests[:] = self.come()
            self.still_served()
            # What dribbles in goes on to.
            for *_, told, guest in guests:
                if told is None:
                    guest.send(b"X")
            answered = refused = 0
            for name, _, told, guest in guests:
                if told is None:
                    continue
                answer = guest.told()
                # There is room for so many viewers only.
                refused += b" 503 " in answer
                answered += told in answer
                self.assertTrue(told in answer or b" 503 " in answer, f"{name}: {answer[-200:]}")
            self.assertGreater(answered, 0)
            self.still_served()
            for *_, guest in guests:
                guest.close()
            self.wait_for_descriptors(descriptors)
            resident.append(self.resident_bytes())
        self.assertLess(resident[-1], resident[0] + SPARE_BYTES)

    def test_whatever_is_told_as_input_does_no_harm(self):
        chance = random.Random(20261)
        for begin in range(0, FUZZED, EVENTS_A_CONNECTION):
            with self.subTest(events=begin):
                try:
                    guest = web_socket.WebSocket(self.server.port, "/viewer")
                except web_socket.Refused as refused:
                    self.assertIn(" 503 ", str(refused))  # those before are not gone yet
                    self.still_served()
                    continue
                events = [random_event(chance) for _ in range(EVENTS_A_CONNECTION)]
                if chance.random() < 0.3:
                    torn = bytearray(events[-1])
                    torn[chance.randrange(len(torn))] ^= 1 << chance.randrange(8)
                    events[-1] = bytes(torn)
                try:
                    guest.send(served_viewer.hello(self.server.token, chance.choice((0, 1280, 2000)), 900))
                    for first in range(0, EVENTS_A_CONNECTION, 20):
                        guest.send(b"".join(events[first:first + 20]))
                except OSError:
                    pass  # it was shown out
                finally:
                    guest.close()
        self.still_served()
        self.assertIsNone(self.server.process.poll())


class End(Served):
    def test_it_ends_well_with_all_of_them_there(self):
        server = self.start()
        guests = [Guest(server.port, handshake(server.port), frame(served_viewer.hello(server.token))) for _ in range(20)]
        guests += [Guest(server.port) for _ in range(20)]
        self.assertEqual(server.end(), 0, server.said)
        for guest in guests:
            guest.close()


if __name__ == "__main__":
    unittest.main()
