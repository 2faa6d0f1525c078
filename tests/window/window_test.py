#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One walk through traceview's window: a display of its own (Xvfb), keys and mouse from outside (xdotool), and a drop.

usage: window_test.py TRACEVIEW RECORDING_FOLDER

What the window did is read from the marks that it keeps beside the recording: a mark says which time was under the pointer.
Exit code 77 (skipped) where Xvfb or xdotool is missing.
"""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time

import xdnd

PATIENCE_S = 60  # for whatever has to happen; a busy machine is slow, not broken
PLOT_X = 900  # in the plot, which begins right of 330 in a window of 1600 x 900


def wait_for(what, condition):
    """The first true value of condition(); fails after PATIENCE_S."""
    end = time.monotonic() + PATIENCE_S
    while time.monotonic() < end:
        value = condition()
        if value:
            return value
        time.sleep(0.05)
    raise AssertionError(f"waited {PATIENCE_S} s in vain: {what}")


class Window:
    def __init__(self, traceview, folder, display, is_named=True):
        state = os.path.join(os.path.dirname(folder), "state")
        self.environment = dict(os.environ, DISPLAY=display, LIBGL_ALWAYS_SOFTWARE="1", XDG_STATE_HOME=state)
        wait_for("the display", lambda: self.xdotool("getmouselocation"))
        self.process = subprocess.Popen([traceview] + ([folder] if is_named else []), env=self.environment)
        self.sidecar = os.path.join(folder, "run.rank00000.db.zst.marks.json")
        self.id = wait_for("a window", self.find)
        self.xdotool("windowfocus", self.id)

    def xdotool(self, *arguments):
        return subprocess.run(["xdotool", *map(str, arguments)], env=self.environment, check=False, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout.split()

    def find(self):
        assert self.process.poll() is None, f"traceview ended with {self.process.returncode}"
        found = self.xdotool("search", "--name", "^traceview")
        return found[0] if found else None

    def move(self, x, y):
        self.xdotool("mousemove", "--window", self.id, x, y)

    def marks(self):
        try:
            with open(self.sidecar, encoding="utf-8") as file:
                return json.load(file)["marks"]
        except FileNotFoundError:
            return []

    def key(self, *keys):
        self.xdotool("key", *keys)

    def changed_marks(self, act):
        """The marks after something was done that changes them."""
        before = self.marks()
        act()
        return wait_for("the marks to change", lambda: self.marks() != before and self.marks())

    def time_at(self, x, y):
        """The time under a pixel, ns since the epoch: M marks it. The mark before goes first: when it is gone, a frame has seen the
        pointer where it is now."""
        self.move(x, y)
        if self.marks():
            self.key("Delete")
            wait_for("the mark to go", lambda: not self.marks())
        self.key("m")
        return wait_for("a mark", self.marks)[0]["start_unix_ns"]

    def close(self):
        self.key("ctrl+q")
        return self.process.wait(PATIENCE_S)


def check(window):
    y = wait_for("the recording to be read", lambda: find_ruler(window))
    # Ctrl+wheel keeps the time under the pointer and shows less beside it.
    anchor, beside = window.time_at(PLOT_X, y), window.time_at(PLOT_X + 200, y)
    assert beside > anchor, "time goes to the right"
    window.move(PLOT_X, y)
    window.xdotool("keydown", "ctrl", "click", "4", "click", "4", "click", "4", "keyup", "ctrl")
    pixel_ns = (beside - anchor) / 200
    moved = abs(window.time_at(PLOT_X, y) - anchor)
    assert moved <= 2 * pixel_ns, f"the time under the pointer moved by {moved} ns"
    zoomed = window.time_at(PLOT_X + 200, y) - anchor
    assert abs(zoomed / (beside - anchor) - 1.25**-3) < 0.05, f"three notches: {beside - anchor} ns became {zoomed} ns"

    # W is the same from the keyboard; Backspace takes all zooming back.
    window.move(PLOT_X, y)
    window.key("w")
    again = window.time_at(PLOT_X + 200, y) - window.time_at(PLOT_X, y)
    assert abs(again / zoomed - 1 / 1.25) < 0.05, f"W: {zoomed} ns became {again} ns"
    window.key("BackSpace")
    back = window.time_at(PLOT_X + 200, y) - window.time_at(PLOT_X, y)
    assert abs(back / (beside - anchor) - 1) < 0.02, f"Backspace: {beside - anchor} ns before, {back} ns after"

    # A drag measures, Shift+M marks that and takes a text.
    count = len(window.marks())
    window.move(PLOT_X + 50, y)  # not on the flag of the mark
    # All at once, which is less than a frame on a slow machine; and the Shift that follows belongs to the key only.
    window.xdotool("mousedown", 1, "mousemove", "--window", window.id, PLOT_X + 150, y,
                   "mousemove", "--window", window.id, PLOT_X + 250, y, "mouseup", 1)
    window.changed_marks(lambda: window.key("shift+m"))
    time.sleep(0.5)
    window.xdotool("type", "--delay", "100", "slow")
    marks = wait_for("the text", lambda: [mark for mark in window.marks() if mark["text"] == "slow"])
    assert len(window.marks()) == count + 1
    length = marks[0]["end_unix_ns"] - marks[0]["start_unix_ns"]
    assert abs(length / (beside - anchor) - 1) < 0.02, f"a range of {length} ns"

    # The letters went into the text only; the palette finds a command by its words.
    window.key("Escape")
    window.key("ctrl+shift+p")
    time.sleep(0.5)
    window.xdotool("type", "--delay", "100", "delete")
    window.changed_marks(lambda: window.key("Return"))
    assert not [mark for mark in window.marks() if mark["text"] == "slow"]


def check_drop(window, other):
    """What is dropped is shown, and its marks stand beside it."""
    window.key("Escape")
    source = xdnd.Source(window.environment["DISPLAY"])
    source.drop(int(window.id), other, PLOT_X, 300)
    source.close()
    window.sidecar = os.path.join(other, os.path.basename(window.sidecar))
    wait_for("the dropped recording", lambda: find_ruler(window))


def check_start(window, folder):
    """A window without a recording takes a path; Tab completes it."""
    time.sleep(1)
    window.xdotool("type", "--delay", "50", folder[:-1])
    window.key("Tab")
    time.sleep(1)  # the folder has been read
    window.key("Return")
    wait_for("the chosen recording", lambda: find_ruler(window))
    with open(os.path.join(window.environment["XDG_STATE_HOME"], "traceview", "recent"), encoding="utf-8") as file:
        assert file.readline().rstrip("/\n") == folder, "it is not among the recent ones"


def find_ruler(window):
    """The first height at which M sets a mark, once the recording is there: on the ruler, where no event's edge is near."""
    for y in range(30, 150, 6):
        assert window.process.poll() is None, f"traceview ended with {window.process.returncode}"
        window.move(PLOT_X, y)
        window.key("m")
        for _ in range(10):  # a mark that is seen late would be taken for one further down
            time.sleep(0.05)
            if window.marks():
                return y + 3
    return None


def main():
    traceview, recording = sys.argv[1:]
    for program in ("Xvfb", "xdotool"):
        if shutil.which(program) is None:
            print(f"skipped: {program} is not here; apt install {program.lower()}")
            return 77
    read, write = os.pipe()
    # Without -noreset the server starts anew when its last client leaves, xdotool say, and turns down whoever comes meanwhile.
    server = subprocess.Popen(["Xvfb", "-displayfd", str(write), "-noreset", "-screen", "0", "1920x1080x24", "-nolisten", "tcp"],
                              pass_fds=[write], stderr=subprocess.DEVNULL)
    os.close(write)
    number = os.read(read, 16).decode().strip()
    window = None
    try:
        with tempfile.TemporaryDirectory() as folder:
            assert number, "Xvfb did not start"
            copy = os.path.join(folder, "run")
            shutil.copytree(recording, copy)
            window = Window(traceview, copy, f":{number}")
            check(window)
            other = os.path.join(folder, "other")
            shutil.copytree(recording, other)
            check_drop(window, other)
            code = window.close()
            assert code == 0, f"traceview ended with {code}"
            assert sorted(os.listdir(copy)) == sorted(os.listdir(recording) + [os.path.basename(window.sidecar)])
            third = os.path.join(folder, "third")
            shutil.copytree(recording, third)
            window = Window(traceview, third, f":{number}", is_named=False)
            check_start(window, third)
            code = window.close()
            assert code == 0, f"traceview ended with {code}"
    finally:
        if window is not None and window.process.poll() is None:
            window.process.kill()
            window.process.wait()
        server.terminate()
        server.wait()
    print("passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
