# SPDX-License-Identifier: Apache-2.0
"""`traceview --serve`: what strangers get, what viewers get, and the page in a real browser."""

import pathlib
import re
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import time
import unittest

import harness
import served_viewer
import web_socket
from served_case import RECORDING, TRACEVIEW, WAIT_S, Served, ServedPage

COMPARE = harness.BUILD / "bin" / "compare_pictures"
MOST_VIEWERS = 32


class Strangers(Served):
    def test_the_page_is_one_file_that_refers_to_nothing(self):
        answer = self.get()
        self.assertEqual(answer.status, 200)
        self.assertIn("default-src 'none'", answer.headers["Content-Security-Policy"])
        self.assertNotIn("unsafe", answer.headers["Content-Security-Policy"])
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
    arguments = ("--view", "all")

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


class FirstView(Served):
    def shown(self, link=""):
        """The link of what a viewer sees first, once the verdict is known."""
        viewer = self.viewer(link=link)
        viewer.receive_until(lambda: viewer.title and viewer.link)
        return viewer.link

    def test_it_is_of_the_steps_that_were_judged(self):
        self.assertRegex(self.shown(), r"^t=10\.7\d*s\.\.10\.9\d*s$")

    def test_a_link_goes_before_it(self):
        for link in ("t=all", "t=9s..9.5s"):
            with self.subTest(link):
                self.assertEqual(self.shown(link), link)


class Followed(unittest.TestCase):
    """A recording that is being written."""

    def setUp(self):
        if not TRACEVIEW.exists():
            self.skipTest("traceview is not built here")
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="follow-"))
        self.addCleanup(shutil.rmtree, self.folder)
        self.recording = self.folder / "run.db"

    def write(self):
        subprocess.run([sys.executable, harness.ROOT / "tests" / "bench" / "make_run.py", self.recording, "--events", "2000"], check=True)

    def grow(self):
        """The same kernels once more, after the others."""
        run = sqlite3.connect(self.recording)
        run.execute("PRAGMA journal_mode = WAL")
        kernels = run.execute("SELECT * FROM kernel")
        start = [column[0] for column in kernels.description].index("start")
        rows = kernels.fetchall()
        end = max(row[start] for row in rows)
        run.executemany(f"INSERT INTO kernel VALUES ({', '.join('?' * len(rows[0]))})",
                        [(*row[:start], row[start] + end, *row[start + 1:]) for row in rows])
        run.execute("UPDATE process SET end = end + ?", (end,))
        run.commit()
        run.close()

    def serve(self):
        server = served_viewer.Server(TRACEVIEW, self.recording, "--follow")
        self.addCleanup(server.kill)
        return server

    def viewer(self, server, link=""):
        viewer = served_viewer.Viewer(server, link=link)
        self.addCleanup(viewer.close)
        viewer.receive_until(lambda: viewer.title and (viewer.link or not link) and viewer.state)
        return viewer

    def test_what_comes_is_shown_and_the_end_followed(self):
        self.write()
        server = self.serve()
        at_end, in_the_middle = self.viewer(server, "t=4ms..6.1ms"), self.viewer(server, "t=1ms..2ms")
        links, frame = (at_end.link, in_the_middle.link), in_the_middle.frame
        self.grow()
        at_end.receive_until(lambda: at_end.link != links[0])
        in_the_middle.receive_until(lambda: in_the_middle.frame > frame)

        def times(link):
            return [float(time) for time in re.match(r"t=([0-9.]+)s\.\.([0-9.]+)s", link).groups()]
        before, now = times(links[0]), times(at_end.link)
        self.assertGreater(now[0], before[1], "as much as before, up to the new end")
        self.assertAlmostEqual(now[1] - now[0], before[1] - before[0], places=6)
        self.assertEqual(in_the_middle.link, links[1])

    def test_what_is_not_there_yet_is_waited_for(self):
        self.recording.touch()
        server = self.serve()
        viewer = served_viewer.Viewer(server)
        self.addCleanup(viewer.close)
        viewer.receive_until(lambda: viewer.frame > 0)
        self.assertEqual(viewer.title, "")
        self.recording.unlink()
        self.write()
        viewer.receive_until(lambda: viewer.title)

    def test_without_following_it_is_told_at_once(self):
        self.recording.touch()
        told = [subprocess.run([TRACEVIEW, self.recording, *how], capture_output=True, text=True, check=False)
                for how in (("--serve", "127.0.0.1:0"), ("--check",))]
        self.assertEqual([one.returncode for one in told], [3, 3])
        self.assertIn("the file is empty", told[0].stderr)
        self.assertEqual(told[0].stderr, told[1].stderr)


class Page(ServedPage):
    def picture_differs(self, dark, ratio):
        """From what the program draws of that size: how; empty: not at all."""
        self.open(width=1280 // ratio, height=900 // ratio, dark=dark, ratio=ratio)
        self.browser.run("location.reload()")
        self.wait_for("canvas.dataset.frame > 0")
        self.settle()
        theme = "dark" if dark else "light"
        actual, expected = self.folder / "actual.png", self.folder / "expected.png"
        self.browser.screenshot(actual)
        made = subprocess.run([TRACEVIEW, self.folder / RECORDING, *self.arguments, "--size", "1280x900", "--theme", theme, "--scale", str(ratio),
                               "--screenshot", expected], capture_output=True, text=True, check=False)
        if "EGL offers no OpenGL" in made.stderr:
            self.skipTest(made.stderr)
        self.assertEqual(made.returncode, 0, made.stderr)
        compared = subprocess.run([COMPARE, expected, actual, self.folder / "difference.png"], capture_output=True, text=True, check=False)
        return compared.stderr if compared.returncode else ""

    def test_the_picture_is_that_of_the_program(self):
        for dark, ratio in ((True, 1), (False, 1), (True, 2)):
            with self.subTest(dark=dark, ratio=ratio):
                self.assertEqual(self.picture_differs(dark, ratio), "")

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
