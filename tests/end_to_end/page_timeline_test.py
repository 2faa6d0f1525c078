# SPDX-License-Identifier: Apache-2.0
"""The timeline in the page of `analyze html`, in a real browser."""

import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import browser
import harness

ANALYZE = harness.BUILD / "bin" / "analyze"
RECORDINGS = harness.ROOT / "samples" / "recordings"
WIDTHS = (1280, 390)
# https://www.w3.org/TR/webdriver2/#keyboard-actions
ENTER, ESCAPE, HOME, LEFT, UP, RIGHT, DOWN = "\ue007", "\ue00c", "\ue011", "\ue012", "\ue013", "\ue014", "\ue015"
VIEW = "const canvas = document.querySelector('.timeline canvas'); return [Number(canvas.dataset.from), Number(canvas.dataset.to)]"
DETAILS = "return document.querySelector('.timeline-details').textContent"
# Sizes that script and test agree on: labels stand beside the rows, and 24 pixels of ruler above them.
GUTTER, RULER = 208, 24


def analyze(*arguments):
    return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, check=False)


def seconds(text):
    """Of "12.5 ms" and the like."""
    value, unit = text.split()
    return float(value) * {"s": 1, "ms": 1e-3, "us": 1e-6, "ns": 1e-9}[unit]


@unittest.skipIf(browser.missing(), f"no browser on this machine: {browser.missing()} (apt install chromium chromium-driver)")
class PageTimeline(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="page-timeline-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.page = cls.page_of("one", "slow_loader_h200.db.zst")
        cls.ranks = cls.page_of("ranks", "straggler_gemm_h200")
        cls.browser = browser.Browser().__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    @classmethod
    def page_of(cls, name, recording):
        path = cls.folder / f"{name}.html"
        ended = analyze("html", RECORDINGS / recording, "-o", path)
        assert ended.returncode == 0, ended
        return path

    def open(self, page=None, width=1280, dark=False, motion=False, ratio=1):
        self.browser.open(page or self.page, width, dark=dark, motion=motion, ratio=ratio)
        self.browser.run("document.querySelector('.timeline').scrollIntoView()")

    def view(self):
        return self.browser.run(VIEW)

    def settled(self):
        """After what was asked for is drawn."""
        self.browser.run_later("requestAnimationFrame(() => requestAnimationFrame(done))")

    def box(self):
        return self.browser.run("const box = document.querySelector('.timeline canvas').getBoundingClientRect();"
                                "return [box.left, box.top, box.width, box.height]")

    def focus(self):
        self.browser.run("document.querySelector('.timeline canvas').focus()")

    def wheel(self, x, delta, ctrl):
        """Whether the page may scroll by it."""
        self.settled()
        left, top, _, _ = self.box()
        return self.browser.run(
            "return document.querySelector('.timeline canvas').dispatchEvent(new WheelEvent('wheel',"
            "{bubbles: true, cancelable: true, clientX: arguments[0], clientY: arguments[1], deltaY: arguments[2], ctrlKey: arguments[3]}))",
            left + x, top + 100, delta, ctrl)

    def touch(self, kind, *points):
        self.browser.devtools("Input.dispatchTouchEvent", type=kind,
                              touchPoints=[{"x": x, "y": y, "id": number} for number, (x, y) in enumerate(points)])

    def pixels(self, script, *arguments):
        """What the script makes of the pixels in `data`, of the canvas `width` of them a row. Of a copy: browsers complain about those
        who read the original."""
        return self.browser.run("""
            const canvas = document.querySelector('.timeline canvas');
            const width = canvas.width;
            const copy = document.createElement('canvas');
            [copy.width, copy.height] = [width, canvas.height];
            const brush = copy.getContext('2d', {willReadFrequently: true});
            brush.drawImage(canvas, 0, 0);
            const data = brush.getImageData(0, 0, width, canvas.height).data;""" + script, *arguments)

    def colors(self):
        """How many different ones the canvas has."""
        return self.pixels("return new Set(new Uint32Array(data.buffer)).size")

    def ground(self):
        """The color of its corner."""
        return self.pixels("return [...data.slice(4 * (2 * width + 2))].slice(0, 3)")

    def test_is_drawn_at_every_width_and_theme_and_without_complaint(self):
        for page in (self.page, self.ranks):
            for width in WIDTHS:
                for dark in (False, True):
                    with self.subTest(page=page.name, width=width, dark=dark):
                        self.open(page, width, dark=dark)
                        self.settled()
                        self.assertEqual(self.browser.complaints(), [])
                        self.assertGreater(self.colors(), 12)
                        ground = self.ground()
                        self.assertTrue(max(ground) < 60 if dark else min(ground) > 200, ground)
                        self.assertEqual(self.browser.run("return document.documentElement.scrollWidth"), width)

    def test_is_drawn_anew_when_the_theme_is_turned(self):
        self.open()
        self.settled()
        before = self.ground()
        self.browser.click("#theme")
        self.settled()
        self.assertNotEqual(self.ground(), before)

    def test_names_are_in_the_boxes(self):
        """Where a step stands there are more colors than its own, of letters."""
        self.open()
        self.settled()
        self.assertGreater(self.pixels("""
            const top = 24 + 23 + 2;
            const seen = new Set();
            for (let y = top + 3; y < top + 16; ++y)
              for (let x = 208; x < 260; ++x) seen.add(data.slice(4 * (y * width + x), 4 * (y * width + x) + 3).join());
            return seen.size"""), 8)

    def test_is_as_fine_as_the_screen(self):
        for ratio in (1, 2):
            self.open(ratio=ratio)
            self.settled()
            width = self.browser.run("return document.querySelector('.timeline canvas').width")
            self.assertEqual(width, round(self.box()[2] * ratio))

    def test_the_wheel_zooms_about_the_cursor_and_only_with_ctrl(self):
        self.open()
        whole = self.view()
        self.assertTrue(self.wheel(500, -100, ctrl=False))
        self.settled()
        self.assertEqual(self.view(), whole)
        self.assertFalse(self.wheel(500, -100, ctrl=True))
        self.settled()
        seen = self.view()
        self.assertLess(seen[1] - seen[0], 0.8 * (whole[1] - whole[0]))
        share = (500 - GUTTER) / (self.box()[2] - GUTTER)
        at = [view[0] + share * (view[1] - view[0]) for view in (whole, seen)]
        self.assertAlmostEqual(at[0], at[1], delta=1e-6 * whole[1])
        self.wheel(500, 100, ctrl=True)
        self.wheel(500, 100, ctrl=True)
        self.settled()
        self.assertEqual(self.view(), whole)

    def test_keys_zoom_pan_and_fit(self):
        self.open()
        whole = self.view()
        self.focus()
        self.browser.press("w", "w", "w")
        self.settled()
        zoomed = self.view()
        self.assertLess(zoomed[1] - zoomed[0], 0.6 * whole[1])
        self.browser.press("d")
        self.settled()
        later = self.view()
        self.assertGreater(later[0], zoomed[0])
        self.assertAlmostEqual(later[1] - later[0], zoomed[1] - zoomed[0], delta=1)
        self.browser.press("a", "a")
        self.settled()
        self.assertLess(self.view()[0], zoomed[0])
        self.browser.press(HOME)
        self.settled()
        self.assertEqual(self.view(), whole)
        self.browser.press("s")
        self.settled()
        self.assertEqual(self.view(), whole, "there is no more than all of it")

    def test_buttons_do_what_the_keys_do(self):
        self.open()
        whole = self.view()
        self.browser.click("[data-do=in]")
        self.settled()
        self.assertAlmostEqual(self.view()[1] - self.view()[0], whole[1] / 2, delta=1)
        self.browser.click("[data-do=fit]")
        self.settled()
        self.assertEqual(self.view(), whole)

    def test_arrows_go_from_event_to_event_and_each_is_told(self):
        self.open()
        self.focus()
        self.assertEqual(self.browser.run("return document.querySelector('.timeline-details').getAttribute('role')"), "status")
        self.browser.press(DOWN)
        self.assertRegex(self.browser.run(DETAILS), r"^step 28, row steps, start \d+\.\d{9} s, duration [\d.]+ ms")
        self.browser.press(RIGHT, RIGHT)
        self.assertIn("step 30", self.browser.run(DETAILS))
        self.browser.press(RIGHT)
        self.assertIn("step 30", self.browser.run(DETAILS), "there is none after it")
        self.browser.press(LEFT, DOWN, DOWN)
        self.assertIn("row idle", self.browser.run(DETAILS))
        self.browser.press(UP)
        self.assertIn("row GPU 0", self.browser.run(DETAILS))
        self.browser.press(ESCAPE)
        self.assertEqual(self.browser.run(DETAILS), "")

    def test_enter_zooms_in_on_what_is_selected(self):
        self.open()
        self.focus()
        self.browser.press(DOWN, RIGHT, ENTER)
        self.settled()
        start, end = self.view()
        length = re.search(r"duration ([\d.]+ ms)", self.browser.run(DETAILS)).group(1)
        self.assertAlmostEqual((end - start) / 1e9, 1.5 * seconds(length), delta=1e-4)

    def test_figures_are_those_of_the_report(self):
        """The durations that the script writes against those of the table that `analyze` wrote."""
        self.open()
        told = self.browser.run("return [...document.querySelectorAll('.timeline-rows tbody tr')].map(row => [...row.cells].map(cell => cell.textContent))")
        self.assertGreater(len(told), 6)
        self.focus()
        seen = 0
        for row, _, _, longest in told:
            found = self.browser.run("""
                const text = [];
                const canvas = document.querySelector('.timeline canvas');
                const key = (name) => canvas.dispatchEvent(new KeyboardEvent('keydown', {key: name}));
                const details = () => document.querySelector('.timeline-details').textContent;
                key('Escape');
                for (let i = 0; i < 60; ++i) { key('ArrowDown'); if (details().includes('row ' + arguments[0] + ',')) break; }
                if (!details().includes('row ' + arguments[0] + ',')) return null;
                for (let before = null; before !== details(); key('ArrowLeft')) before = details();
                for (let before = null; before !== details(); key('ArrowRight')) { before = details(); text.push(before); }
                return text""", row)
            if found is None or longest == "":
                continue
            name, length = longest.rsplit(", ", 1)
            self.assertTrue(any(one.startswith(name + ", row ") and f"duration {length}" in one for one in found), (row, longest))
            seen += 1
        self.assertGreater(seen, 6)

    def test_times_are_written_as_in_the_report(self):
        """What FormatTime() of analyzer/common/units.h makes of them, ties included."""
        known = {0: "0 ns", 999: "999 ns", 1_000: "1.000 us", 12_345: "12.35 us", 999_999: "1.000 ms", 1_234_000_000: "1.234 s",
                 1_062_500: "1.062 ms", 1_187_500: "1.188 ms", 12_125_000: "12.12 ms", 100_250_000: "100.2 ms", 100_750_000: "100.8 ms",
                 723_000_000_000: "12 min 03 s", 7_260_000_000_000: "2 h 01 min", -1_500_000: "-1.500 ms"}
        self.open()
        self.assertEqual(self.browser.run("return arguments[0].map(exactTime)", list(known)), list(known.values()))

    def test_a_figure_is_told_where_it_is_pointed_at(self):
        self.open()
        self.settled()
        x, y = self.browser.run("""
            const canvas = document.querySelector('.timeline canvas').getBoundingClientRect();
            return [canvas.left + canvas.width * 0.6, canvas.bottom - 10]""")
        self.browser.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settled()
        self.assertRegex(self.browser.run("return document.getElementById('tip').textContent"), r"^CPU of all threads: \d+\nat: 7\.\d{9} s$")

    def test_what_is_pointed_at_is_told_and_a_click_selects(self):
        self.open()
        self.settled()
        left, top, width, _ = self.box()
        x, y = left + GUTTER + 0.05 * (width - GUTTER), top + RULER + 35
        self.browser.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=x, y=y)
        self.settled()
        tip = self.browser.run("const tip = document.getElementById('tip'); return tip.hidden ? null : tip.textContent")
        self.assertRegex(tip, r"^step 28\nrow: steps\nstart: [\d.]+ s\nduration: [\d.]+ ms")
        for kind in ("mousePressed", "mouseReleased"):
            self.browser.devtools("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)
        self.assertIn("step 28", self.browser.run(DETAILS))

    def drag(self, by):
        left, top, width, _ = self.box()
        x, y = left + GUTTER + (width - GUTTER) / 2, top + 100
        self.browser.devtools("Input.dispatchMouseEvent", type="mousePressed", x=x, y=y, button="left", buttons=1, clickCount=1)
        for part in (0.3, 0.7, 1):
            self.browser.devtools("Input.dispatchMouseEvent", type="mouseMoved", x=x + part * by, y=y, button="left", buttons=1)
        self.browser.devtools("Input.dispatchMouseEvent", type="mouseReleased", x=x + by, y=y, button="left", clickCount=1)
        self.settled()

    def test_a_drag_moves_what_is_under_it(self):
        self.open()
        self.browser.click("[data-do=in]")
        self.settled()
        before = self.view()
        self.drag(100)
        after = self.view()
        self.assertAlmostEqual(before[0] - after[0], 100 / (self.box()[2] - GUTTER) * (before[1] - before[0]), delta=2)
        self.assertEqual(self.browser.run(DETAILS), "", "a drag is no click")

    def test_two_fingers_zoom_and_one_moves(self):
        self.open(width=390)
        self.browser.devtools("Emulation.setTouchEmulationEnabled", enabled=True, maxTouchPoints=2)
        self.addCleanup(self.browser.devtools, "Emulation.setTouchEmulationEnabled", enabled=False)
        whole = self.view()
        left, top, width, _ = self.box()
        middle, y = left + width / 2, top + 120
        self.touch("touchStart", (middle - 20, y), (middle + 20, y))
        for apart in (40, 60, 80):
            self.touch("touchMove", (middle - apart, y), (middle + apart, y))
        self.touch("touchEnd")
        self.settled()
        zoomed = self.view()
        self.assertAlmostEqual((whole[1] - whole[0]) / (zoomed[1] - zoomed[0]), 4, delta=0.8)
        self.assertAlmostEqual(sum(zoomed) / 2, sum(whole) / 2, delta=0.1 * whole[1])
        self.touch("touchStart", (middle, y))
        for by in (20, 40, 60):
            self.touch("touchMove", (middle - by, y))
        self.touch("touchEnd")
        self.settled()
        self.assertGreater(self.view()[0], zoomed[0])

    def test_evidence_leads_to_its_place(self):
        self.open()
        whole = self.view()
        self.browser.click("a.place")
        self.settled()
        start, end = self.view()
        self.assertLess(end - start, 0.5 * whole[1])
        self.assertIn("data wait", self.browser.run(DETAILS))
        self.assertLess(abs(self.browser.run("return document.querySelector('.timeline').getBoundingClientRect().top")), 200)
        # An address with the place in it shows it, too.
        self.browser.open(f"{self.page}#evidence-1")
        self.settled()
        self.assertEqual(self.view(), [start, end])

    def test_moves_at_once_only_where_motion_is_unwanted(self):
        steps = """
            const canvas = document.querySelector('.timeline canvas');
            const seen = new Set();
            document.querySelector('a.place').click();
            const look = (left) => { seen.add(canvas.dataset.from); left === 0 ? done(seen.size) : requestAnimationFrame(() => look(left - 1)); };
            look(60)"""
        self.open(motion=False)
        self.assertLessEqual(self.browser.run_later(steps), 2)
        self.open(motion=True)
        self.assertGreater(self.browser.run_later(steps), 2)

    def test_without_scripts_there_is_a_picture(self):
        self.browser.devtools("Emulation.setScriptExecutionDisabled", value=True)
        self.addCleanup(self.browser.devtools, "Emulation.setScriptExecutionDisabled", value=False)
        for width in WIDTHS:
            self.browser.open(self.page, width)
            shot = self.folder / "picture.png"
            self.browser.screenshot(shot)
            self.assertEqual(self.browser.complaints(), [])
            text = self.browser.devtools("DOM.getDocument", depth=1)
            picture = self.browser.devtools("DOM.querySelector", nodeId=text["root"]["nodeId"], selector=".timeline-picture")
            box = self.browser.devtools("DOM.getBoxModel", nodeId=picture["nodeId"])["model"]
            self.assertGreater(box["height"], 200)
            self.assertLessEqual(box["width"], width)

    def test_is_printed_whole(self):
        """On paper the canvas is a picture of all of it, whatever was shown."""
        self.open(dark=True)
        self.browser.click("[data-do=in]")
        self.browser.run("""
            window.printed = null;
            window.addEventListener('beforeprint', () => {
              const canvas = document.querySelector('.timeline canvas');
              window.printed = [canvas.dataset.from, canvas.dataset.to, canvas.width,
                                ...canvas.getContext('2d').getImageData(2, 2, 1, 1).data.slice(0, 3)].map(Number);
            });""")
        before = self.view()
        self.browser.print_pdf(self.folder / "page.pdf")
        self.settled()
        start, end, width, *ground = self.browser.run("return window.printed")
        self.assertEqual(start, 0)
        self.assertGreater(end, 1.5 * (before[1] - before[0]))
        self.assertGreater(width, 1_500)
        self.assertGreater(min(ground), 200, "light")
        self.assertEqual(self.view(), before)
        self.assertGreater((self.folder / "page.pdf").stat().st_size, 20_000)


if __name__ == "__main__":
    unittest.main()
