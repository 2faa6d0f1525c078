# SPDX-License-Identifier: Apache-2.0
"""`traceview --serve`: what strangers get, what viewers get, and the page in a real browser."""

import http.client
import pathlib
import re
import shutil
import socket
import subprocess
import tempfile
import time
import unittest

import browser
import harness
import served_viewer
import web_socket

TRACEVIEW = harness.BUILD / "bin" / "traceview"
COMPARE = harness.BUILD / "bin" / "compare_pictures"
RECORDING = "ddp_h200"
MOST_VIEWERS = 32
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


class Strangers(Served):
    def test_the_page_is_one_file_that_refers_to_nothing(self):
        answer = self.get()
        self.assertEqual(answer.status, 200)
        self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
        self.assertNotRegex(answer.text, r"https?://|url\(|@import|\bsrc=")
        self.assertNotIn(self.server.token, answer.text)
        self.assertEqual(self.get("/run.db").status, 404)
        self.assertEqual(self.get(method="POST").status, 405)

    def test_without_the_token_nothing_is_shown(self):
        for token in ("", "guess", self.server.token[:-1], self.server.token + "0"):
            stranger = web_socket.WebSocket(self.server.port, "/viewer")
            self.addCleanup(stranger.close)
            stranger.send(served_viewer.hello(token))
            self.assertIsNone(stranger.receive())
            self.assertEqual(stranger.reason, "token")

    def test_pages_of_others_are_refused(self):
        for how in ({"origin": "http://evil.example"}, {"origin": f"http://localhost:{self.server.port}"}, {"origin": "null"},
                    {"host": "evil.example"}, {"host": "evil.example", "origin": "http://evil.example"}):
            with self.assertRaises(web_socket.Refused, msg=how) as refused:
                web_socket.WebSocket(self.server.port, "/viewer", **how)
            self.assertIn(" 403 ", str(refused.exception))
        self.assertEqual(self.get(Host="evil.example").status, 403)

    def test_what_is_no_input_ends_the_connection(self):
        for wrong in (b"\xff", b"\5\0", served_viewer.hello(self.server.token), b"\2\xff\xff\xff\xff"):
            viewer = self.viewer()
            viewer.socket.send(wrong)
            with self.assertRaises(ConnectionError):
                viewer.receive_until(lambda: False)
        viewer = self.viewer()
        with self.assertRaises(ConnectionError):
            viewer.socket.send(served_viewer.key("A") * 30_000)
            viewer.receive_until(lambda: False)
        self.assertEqual(self.get().status, 200)

    def test_there_is_room_for_so_many_and_again_when_one_goes(self):
        viewers = [self.viewer() for _ in range(MOST_VIEWERS)]
        with self.assertRaises(web_socket.Refused) as refused:
            self.viewer()
        self.assertIn(" 503 ", str(refused.exception))
        viewers.pop().close()
        deadline = time.monotonic() + WAIT_S
        while time.monotonic() < deadline:
            try:
                viewers.append(self.viewer())
                break
            except web_socket.Refused:
                time.sleep(0.05)
        self.assertEqual(len(viewers), MOST_VIEWERS)
        for viewer in viewers:
            viewer.close()


class Viewers(Served):
    def shown(self, **how):
        """A viewer who sees the recording."""
        viewer = self.viewer(**how)
        viewer.receive_until(lambda: viewer.title)
        return viewer

    def press(self, viewer, name):
        """Returns once that shows something else."""
        before = viewer.link
        viewer.send(served_viewer.key(name, name.lower()))
        viewer.receive_until(lambda: viewer.link != before)

    def test_each_has_a_view_of_its_own(self):
        one, other = self.shown(), self.shown()
        self.press(one, "W")
        self.press(other, "W")
        self.assertEqual(one.link, other.link)
        self.press(other, "W")
        self.assertNotEqual(one.link, other.link)
        self.assertIn(RECORDING, one.title)

    def test_a_link_restores_the_view(self):
        one = self.shown()
        for name in "WWWD":
            self.press(one, name)
        other = self.viewer(link=one.link)
        other.receive_until(lambda: other.link)
        self.assertEqual(other.link, one.link)

    def test_frames_are_small_and_come_only_when_something_changes(self):
        viewer = self.shown()
        self.press(viewer, "W")
        self.assertLess(max(viewer.frame_bytes), 150_000)
        viewer.socket.connection.settimeout(1)
        with self.assertRaises(socket.timeout):
            while True:
                viewer.receive()

    def test_the_end_is_told(self):
        server = self.start()
        viewer = served_viewer.Viewer(server)
        self.addCleanup(viewer.close)
        viewer.receive_until(lambda: viewer.frame > 0)
        self.assertEqual(server.end(), 0)
        with self.assertRaisesRegex(ConnectionError, "the server has ended"):
            viewer.receive_until(lambda: False)
        self.assertIn("ssh -N -L", server.said)


@unittest.skipIf(browser.missing(), f"not on this machine: {browser.missing()}")
class Page(Served):
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

    def test_the_picture_is_that_of_the_program(self):
        for dark in (True, False):
            self.open(width=1280, height=900, dark=dark)
            self.browser.run("location.reload()")
            self.wait_for("canvas.dataset.frame > 0")
            self.settle()
            theme = "dark" if dark else "light"
            actual, expected = self.folder / f"{theme}.png", self.folder / f"{theme}_expected.png"
            self.browser.screenshot(actual)
            made = subprocess.run([TRACEVIEW, self.folder / RECORDING, *self.arguments, "--size", "1280x900", "--theme", theme,
                                   "--screenshot", expected], capture_output=True, text=True, check=False)
            if "EGL offers no OpenGL" in made.stderr:
                self.skipTest(made.stderr)
            self.assertEqual(made.returncode, 0, made.stderr)
            compared = subprocess.run([COMPARE, expected, actual, self.folder / "difference.png"], capture_output=True, text=True, check=False)
            self.assertEqual(compared.returncode, 0, compared.stderr)

    def test_keys_and_mouse_change_the_view_and_the_address(self):
        self.open()
        self.assertNotIn(self.server.token, self.browser.run("return location.href"))
        before = self.wait_for("location.hash")
        self.assertTrue(before.startswith("#t=8.5s..9s"), before)
        self.browser.press("d")
        after = self.wait_for("location.hash != arguments[0] && location.hash", before)
        self.assertRegex(after, r"^#t=8\.5\d*s\.\.9\.0\d*s")
        self.browser.devtools("Input.dispatchMouseEvent", type="mouseWheel", x=800, y=300, deltaX=0, deltaY=-300, modifiers=2)
        zoomed = self.wait_for("location.hash != arguments[0] && location.hash", after)
        self.assertNotEqual(zoomed, after)
        for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
            self.browser.devtools("Input.dispatchMouseEvent", type=kind, x=800, y=208, button="left", clickCount=1)
        selected = self.wait_for("location.hash.includes('event=') && location.hash")
        self.browser.run("location.reload()")
        self.wait_for("canvas.dataset.frame > 0")
        self.settle()
        self.assertEqual(self.browser.run("return location.hash"), selected)

    def test_a_finger_moves_and_two_zoom(self):
        self.open(width=390, height=844, ratio=2)
        before = self.wait_for("location.hash")
        self.browser.devtools("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)

        def touch(kind, *points):
            self.browser.devtools("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])
        touch("touchStart", (350, 300))
        for x in range(340, 250, -10):
            touch("touchMove", (x, 300))
        touch("touchEnd")
        moved = self.wait_for("location.hash != arguments[0] && location.hash", before)

        def span(link):
            first, last = re.match(r"#t=([0-9.]+)s\.\.([0-9.]+)s", link).groups()
            return float(last) - float(first)
        self.assertAlmostEqual(span(moved), span(before), delta=0.001)
        touch("touchStart", (280, 300), (300, 300))
        for apart in range(10, 60, 5):
            touch("touchMove", (290 - apart, 300), (290 + apart, 300))
        touch("touchEnd")
        zoomed = self.wait_for("location.hash != arguments[0] && location.hash", moved)
        time.sleep(1)
        zoomed = self.browser.run("return location.hash")
        self.assertLess(span(zoomed), span(moved) / 2)

    def test_commands_of_the_browser(self):
        self.open()
        self.browser.run("window.copied = []; Object.defineProperty(navigator, 'clipboard', {value: {writeText: async (text) => copied.push(text)}});"
                         "window.saved = []; HTMLAnchorElement.prototype.click = function() { saved.push([this.download, this.href]); }")
        self.browser.press("y")
        self.assertEqual(self.wait_for("copied.length && copied[0]"), self.browser.run("return location.href"))
        self.browser.devtools("Input.dispatchKeyEvent", type="keyDown", key="s", code="KeyS", modifiers=2)
        name, address = self.wait_for("saved.length && saved[0]")
        self.assertEqual(name, "timeline.png")
        self.assertTrue(address.startswith("blob:"))

    def test_it_says_when_the_server_has_gone_and_comes_back(self):
        server = self.start()
        self.browser.open(server.address())
        self.wait_for("canvas.dataset.frame > 0")
        self.assertEqual(server.end(), 0)
        self.wait_for("note.textContent.includes('Trying again')")
        again = self.start(f"127.0.0.1:{server.port}")
        self.addCleanup(again.kill)
        self.wait_for("!gate.hidden")  # another server has another token
        self.browser.run("document.getElementById('token').value = arguments[0]; gate.requestSubmit()", again.token)
        self.wait_for("gate.hidden && note.textContent === ''")
        self.browser.press("w")
        self.wait_for("location.hash.startsWith('#t=')")

    def test_nothing_is_complained_of(self):
        self.open()
        self.browser.press("w", "d", "?")
        self.settle()
        self.assertEqual([line for line in self.browser.complaints() if "GL Driver Message" not in line], [])


if __name__ == "__main__":
    unittest.main()
