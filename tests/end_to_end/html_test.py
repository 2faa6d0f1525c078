# SPDX-License-Identifier: Apache-2.0
"""`analyze html` on real recordings, and the page in a real browser."""

import pathlib
import re
import shutil
import sqlite3
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

import browser
import harness

ANALYZE = harness.BUILD / "bin" / "analyze"
RECORDINGS = harness.ROOT / "samples" / "recordings"
WIDTHS = (1280, 390)
HOSTILE = ["</script><script>window.harmed = 1</script>", "\"><img src=x onerror=\"window.harmed=1\">",
           "' onpointermove='window.harmed=1", "<svg onload=window.harmed=1>", "\u202Ereversed\u2066", "<!-- &amp; ]]>"]
FOUND = "return document.querySelector('.flame-found').textContent"
# https://www.w3.org/TR/webdriver2/#keyboard-actions
ENTER, ESCAPE, HOME, LEFT, UP, RIGHT, DOWN = "\ue007", "\ue00c", "\ue011", "\ue012", "\ue013", "\ue014", "\ue015"


class WithPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="html-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.one = cls.page_of("one", RECORDINGS / "slow_loader_h200.db.zst")
        cls.ranks = cls.page_of("ranks", RECORDINGS / "straggler_gemm_h200")
        cls.hostile = cls.page_of("hostile", cls.hostile_run("slow_loader_h200"))
        cls.code = cls.page_of("code", RECORDINGS / "slow_numpy_h100.db.zst")
        cls.hostile_code = cls.page_of("hostile_code", cls.hostile_run("slow_numpy_h100"))
        cls.pages = (cls.one, cls.ranks, cls.hostile, cls.code, cls.hostile_code, cls.folder / "diff.html")
        cls.diff = cls.folder / "diff.html"
        ended = cls.analyze("diff", RECORDINGS / "slow_loader_h200.db.zst", RECORDINGS / "slow_loader_fixed_h200.db.zst",
                            "--format", "html", "-o", cls.diff)
        assert ended.returncode == 0, ended

    @classmethod
    def analyze(cls, *arguments):
        return subprocess.run([ANALYZE, *arguments], capture_output=True, text=True, check=False)

    @classmethod
    def page_of(cls, name, run):
        path = cls.folder / f"{name}.html"
        ended = cls.analyze("html", run, "-o", path)
        assert ended.returncode == 0 and ended.stderr == "", ended
        return path

    @classmethod
    def hostile_run(cls, name):
        """A recording all of whose names are what somebody would write to do harm."""
        path = cls.folder / f"{name}.db"
        subprocess.run(["zstd", "-q", "-d", RECORDINGS / f"{name}.db.zst", "-o", path], check=True)
        with sqlite3.connect(path) as database:
            for number, text in database.execute("SELECT id, text FROM string").fetchall():
                database.execute("UPDATE string SET text = ? WHERE id = ?",
                                 (f"{HOSTILE[number % len(HOSTILE)]} {text}", number))
        database.close()
        return path


class Page(WithPages):
    def test_a_format_of_the_report(self):
        path = self.folder / "format.html"
        ended = self.analyze("report", RECORDINGS / "slow_loader_h200.db.zst", "--format", "html", "-o", path)
        self.assertEqual((ended.returncode, ended.stderr), (0, ""))
        self.assertEqual(path.read_text(), self.one.read_text())

    def test_one_file_that_is_well_formed_and_refers_to_nothing(self):
        for path in self.pages:
            text = path.read_text(encoding="utf-8")
            self.assertLess(len(text), 500_000)
            self.assertNotRegex(text, r"https?://|url\(|@import")
            text = re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)
            xml.etree.ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))

    def test_figures_are_those_of_the_report(self):
        page = self.one.read_text(encoding="utf-8")
        report = self.analyze("report", RECORDINGS / "slow_loader_h200.db.zst", "--full").stdout
        report = " ".join(report.split())
        for found in (re.search(r"without it, the mean step of .*? would take [0-9.]+ ms", report), re.search(r"cross-check: .*? unexplained", report),
                      re.search(r"launch lead: .*? of the time", report)):
            self.assertIn(found.group(), page)

    def test_what_is_wrong_is_said(self):
        ended = self.analyze("html", self.folder / "missing.db", "-o", self.folder / "missing.html")
        self.assertEqual(ended.returncode, 3)
        self.assertIn("missing.db", ended.stderr)
        self.assertFalse((self.folder / "missing.html").exists())
        self.assertEqual(self.analyze("html").returncode, 2)


@unittest.skipIf(browser.missing(), f"no browser on this machine: {browser.missing()} (apt install chromium chromium-driver)")
class PageInBrowser(WithPages):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.browser = browser.Browser().__enter__()
        cls.addClassCleanup(cls.browser.__exit__)

    def column(self, table, number):
        return self.browser.run(
            "return [...document.querySelectorAll('table.sortable')[arguments[0]].tBodies[0].rows]"
            ".map(row => row.cells[arguments[1]].dataset.v ?? row.cells[arguments[1]].textContent)", table, number)

    def test_no_complaint_and_nothing_beyond_the_edge(self):
        for path in self.pages:
            for width in WIDTHS:
                for dark in (False, True):
                    with self.subTest(page=path.name, width=width, dark=dark):
                        self.browser.open(path, width, dark=dark)
                        self.assertEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
                        self.assertEqual(self.browser.complaints(), [])

    def test_hostile_names_in_stacks_are_shown_and_not_run(self):
        self.browser.open(self.hostile_code)
        self.browser.run("for (const of of document.querySelectorAll('.frame')) "
                         "of.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))")
        self.search("</script>")
        self.assertIsNone(self.browser.run("return window.harmed ?? null"))
        self.assertEqual(self.browser.run("return document.images.length + document.scripts.length"), 2)
        self.assertRegex(self.browser.run(FOUND), r"\d+ match(es)?: ")

    def test_hostile_names_are_shown_and_not_run(self):
        self.browser.open(self.hostile)
        self.assertIsNone(self.browser.run("return window.harmed ?? null"))
        self.assertEqual(self.browser.run("return document.images.length + document.scripts.length"), 2)
        names = self.browser.run("return [...document.querySelectorAll('td.name')]"
                                 ".map(cell => (cell.firstChild.dataset?.tip ?? '') + cell.textContent)")
        for text in ("<img src=x onerror=", "</script><script>window.harmed = 1</script>", "[U+202E]reversed[U+2066]"):
            self.assertTrue(any(text in name for name in names), text)
        # Pointed at, too.
        self.browser.run("for (const of of document.querySelectorAll('[data-tip]')) "
                         "of.dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))")
        self.assertIsNone(self.browser.run("return window.harmed ?? null"))

    def test_only_our_own_script_and_style_may_act(self):
        self.browser.open(self.one)
        self.browser.run("const made = document.createElement('script'); made.textContent = 'window.harmed = 1';"
                         "document.body.append(made)")
        self.assertIsNone(self.browser.run("return window.harmed ?? null"))
        self.assertTrue(any("Content Security Policy" in told for told in self.browser.complaints()))

    def test_tables_are_sorted_by_click_and_by_key(self):
        self.browser.open(self.one)
        heads = self.browser.run("return [...document.querySelectorAll('table.sortable')[0].tHead.rows[0].cells]"
                                 ".map(head => head.textContent)")
        length = heads.index("length")
        before = self.column(0, length)
        self.assertEqual(before, sorted(before, key=float, reverse=True))
        head = f"table.sortable th:nth-child({length + 1})"
        self.browser.click(head + " button")
        self.assertEqual(self.column(0, length), sorted(before, key=float))
        self.assertEqual(self.browser.run("return document.querySelector(arguments[0]).ariaSort", head), "ascending")
        self.browser.run("document.querySelector(arguments[0]).focus()", head + " button")
        self.browser.press("\ue007")
        self.assertEqual(self.column(0, length), before)
        self.assertEqual(self.browser.run("return document.querySelector(arguments[0]).ariaSort", head), "descending")
        self.browser.click("table.sortable th:nth-child(1) button")
        self.assertEqual(self.browser.run("return document.querySelector(arguments[0]).ariaSort", head), "none")

    def test_what_is_pointed_at_is_told(self):
        self.browser.open(self.one)
        self.browser.run("document.querySelector('.bar rect').dispatchEvent(new PointerEvent('pointermove', {bubbles: true}))")
        tip = "const tip = document.getElementById('tip'); return tip.hidden ? null : tip.textContent"
        self.assertIn("ms", self.browser.run(tip))
        self.browser.press("\ue00c")
        self.assertIsNone(self.browser.run(tip))

    def search(self, text):
        self.browser.run("const search = document.querySelector('.flame-search'); search.value = arguments[0];"
                         "search.dispatchEvent(new Event('input'))", text)

    def frames(self):
        """What of the flame graph is seen, callers first: name, x, and width."""
        return self.browser.run(
            "return [...document.querySelectorAll('figure.flame:not([hidden]) .frame:not(.out)')]"
            ".map(frame => [frame.querySelector('text').textContent, frame.getAttribute('x'), frame.getAttribute('width')])")

    def test_a_frame_is_zoomed_into_and_out_of(self):
        self.browser.open(self.code)
        whole = self.frames()
        names = [name for name, _, _ in whole]
        self.assertGreater(len(whole), 20)
        self.assertEqual(names[1:3], ["plant.py:38", "augment plant.py:11"])
        self.browser.click("svg.flames .frame:nth-of-type(3) .box")
        zoomed = self.frames()
        # What led to it, itself, and what it called.
        self.assertEqual([name for name, _, _ in zoomed[1:3]], ["plant.py:38", "augment plant.py:11"])
        self.assertTrue(all((x, width) == ("0%", "100%") for _, x, width in zoomed[:3]), zoomed[:3])
        self.assertLess(len(zoomed), len(whole) / 2)
        self.assertFalse(self.browser.run("return document.querySelector('.flame-out').disabled"))
        self.browser.click(".flame-out")
        self.assertEqual(len(self.frames()), len(whole))
        for (_, x, width), (_, x_before, width_before) in zip(self.frames(), whole):
            self.assertAlmostEqual(float(x.rstrip("%")), float(x_before.rstrip("%")))
            self.assertAlmostEqual(float(width.rstrip("%")), float(width_before.rstrip("%")))

    def test_frames_are_walked_by_key(self):
        focused = "return document.activeElement.querySelector?.('text')?.textContent"
        self.browser.open(self.code)
        self.browser.run("document.querySelector('.frame').focus()")
        self.browser.press(DOWN, DOWN)
        self.assertEqual(self.browser.run(focused), "augment plant.py:11")
        self.assertIn("GPU meanwhile: idle: python", self.browser.run("return document.getElementById('tip').textContent"))
        self.browser.press(ENTER)
        self.assertEqual(self.frames()[2][2], "100%")
        self.browser.press(UP)
        self.assertEqual(self.browser.run(focused), "plant.py:38")
        self.browser.press(ESCAPE)
        self.assertNotEqual(self.frames()[2][2], "100%")
        self.browser.press(HOME, DOWN, RIGHT)
        self.assertEqual(self.browser.run(focused), "plant.py:40")
        self.browser.press(LEFT)
        self.assertEqual(self.browser.run(focused), "plant.py:38")
        self.assertEqual(self.browser.run("return document.querySelectorAll('.frame[tabindex=\"0\"]').length"), 1)

    def test_what_is_searched_is_marked_and_its_share_told(self):
        self.browser.open(self.code)
        self.search("AUGMENT")
        found = self.browser.run(FOUND)
        share = float(re.search(r"1 match: ([\d.]+) %, [\d.]+ ms per step", found).group(1))
        self.assertEqual(self.browser.run("return document.querySelectorAll('.frame.found').length"), 1)
        width = next(width for name, _, width in self.frames() if name.startswith("augment"))
        self.assertAlmostEqual(share, float(width.rstrip("%")), delta=0.06)
        # A frame below a match is a part of it, and counts once.
        self.search("plant.py")
        self.assertLessEqual(float(re.search(r"([\d.]+) %", self.browser.run(FOUND)).group(1)), 100.0)
        self.search("no such name")
        self.assertEqual(self.browser.run(FOUND), "no match")
        self.search("")
        self.assertEqual(self.browser.run(FOUND), "")

    def test_threads_are_chosen(self):
        path = self.folder / "threads.db"
        subprocess.run(["zstd", "-q", "-d", RECORDINGS / "slow_numpy_h100.db.zst", "-o", path], check=True)
        with sqlite3.connect(path) as database:
            (main,) = database.execute("SELECT thread FROM stack_sample WHERE kind = 1 GROUP BY 1 ORDER BY count(*) DESC").fetchone()
            (other,) = database.execute("SELECT id FROM thread WHERE id <> ?", (main,)).fetchone()
            database.execute("UPDATE stack_sample SET thread = ? WHERE thread = ? AND kind = 1 AND rowid % 10 = 0", (other, main))
        database.close()
        self.browser.open(self.page_of("threads", path))
        names = self.browser.run("return [...document.querySelector('.flame-thread').options].map(option => option.text)")
        shown = "return [...document.querySelectorAll('figure.flame:not([hidden])')].map(figure => figure.dataset.name)"
        self.assertEqual(len(names), 2)
        self.assertEqual(self.browser.run(shown), names[:1])
        self.browser.run("const list = document.querySelector('.flame-thread'); list.selectedIndex = 1; list.dispatchEvent(new Event('change'))")
        self.assertEqual(self.browser.run(shown), names[1:])

    def test_the_theme_follows_the_system_and_can_be_turned(self):
        ground = "return getComputedStyle(document.body).backgroundColor"
        self.browser.open(self.one, dark=True)
        self.assertEqual(self.browser.run(ground), "rgb(21, 24, 28)")
        self.browser.click("#theme")
        self.assertEqual(self.browser.run(ground), "rgb(255, 255, 255)")
        self.browser.open(self.one)
        self.assertEqual(self.browser.run(ground), "rgb(255, 255, 255)")
        self.browser.click("#theme")
        self.assertEqual(self.browser.run(ground), "rgb(21, 24, 28)")
        # On paper it is light whatever was chosen.
        self.browser.devtools("Emulation.setEmulatedMedia", media="print")
        self.assertEqual(self.browser.run(ground), "rgb(255, 255, 255)")
        self.assertEqual(self.browser.run("return getComputedStyle(document.getElementById('theme')).display"), "none")
        self.assertEqual(self.browser.run("return getComputedStyle(document.querySelector('th button')).display"), "contents")
        self.browser.devtools("Emulation.setEmulatedMedia", media="")

    def test_the_verdict_is_on_the_first_screen(self):
        for width, height in ((1280, 720), (390, 844)):
            self.browser.open(self.one, width, height)
            for selector in ("h1", ".lead", ".tile"):
                bottom = self.browser.run("return document.querySelector(arguments[0]).getBoundingClientRect().bottom", selector)
                self.assertLess(bottom, height, (selector, width))
            self.assertEqual(self.browser.run("return document.querySelector('h1').textContent"), "Data loading (dataloader)")


if __name__ == "__main__":
    unittest.main()
