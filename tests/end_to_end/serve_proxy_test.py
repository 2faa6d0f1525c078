# SPDX-License-Identifier: Apache-2.0
"""The recipe for TLS of docs/commands.md: nginx, with a certificate of its own, before a `traceview --serve`."""

import http.client
import os
import re
import shutil
import socket
import ssl
import subprocess
import time
import unittest

import harness
import served_viewer
import web_socket
from served_case import WAIT_S, Served

NGINX = shutil.which("nginx", path=os.environ.get("PATH", "") + ":/usr/sbin")
OPENSSL = shutil.which("openssl")
MISSING = ", ".join(name for name, found in (("nginx", NGINX), ("openssl", OPENSSL)) if not found)
# What the recipe leaves to those who run one; all that it writes stays in its folder.
CONFIGURATION = """
daemon off; master_process off; pid nginx.pid; error_log stderr;
events {{}}
http {{
  access_log off;
  client_body_temp_path body; proxy_temp_path proxy; fastcgi_temp_path fastcgi; uwsgi_temp_path uwsgi; scgi_temp_path scgi;
  server {{
    listen 127.0.0.1:{port} ssl;
    ssl_certificate own.pem; ssl_certificate_key own.key;
    {recipe}
  }}
}}
"""


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return taken.getsockname()[1]


@unittest.skipIf(MISSING, f"not on this machine: {MISSING}")
class Proxy(Served):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        subprocess.run([OPENSSL, "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", "own.key", "-out", "own.pem", "-days", "1",
                        "-subj", "/CN=localhost"], cwd=cls.folder, check=True, capture_output=True)
        recipe = re.search(r"```text\n(location / \{.*?\n\})\n```", (harness.ROOT / "docs" / "commands.md").read_text(), re.DOTALL)[1]
        cls.port = free_port()
        (cls.folder / "nginx.conf").write_text(
            CONFIGURATION.format(port=cls.port, recipe=recipe.replace(":8090", f":{cls.server.port}")))
        cls.proxy = subprocess.Popen([NGINX, "-p", cls.folder, "-c", cls.folder / "nginx.conf"], stderr=subprocess.PIPE, text=True)
        cls.addClassCleanup(cls.end_proxy)
        cls.tls = ssl.create_default_context(cafile=cls.folder / "own.pem")
        cls.tls.check_hostname = False
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline and cls.proxy.poll() is None:
            try:
                return socket.create_connection(("127.0.0.1", cls.port)).close()
            except ConnectionRefusedError:
                time.sleep(0.05)
        raise RuntimeError(cls.proxy.stderr.read())

    @classmethod
    def end_proxy(cls):
        cls.proxy.kill()
        cls.proxy.wait()
        cls.proxy.stderr.close()

    def test_the_page_comes_through(self):
        connection = http.client.HTTPSConnection("127.0.0.1", self.port, timeout=WAIT_S, context=self.tls)
        self.addCleanup(connection.close)
        connection.request("GET", "/")
        answer = connection.getresponse()
        self.assertEqual(answer.status, 200)
        self.assertIn("script-src 'sha256-", answer.headers["Content-Security-Policy"])
        self.assertIn("<canvas", answer.read().decode())

    def test_so_does_what_is_shown(self):
        through = web_socket.WebSocket(self.port, "/viewer", origin=f"https://localhost:{self.port}", tls=self.tls)
        self.addCleanup(through.close)
        through.send(served_viewer.hello(self.server.token))
        parts = set()
        while not {served_viewer.FRAME, served_viewer.FONT, served_viewer.TITLE} <= parts:
            message = through.receive()
            self.assertIsNotNone(message, through.reason)
            parts.add(message[0])


if __name__ == "__main__":
    unittest.main()
