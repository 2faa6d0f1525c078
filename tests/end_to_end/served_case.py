# SPDX-License-Identifier: Apache-2.0
"""Tests of `traceview --serve`: a server of a class of them, and the page in a real browser."""

import http.client
import pathlib
import shutil
import tempfile
import time
import unittest

import browser
import harness
import served_viewer

TRACEVIEW = harness.BUILD / "bin" / "traceview"
RECORDING = "ddp_h200"
WAIT_S = 60


class Served(unittest.TestCase):
    """One server for all tests of a class, on a copy: marks are kept beside a recording."""

    arguments = ()

    @classmethod
    def setUpClass(cls):
        if not TRACEVIEW.exists():
            raise unittest.SkipTest("traceview is not built here")
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="serve-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        shutil.copytree(harness.ROOT / "samples" / "recordings" / RECORDING, cls.folder / RECORDING)
        cls.server = cls.start()
        cls.addClassCleanup(cls.server.kill)

    @classmethod
    def start(cls, address="127.0.0.1:0"):
        return served_viewer.Server(TRACEVIEW, cls.folder / RECORDING, *cls.arguments, address=address)

    def viewer(self, **how):
        viewer = served_viewer.Viewer(self.server, **how)
        self.addCleanup(viewer.close)
        return viewer

    def get(self, path="/", method="GET", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.server.port, timeout=WAIT_S)
        self.addCleanup(connection.close)
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        answer.text = answer.read().decode()
        return answer


@unittest.skipIf(browser.missing(), f"not on this machine: {browser.missing()}")
class ServedPage(Served):
    arguments = ("--view", "8.5s..9s")

    def setUp(self):
        self.browser = browser.Browser().__enter__()
        self.addCleanup(self.browser.__exit__)

    def wait_for(self, script, *arguments):
        """What the script returns once it is true."""
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            if found := self.browser.run("return " + script, *arguments):
                return found
            time.sleep(0.05)
        self.fail(f"never: {script}; {self.browser.run('return [location.href, note.textContent, canvas.dataset.frame]')}")

    def open(self, link="", **how):
        self.browser.open(self.server.address(link), **how)
        self.wait_for("canvas.dataset.frame > 0")

    def settle(self):
        """Until no frame has come for a second: the verdict is there."""
        frame = None
        while frame != (frame := self.browser.run("return canvas.dataset.frame")):
            time.sleep(1.5)
