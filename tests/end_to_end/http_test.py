# SPDX-License-Identifier: Apache-2.0
"""What `analyze serve` says to clients of every kind: good ones, slow ones, broken ones, and strangers."""

import base64
import contextlib
import gzip
import os
import random
import re
import signal
import socket
import unittest

import harness
import served

ROUNDS = 3000
SEED = 20261
REQUEST = (b"GET /metrics?x=1 HTTP/1.1\r\nHost: localhost\r\nAccept: text/plain;q=0.5,*/*\r\nAccept-Encoding: gzip\r\n"
           b"Authorization: Basic YTpi\r\nContent-Length: 4\r\nConnection: keep-alive\r\n\r\nbody")
PIECES = [b"\r\n", b"\r\n\r\n", b"\0", b" ", b":", b"%", b"HTTP/1.1", b"HTTP/9.9", b"Host: x\r\n", b"Transfer-Encoding: chunked\r\n", b"-1",
          b"99999999999999999999", b"\xff" * 9, b"A" * 9000, b"Expect: 100-continue\r\n", b"Upgrade: websocket\r\n", b"POST ", b"../.."]


def mutated(randomness):
    """A request with a few mistakes."""
    request = bytearray(REQUEST)
    for _ in range(randomness.randint(1, 6)):
        at = randomness.randrange(len(request) + 1)
        kind = randomness.randrange(4)
        if kind == 0:
            request[at:at + randomness.randint(1, 30)] = b""
        elif kind == 1:
            request[at:at] = randomness.choice(PIECES)
        elif kind == 2:
            request[at:at + 1] = bytes([randomness.randrange(256)])
        else:
            request += request[at:]
    return bytes(request)


class Http(harness.AnalyzeTestCase):
    def serve(self, *arguments, **how):
        return served.Server(self, "run.db", *arguments, **how)

    def status(self, answer):
        return int(re.match(rb"HTTP/1\.1 (\d{3}) ", answer)[1])

    def test_pipelined_requests_are_answered_in_their_order(self):
        server = self.serve()
        paths = ["/metrics", "/none", "/api/jobs", "/", "/job/none/"] * 4
        requests = "".join(f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n" for path in paths)
        answers = server.ask_raw(requests.encode()).split(b"HTTP/1.1 ")[1:]
        self.assertEqual([int(answer[:3]) for answer in answers], [200, 404, 200, 200, 404] * 4)
        self.assertIn(b"recording_readable", answers[0])
        self.assertIn(b'"jobs"', answers[2])

    def test_head_is_get_without_its_body(self):
        server = self.serve()
        for path in ("/metrics", "/", "/api/jobs", "/none"):
            for accepted in ("identity", "gzip"):
                head, get = (server.ask(path, method, Accept_Encoding=accepted) for method in ("HEAD", "GET"))
                self.assertEqual((head.status, head.getheaders()), (get.status, get.getheaders()))
                self.assertEqual(head.body, b"")
                self.assertEqual(int(get.getheader("Content-Length")), len(get.body))
        raw = server.ask_raw(b"HEAD / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        self.assertTrue(raw.endswith(b"\r\n\r\n"), raw)

    def test_gzip_unpacks_to_the_plain_text(self):
        server = self.serve()
        plain, packed = server.ask("/"), server.ask("/", Accept_Encoding="br, gzip;q=0.8")
        self.assertIsNone(plain.getheader("Content-Encoding"))
        self.assertEqual(packed.getheader("Content-Encoding"), "gzip")
        self.assertLess(len(packed.body), len(plain.body) / 2)
        self.assertEqual(gzip.decompress(packed.body), plain.body)
        self.assertIsNone(server.ask("/", Accept_Encoding="gzip;q=0").getheader("Content-Encoding"))

    def test_what_is_too_large_or_not_there_is_refused(self):
        server = self.serve()
        head = b" HTTP/1.1\r\nHost: localhost\r\n"
        for request, status in [
                (b"GET /none" + head + b"\r\n", 404), (b"POST /metrics" + head + b"Content-Length: 0\r\n\r\n", 405),
                (b"DELETE /" + head + b"\r\n", 405), (b"BREW /" + head + b"\r\n", 405),
                (b"GET /" + b"a" * 5000 + head + b"\r\n", 414), (b"GET /" + b"a" * 100_000, 414),
                (b"GET /" + head + b"X: " + b"a" * 100_000 + b"\r\n\r\n", 431), (b"GET /" + head + b"X: y\r\n" * 5000 + b"\r\n", 431),
                (b"POST /" + head + b"Content-Length: 100000000\r\n\r\n", 413),
                (b"POST /" + head + b"Transfer-Encoding: chunked\r\n\r\n8000\r\n" + b"a" * 0x8000 + b"\r\n0\r\n\r\n", 413),
                (b"GET / HTTP/1.1\r\n\r\n", 400), (b"GET /\r\n\r\n", 400), (b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 400),
                (b"GET / HTTP/3.0\r\nHost: localhost\r\n\r\n", 505)]:
            with self.subTest(request=request[:60]):
                self.assertEqual(self.status(server.ask_raw(request)), status)
        self.assertEqual(server.ask("/metrics", "PUT").getheader("Allow"), "GET, HEAD")

    def test_a_slow_client_is_dropped_and_keeps_nobody_waiting(self):
        server = self.serve()
        slow, silent = server.connect(), server.connect()
        slow.sendall(b"GET /metrics HTTP/1.1\r\nHost: loc")
        self.assertEqual(server.ask().status, 200)
        answer = b""
        while part := slow.recv(65536):
            answer += part
        self.assertEqual(self.status(answer), 408)
        self.assertEqual(silent.recv(1), b"")

    def test_two_hundred_clients_at_once(self):
        server = self.serve()
        clients = [server.connect() for _ in range(200)]
        for client in clients:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n")
        for client in clients:
            answer = b""
            while b"recording_readable 0" not in answer:
                part = client.recv(65536)
                self.assertTrue(part, answer)
                answer += part
            self.assertEqual(self.status(answer), 200)
        # All stay open, and more than there is room for find some.
        crowd = [server.connect() for _ in range(200)]
        self.assertEqual(server.ask().status, 200)
        self.assertLess(server.descriptors(), 300)
        for client in clients + crowd:
            client.close()

    def test_broken_requests_leave_nothing_behind(self):
        server = self.serve()
        self.assertEqual(server.ask().status, 200)
        before = server.descriptors()
        randomness = random.Random(SEED)
        statuses = set()
        for number in range(ROUNDS):
            request = mutated(randomness)
            answer = server.ask_raw(request)
            self.assertIsNone(server.process.poll(), f"request {number} ended it: {request}")
            if answer:
                statuses.add(self.status(answer))
        self.assertLessEqual({200, 400, 404, 405, 431, 505}, statuses)
        self.assertLessEqual(statuses, {200, 301, 400, 403, 404, 405, 408, 413, 414, 431, 505})
        self.assertEqual(server.ask().status, 200)
        server.wait_for(lambda _: server.descriptors() <= before + 1)

    def test_pages_of_others_cannot_read_it_through_a_browser(self):
        server = self.serve()
        for host in ("localhost", f"127.0.0.1:{server.port}", "[::1]"):
            self.assertEqual(server.ask(Host=host).status, 200)
        for host in ("evil.example", f"evil.example:{server.port}"):
            refused = server.ask(Host=host)
            self.assertEqual(refused.status, 403)
            self.assertNotIn(b"traceinject_", refused.body)

    def test_other_machines_read_metrics_and_no_more(self):
        server = self.serve(address="0.0.0.0:0")
        self.assertIn("warning: anyone who can reach this address", server.said)
        self.assertEqual([server.ask(path, Host="node7:9464").status for path in ("/metrics", "/", "/api/jobs", "/job/run/")],
                         [200, 403, 403, 403])
        opened = self.serve("--open", address="0.0.0.0:0")
        self.assertIn("everything", opened.said)
        self.assertEqual(opened.ask("/").status, 200)

    def test_a_token_or_a_password_lets_in(self):
        (self.folder / "truth.token").write_text("secret-token\n")
        (self.folder / "truth.password").write_text("pass:word\n")
        server = served.Server(self, "--token", "truth.token", "--user", "ann:truth.password", "run.db", address="0.0.0.0:0")
        self.assertNotIn("warning", server.said)

        def basic(text):
            return "Basic " + base64.b64encode(text.encode()).decode()

        for path in ("/metrics", "/", "/none"):
            refused = server.ask(path)
            self.assertEqual(refused.status, 401)
            self.assertEqual([value.split()[0] for name, value in refused.getheaders() if name == "WWW-Authenticate"], ["Basic", "Bearer"])
        for good in ("Bearer secret-token", basic("ann:pass:word"), basic("anybody:secret-token")):
            self.assertEqual(server.ask("/", Authorization=good).status, 200, good)
        for bad in ("Bearer secret", "Bearer secret-token2", "Bearer pass:word", basic("bob:pass:word"), basic("ann:wrong"), "Basic ?"):
            self.assertEqual(server.ask("/", Authorization=bad).status, 401, bad)
        with open(f"/proc/{server.process.pid}/cmdline", "rb") as words:
            self.assertNotIn(b"secret-token", words.read())

    def test_a_token_that_is_made_is_told(self):
        server = self.serve("--token", "auto")
        token = re.fullmatch(r"token: ([0-9a-f]{32})\n", server.read_line())[1]
        self.assertEqual(server.ask().status, 401)
        self.assertEqual(server.ask(Authorization=f"Bearer {token}").status, 200)

    def test_what_cannot_be_served_so_is_refused_at_the_start(self):
        (self.folder / "truth.empty").write_text("\n")
        for options in (["--token", "none"], ["--token", "truth.empty"], ["--user", "ann"], ["--user", ":truth.empty"], ["--user", "ann:none"],
                        ["--metrics", "9464"], ["--window", "0s"], ["--jobs", "0"]):
            self.run_tool(served.ANALYZE, "serve", "run.db", *options, code=2)

    def test_it_ends_when_it_is_told_to(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = self.serve()
            idle, begun = server.connect(), server.connect()
            begun.sendall(b"GET /metr")
            self.assertEqual(server.ask().status, 200)
            self.assertEqual(server.end(number), 0)
            self.assertEqual([client.recv(1) for client in (idle, begun)], [b"", b""])
            with self.assertRaises(ConnectionRefusedError):
                server.ask()

    @unittest.skipUnless(socket.has_ipv6 and os.path.exists("/proc/net/if_inet6"), "no IPv6")
    def test_it_listens_on_ipv6(self):
        with contextlib.closing(socket.socket(socket.AF_INET6)) as probe:
            try:
                probe.bind(("::1", 0))
            except OSError:
                self.skipTest("no IPv6 address here")
        server = self.serve(address="[::1]:0")
        with socket.create_connection(("::1", server.port), timeout=60) as client:
            client.sendall(b"GET /metrics HTTP/1.1\r\nHost: [::1]\r\nConnection: close\r\n\r\n")
            self.assertEqual(self.status(client.recv(65536)), 200)


if __name__ == "__main__":
    unittest.main(verbosity=2)
