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


class WithPages(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = pathlib.Path(tempfile.mkdtemp(prefix="html-"))
        cls.addClassCleanup(shutil.rmtree, cls.folder)
        cls.one = cls.page_of("one", RECORDINGS / "slow_loader_h200.db.zst")
        cls.ranks = cls.page_of("ranks", RECORDINGS / "straggler_gemm_h200")
        cls.hostile = cls.page_of("hostile", cls.hostile_run())
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
    def hostile_run(cls):
        """A recording all of whose names are what somebody would write to do harm."""
        path = cls.folder / "run.db"
        subprocess.run(["zstd", "-q", "-d", RECORDINGS / "slow_loader_h200.db.zst", "-o", path], check=True)
        with sqlite3.connect(path) as database:
            for number, text in database.execute("SELECT id, text FROM string").fetchall():
                database.execute("UPDATE string SET text = ? WHERE id = ?",
                                 (f"{HOSTILE[number % len(HOSTILE)]} {text}", number))
        database.close()
        return path


class Page(WithPages):
    def test_one_file_that_is_well_formed_and_refers_to_nothing(self):
        for path in (self.one, self.ranks, self.hostile, self.diff):
            text = path.read_text(encoding="utf-8")
            self.assertLess(len(text), 500_000)
            self.assertNotRegex(text, r"https?://|url\(|@import")
            text = re.sub(r"<(style|script)>.*?</\1>", "", text, flags=re.DOTALL)
            xml.etree.ElementTree.fromstring(text.removeprefix("<!DOCTYPE html>"))

    def test_figures_are_those_of_the_report(self):
        page = self.one.read_text(encoding="utf-8")
        report = self.analyze("report", RECORDINGS / "slow_loader_h200.db.zst").stdout
        report = " ".join(report.split())
        for found in (re.search(r"without it, a step would take .*? %(?= )", report), re.search(r"cross-check: .*? unexplained", report),
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
        for path in (self.one, self.ranks, self.hostile, self.diff):
            for width in WIDTHS:
                for dark in (False, True):
                    with self.subTest(page=path.name, width=width, dark=dark):
                        self.browser.open(path, width, dark=dark)
                        self.assertEqual(self.browser.run("return document.documentElement.scrollWidth"), width)
                        self.assertEqual(self.browser.complaints(), [])

    def test_hostile_names_are_shown_and_not_run(self):
        self.browser.open(self.hostile)
        self.assertIsNone(self.browser.run("return window.harmed ?? null"))
        self.assertEqual(self.browser.run("return document.images.length + document.scripts.length"), 1)
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
