# SPDX-License-Identifier: Apache-2.0
"""A WebSocket (RFC 6455) with permessage-deflate (RFC 7692) to a server on this machine. Standard library only."""

import base64
import os
import socket
import struct
import zlib

BINARY, CLOSE, PING, PONG = 2, 8, 9, 10
TAIL = b"\x00\x00\xff\xff"  # that deflate ends a message with, and which is not sent


class Refused(Exception):
    """The server's answer, where it is no WebSocket."""


class WebSocket:
    def __init__(self, port, path, origin=None, host=None, timeout_s=60, tls=None):
        """tls: the context of an encrypted one."""
        self.connection = socket.create_connection(("127.0.0.1", port), timeout=timeout_s)
        if tls:
            self.connection = tls.wrap_socket(self.connection)
        self.unread = b""
        self.unpacker = zlib.decompressobj(-15)
        self.received_bytes = 0  # of messages, as they were on the way
        self.reason = None  # why the server has ended it
        key = base64.b64encode(os.urandom(16)).decode()
        header = {"Host": host or f"127.0.0.1:{port}", "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Key": key,
                  "Sec-WebSocket-Version": "13", "Sec-WebSocket-Extensions": "permessage-deflate"}
        if origin:
            header["Origin"] = origin
        lines = "".join(f"{name}: {value}\r\n" for name, value in header.items())
        self.connection.sendall(f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode())
        while b"\r\n\r\n" not in self.unread:
            part = self.connection.recv(65536)
            if not part:
                break
            self.unread += part
        answer, _, self.unread = self.unread.partition(b"\r\n\r\n")
        if not answer.startswith(b"HTTP/1.1 101"):
            self.connection.close()
            raise Refused(answer.decode())

    def close(self):
        self.connection.close()

    def send(self, message, kind=BINARY):
        size = len(message)
        length = bytes([0x80 | size]) if size < 126 else b"\xfe" + struct.pack(">H", size) if size < 65536 else b"\xff" + struct.pack(">Q", size)
        self.connection.sendall(bytes([0x80 | kind]) + length + b"\0\0\0\0" + message)  # a mask of zeros changes nothing

    def _take(self, size):
        while len(self.unread) < size:
            part = self.connection.recv(1 << 20)
            if not part:
                raise ConnectionError("the server has closed")
            self.unread += part
        taken, self.unread = self.unread[:size], self.unread[size:]
        return taken

    def _frame(self):
        first, second = self._take(2)
        size = second & 127
        if size >= 126:
            size = int.from_bytes(self._take(2 if size == 126 else 8), "big")
        return first, self._take(size)

    def receive(self):
        """The next message; None: the server has ended it, `reason` says why."""
        message, packed, ended = b"", None, False
        while not ended:
            first, content = self._frame()
            kind = first & 15
            if kind == PING:
                self.send(content, PONG)
                continue
            if kind == CLOSE:
                self.reason = content[2:].decode()
                return None
            if kind == PONG:
                continue
            packed = bool(first & 0x40) if packed is None else packed
            message += content
            ended = bool(first & 0x80)
        self.received_bytes += len(message)
        return self.unpacker.decompress(message + TAIL) if packed else message
