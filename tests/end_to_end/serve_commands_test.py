# SPDX-License-Identifier: Apache-2.0
"""Every command by its keys and every gesture, in a real browser that shows what `traceview --serve` draws: what changes is told by the link and
the state that the page was given."""

import json
import re
import subprocess
import time
import unittest
import urllib.parse

import harness
from served_case import TRACEVIEW, WAIT_S, ServedPage

WIDTH, HEIGHT = 1280, 900
START = "t=8.5s..9s"
# Of the window's names those that a browser has others for, and the keys that have no letter of their own.
NAMES = {"Left": "ArrowLeft", "Right": "ArrowRight", "Up": "ArrowUp", "Down": "ArrowDown", "Esc": "Escape"}
ALT, CONTROL, SHIFT = 1, 2, 8
MODIFIERS = {"Alt": ALT, "Ctrl": CONTROL, "Shift": SHIFT}
BUTTONS = {"none": 0, "left": 1, "right": 2, "middle": 4}

# Places on the screen, in the recording's view from 8.5 s to 9 s.
HEADING = (100, 152)
TRIANGLE = (28, 208)  # of GPU 0
STREAM = (800, 304)  # stream 7
STREAM_LABEL = (100, 304)
RANGE, NEXT_RANGE = (670, 420), (850, 420)  # an NVTX range from about 586 to 757, and the one after it
RANGE_EDGES = (587, 760)
RULER_Y = 130
OVERVIEW = (400, 97)


class Shown:
    """What the page knows of what it shows."""

    def __init__(self, link, state, vertices):
        self.link = dict(part.split("=", 1) for part in link.split("&") if part)
        parts = {name: urllib.parse.unquote(value) for name, value in (part.split("=", 1) for part in state.split("&") if part)}
        self.kept = json.loads(parts.pop("kept", "{}") or "{}")
        self.state = parts
        self.vertices = vertices

    def times(self, which=None):
        """Of the view, or of the measured range: seconds."""
        text = self.link.get("t", "0s..0s") if which is None else self.state.get("measure", "0s..0s")
        return [float(time.rstrip("s")) for time in text.split("..")]

    @property
    def start(self):
        return self.times()[0]

    @property
    def span(self):
        return self.times()[1] - self.times()[0]

    @property
    def measured(self):
        return self.times("measure")

    @property
    def panels(self):
        return self.state["panels"].split(",")

    @property
    def marks(self):
        return len(self.kept["marks"])

    def rows(self, which):
        return self.kept["rows"][which]

    def has_kept(self):
        return self.marks > 0 or any(self.kept["rows"].values())

    @property
    def event(self):
        return self.link.get("row", ""), self.link.get("event", "")


class Page(ServedPage):
    arguments = ()

    def setUp(self):
        super().setUp()
        self.browser.open(self.server.address(START), width=WIDTH, height=HEIGHT)
        self.wait_for("state && link")
        self.settle()

    def begin(self):
        """A session of its own, in which nothing was done yet, and nothing was kept."""
        self.resize(WIDTH, HEIGHT)
        deadline = time.monotonic() + WAIT_S / 4
        while self.connect_anew().has_kept():  # the session before may keep what it has a moment after its page has gone
            self.assertLess(time.monotonic(), deadline, "what was done before is never gone")

    def connect_anew(self):
        self.browser.run_later("socket.onclose = done; socket.close();")
        for kept in self.folder.rglob("*.marks.json"):
            kept.unlink()
        # A tap just before would make the next one the second of two.
        self.browser.run(f"tapped.at = -Infinity; copied = []; saved = []; link = '{START}'; state = ''; frame = {{lists: []}}; connect()")
        self.wait_for("state")
        return self.until(lambda now: now.link.get("t") == "8.5s..9s")

    def resize(self, width, height):
        self.browser.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)

    def shown(self):
        return Shown(*self.browser.run("return [link, state, frame.lists.reduce((sum, list) => sum + list.vertices.length, 0)]"))

    def until(self, holds):
        """What is shown once that holds."""
        deadline = time.monotonic() + WAIT_S / 4
        while not holds(now := self.shown()):
            self.assertLess(time.monotonic(), deadline, f"never; {now.link} {now.state} {now.kept}")
            time.sleep(0.02)
        return now

    def press(self, keys):
        """As the window names them: Ctrl+Shift+P."""
        *held, name = keys.split("+") if len(keys) > 1 else [keys]
        bits = sum(MODIFIERS[one] for one in held)
        is_letter = len(name) == 1
        key = (name if bits & SHIFT else name.lower()) if is_letter else NAMES.get(name, name)
        text = {"text": key} if is_letter and not bits & (ALT | CONTROL) else {}
        code = f"Key{name}" if is_letter and name.isalpha() else "" if is_letter else key
        for kind in ("keyDown", "keyUp"):
            self.browser.devtools("Input.dispatchKeyEvent", type=kind, key=key, code=code, modifiers=bits, **(text if kind == "keyDown" else {}))

    def mouse(self, kind, place, button="none", held=0, clicks=0, **more):
        self.browser.devtools("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button=button, modifiers=held, clickCount=clicks,
                              buttons=0 if kind == "mouseReleased" else BUTTONS[button], **more)

    def point(self, place):
        self.mouse("mouseMoved", place)

    def click(self, place, button="left", held=0, times=1):
        self.mouse("mouseMoved", place, held=held)
        for count in range(1, times + 1):
            for kind in ("mousePressed", "mouseReleased"):
                self.mouse(kind, place, button, held, count)

    def drag(self, begin, end, button="left", held=0):
        self.mouse("mouseMoved", begin, held=held)
        self.mouse("mousePressed", begin, button, held, 1)
        for tenth in range(1, 11):
            at = [a + (b - a) * tenth / 10 for a, b in zip(begin, end)]
            self.mouse("mouseMoved", at, button, held)
        self.mouse("mouseReleased", end, button, held, 1)

    def wheel(self, place, up=0.0, right=0.0, held=0):
        self.mouse("mouseWheel", place, held=held, deltaX=right, deltaY=-up)

    def touch(self, kind, *points):
        self.browser.devtools("Input.dispatchTouchEvent", type=kind, touchPoints=[{"x": x, "y": y, "id": i} for i, (x, y) in enumerate(points)])

    def select(self, place=STREAM):
        self.click(place)
        return self.until(lambda now: now.link.get("event"))


def changes(value):
    """A check that this is another than before."""
    return lambda before, now: value(now) != value(before)


def only_zooms(test, keys):
    test.point(STREAM)
    before = test.shown()
    test.press(keys)
    return before


def with_selection(test, keys):
    before = test.select()
    test.press(keys)
    return before


def at_stream(test, keys):
    before = test.shown()
    test.point(STREAM)
    test.press(keys)
    return before


def plainly(test, keys):
    before = test.shown()
    test.press(keys)
    return before


def zoomed(test, keys):
    test.point(STREAM)
    before = test.shown()
    test.press("W")
    test.until(lambda now: now.span < before.span)
    test.press(keys)
    return before


def scrolling(test, keys):
    test.resize(WIDTH, 420)
    test.press("PageDown")
    before = test.until(lambda now: now.link.get("row"))
    test.press(keys)
    return before


def at_launch(test, keys):
    kernel = test.select()
    test.press("[")
    before = test.until(lambda now: now.event != kernel.event)
    test.press(keys)
    return before


def ranks_moved(test, keys):
    test.point(HEADING)
    test.press("Alt+Down")
    before = test.until(lambda now: now.rows("order"))
    test.press(keys)
    return before


def with_mark(test, keys):
    test.point(STREAM)
    test.press("M")
    before = test.until(lambda now: now.marks == 1)
    test.press(keys)
    return before


def with_hidden(test, keys):
    test.point(STREAM)
    test.press("H")
    before = test.until(lambda now: now.rows("hidden"))
    test.press(keys)
    return before


def shows(panel):
    return lambda before, now: panel in now.panels and panel not in before.panels


# By their names in scripts: keys, what is done, and what then has to hold of before and now.
COMMANDS = {
    "zoom-in": (["W"], only_zooms, lambda before, now: now.span < before.span),
    "zoom-out": (["S"], only_zooms, lambda before, now: now.span > before.span),
    "earlier": (["A", "Left"], plainly, lambda before, now: now.start < before.start),
    "later": (["D", "Right"], plainly, lambda before, now: now.start > before.start),
    "rows-up": (["Up", "PageUp"], scrolling, changes(lambda shown: shown.link.get("row"))),
    "rows-down": (["Down", "PageDown"], scrolling, changes(lambda shown: shown.link.get("row"))),
    "fit": (["F"], with_selection, lambda before, now: now.span < before.span / 10),
    "whole-run": (["Home", "0"], plainly, lambda before, now: now.link.get("t") == "all"),
    "back": (["Backspace"], zoomed, lambda before, now: now.span == before.span),
    "find": (["/", "Ctrl+F"], plainly, lambda before, now: now.state["tab"] == "Find"),
    "previous-event": ([","], with_selection, lambda before, now: now.event[0] == before.event[0] and now.event[1] < before.event[1]),
    "next-event": (["."], with_selection, lambda before, now: now.event[0] == before.event[0] and now.event[1] > before.event[1]),
    "follow-back": (["["], with_selection, lambda before, now: "thread" in now.event[0]),
    "follow": (["]"], at_launch, lambda before, now: "stream" in now.event[0]),
    "measure-selection": (["R"], with_selection, lambda before, now: now.measured[1] > now.measured[0]),
    "mark": (["M"], at_stream, lambda before, now: now.marks == 1 and now.state["tab"] != "Marks"),
    "new-mark": (["Shift+M"], at_stream, lambda before, now: now.marks == 1 and now.state["tab"] == "Marks"),
    "delete-mark": (["Delete"], with_mark, lambda before, now: now.marks == 0),
    "marks": (["Ctrl+M"], plainly, lambda before, now: now.state["tab"] == "Marks"),
    "fold": (["C"], at_stream, lambda before, now: now.rows("folded")),
    "pin": (["P"], at_stream, lambda before, now: now.rows("pinned")),
    "hide": (["H"], at_stream, lambda before, now: now.rows("hidden")),
    "row-up": (["Alt+Up"], at_stream, lambda before, now: now.rows("order")),
    "row-down": (["Alt+Down"], at_stream, lambda before, now: now.rows("order")),
    "sort-ranks": (["L"], ranks_moved, changes(lambda shown: shown.rows("order"))),
    "fold-ranks": (["Shift+C"], plainly, lambda before, now: len(now.rows("folded")) == 2),
    "idle-rows": (["I"], plainly, changes(lambda shown: shown.vertices)),
    "reset-rows": (["Shift+H"], with_hidden, lambda before, now: not now.rows("hidden")),
    "details": (["Q"], plainly, lambda before, now: "details" not in now.panels),
    "theme": (["T"], plainly, changes(lambda shown: shown.state["theme"])),
    "colours": (["K"], plainly, changes(lambda shown: shown.state["colors"])),
    "clear": (["Esc"], with_selection, lambda before, now: "event" not in now.link),
    "palette": (["Ctrl+Shift+P"], plainly, shows("palette")),
    "help": (["?", "F1"], plainly, shows("help")),
}
# What the browser does itself; serve_viewer_test.py looks at that.
OF_THE_BROWSER = {"copy-link": "Y", "save-picture": "Ctrl+S"}
# What acts on the machine with the recording.
NOT_OFFERED = {"open-editor": "E", "open": "Ctrl+O", "quit": "Ctrl+Q"}


class Commands(Page):
    def test_each_is_done_by_each_of_its_keys(self):
        told = subprocess.run([TRACEVIEW, "--help"], capture_output=True, text=True, check=True).stdout
        names = set(re.search(r"and every command: ([a-z\s-]+)", told)[1].split())
        self.assertEqual(names, {*COMMANDS, *OF_THE_BROWSER, *NOT_OFFERED})
        for name, (all_keys, act, holds) in COMMANDS.items():
            for keys in all_keys:
                with self.subTest(command=name, keys=keys):
                    self.begin()
                    before = act(self, keys)
                    self.until(lambda now, before=before, holds=holds: holds(before, now))

    def test_what_is_not_offered_changes_nothing(self):
        self.begin()
        self.settle()
        for name, keys in NOT_OFFERED.items():
            before = self.browser.run("return [link, state, canvas.dataset.frame]")
            self.browser.devtools("Input.dispatchKeyEvent", type="keyDown", key=keys[-1].lower(), code=f"Key{keys[-1]}",
                                  modifiers=CONTROL if "Ctrl" in keys else 0)
            time.sleep(0.5)
            self.assertEqual(self.browser.run("return [link, state, canvas.dataset.frame]"), before, name)


class Gestures(Page):
    def wheel_scrolls(self):
        self.resize(WIDTH, 420)
        self.wheel((800, 200), up=-200)
        self.until(lambda now: now.link.get("row"))

    def control_wheel_zooms(self):
        self.wheel(STREAM, up=200, held=CONTROL)
        self.until(lambda now: now.span < 0.4)

    def shift_wheel_pans(self):
        self.wheel(STREAM, up=-100, held=SHIFT)
        now = self.until(lambda now: now.start > 8.5)
        self.assertAlmostEqual(now.span, 0.5, places=6)
        # Some browsers turn that into a wheel to the side, as touchpads have.
        self.wheel(STREAM, right=-200)
        self.until(lambda now: now.start < 8.5)

    def hover_tells(self):
        before = self.shown().vertices
        self.point(RANGE)
        self.until(lambda now: now.vertices > before + 50)

    def click_selects(self):
        self.select(RANGE)
        self.click((800, 466))  # nothing
        self.until(lambda now: "event" not in now.link)

    def control_click_selects_too(self):
        self.click(RANGE, held=CONTROL)
        self.until(lambda now: "NVTX" in urllib.parse.unquote(now.event[0]))

    def double_click_zooms_to_it(self):
        self.click(RANGE, times=2)
        self.until(lambda now: now.link.get("event") and now.span < 0.4)

    def drag_measures(self):
        left, right = RANGE_EDGES
        self.select(RANGE)
        self.press("R")
        event = self.until(lambda now: "measure" in now.state).measured
        self.press("Esc")
        self.until(lambda now: "measure" not in now.state)
        self.drag((left + 2, 420), (right - 1, 420))
        self.until(lambda now: now.measured == event)  # snapped
        return event

    def alt_drag_does_not_snap(self):
        event = self.drag_measures()
        self.press("Esc")
        self.until(lambda now: "measure" not in now.state)
        self.drag((RANGE_EDGES[0] + 3, 420), (RANGE_EDGES[1] - 3, 420), held=ALT)
        now = self.until(lambda now: "measure" in now.state)
        self.assertGreater(now.measured[0], event[0])
        self.assertLess(now.measured[1], event[1])

    def edge_drag_adjusts(self):
        event = self.drag_measures()
        self.drag((RANGE_EDGES[1], 420), (RANGE_EDGES[1] + 60, 420), held=ALT)
        now = self.until(lambda now: now.measured[1] > event[1])
        self.assertEqual(now.measured[0], event[0])

    def pans(self, **how):
        self.drag(STREAM, (STREAM[0] + 100, STREAM[1]), **how)
        now = self.until(lambda now: now.start < 8.46)
        self.assertAlmostEqual(now.span, 0.5, places=6)
        self.assertNotIn("measure", now.state)

    def right_drag_pans(self):
        self.pans(button="right")

    def shift_drag_pans(self):
        self.pans(held=SHIFT)

    def middle_drag_zooms(self):
        self.drag((600, 304), (800, 304), button="middle")
        self.until(lambda now: now.span < 0.2 and now.start > 8.6)

    def a_mark_is_clicked(self):
        self.point(STREAM)
        self.press("M")
        self.until(lambda now: now.marks == 1)
        self.press("Esc")
        self.click((STREAM[0] + 4, RULER_Y))
        self.press("Delete")
        self.until(lambda now: now.marks == 0)

    def a_triangle_folds(self):
        self.click(TRIANGLE)
        self.until(lambda now: now.rows("folded"))

    def a_label_has_a_menu(self):
        before = self.shown().vertices
        self.click(STREAM_LABEL, button="right")
        self.until(lambda now: now.vertices > before + 100)
        self.click((STREAM_LABEL[0] + 20, STREAM_LABEL[1] + 15))
        self.until(lambda now: any(now.rows(which) for which in ("pinned", "hidden", "folded", "order")))

    def the_overview_leads_there(self):
        self.click(OVERVIEW)
        self.until(lambda now: now.start < 5)

    # By the table of the viewer.
    ALL = {"Wheel": wheel_scrolls, "ControlWheel": control_wheel_zooms, "ShiftWheel": shift_wheel_pans, "Hover": hover_tells, "Click": click_selects,
           "ControlClick": control_click_selects_too, "DoubleClick": double_click_zooms_to_it, "Drag": drag_measures,
           "AltDrag": alt_drag_does_not_snap, "EdgeDrag": edge_drag_adjusts, "RightDrag": right_drag_pans, "ShiftDrag": shift_drag_pans,
           "MiddleDrag": middle_drag_zooms, "MarkClick": a_mark_is_clicked, "Fold": a_triangle_folds, "RowMenu": a_label_has_a_menu,
           "Overview": the_overview_leads_there}

    def test_each_of_the_mouse(self):
        table = (harness.ROOT / "viewer" / "core" / "timeline" / "commands.cc").read_text()
        self.assertEqual(set(re.findall(r"\{GestureId::k(\w+), \"", table)) | {"Overview"}, set(self.ALL))
        for name, act in self.ALL.items():
            with self.subTest(gesture=name):
                self.begin()
                act(self)

    def test_each_of_fingers(self):
        self.browser.devtools("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=5)
        with self.subTest("one moves"):
            self.begin()
            self.touch("touchStart", STREAM)
            for x in range(10, 110, 10):
                self.touch("touchMove", (STREAM[0] + x, STREAM[1]))
            self.touch("touchEnd")
            now = self.until(lambda now: now.start < 8.46)
            self.assertAlmostEqual(now.span, 0.5, places=6)
            self.assertNotIn("measure", now.state)
        with self.subTest("two zoom"):
            self.begin()
            self.touch("touchStart", (790, 304), (810, 304))
            for apart in range(15, 60, 5):
                self.touch("touchMove", (800 - apart, 304), (800 + apart, 304))
            self.touch("touchEnd")
            self.until(lambda now: now.span < 0.25)
        with self.subTest("a tap selects"):
            self.begin()
            self.touch("touchStart", RANGE)
            self.touch("touchEnd")
            self.until(lambda now: now.link.get("event"))
        with self.subTest("two taps zoom to it"):
            self.begin()
            self.browser.devtools("Input.synthesizeTapGesture", x=RANGE[0], y=RANGE[1], tapCount=2, gestureSourceType="touch")
            self.until(lambda now: now.link.get("event") and now.span < 0.4)
        with self.subTest("a long one is the other button"):
            self.begin()
            before = self.shown().vertices
            self.touch("touchStart", STREAM_LABEL)
            time.sleep(0.8)
            self.touch("touchEnd")
            self.until(lambda now: now.vertices > before + 100)


class Menus(Page):
    def test_a_command_is_chosen_from_a_menu(self):
        self.begin()
        before = self.shown()
        self.click((268, 10))  # Window
        self.until(lambda now: now.vertices > before.vertices + 100)
        self.click((280, 52))  # Light or dark
        self.until(lambda now: now.state["theme"] != before.state["theme"])

    def test_one_is_looked_for_in_the_palette(self):
        self.begin()
        self.press("Ctrl+Shift+P")
        self.until(lambda now: "palette" in now.panels)
        for letter in "WHOLE":
            self.press(letter)
        self.press("Enter")
        self.until(lambda now: now.link.get("t") == "all" and "palette" not in now.panels)

    def test_what_was_chosen_is_there_again_after_the_connection_broke(self):
        self.begin()
        self.press("T")
        self.point(STREAM)
        self.press("H")
        self.until(lambda now: now.rows("hidden"))
        self.press("Ctrl+M")
        before = self.until(lambda now: now.state["tab"] == "Marks")
        self.browser.run_later("socket.onclose = done; socket.close();")
        self.browser.run("state = 'gone&' + state; gone('')")
        self.wait_for("socket.readyState === WebSocket.OPEN && !state.startsWith('gone&')")
        now = self.until(lambda now: now.state == before.state)
        self.assertEqual(now.kept, before.kept)


if __name__ == "__main__":
    unittest.main()
