# SPDX-License-Identifier: Apache-2.0
"""No figure of the shipped recordings contradicts another, whatever shows it; and the first screen is one screen at every width."""

import functools
import html
import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

import harness

ANALYZE = harness.BUILD / "bin" / "analyze"
RECORDINGS = harness.ROOT / "samples" / "recordings"
SHIPPED = sorted(path for path in RECORDINGS.iterdir() if path.suffix == ".zst" or path.is_dir())
TIME = r"[\d.]+ (?:ns|us|ms|s)"
PERCENT = r"[\d.]+ %"


def run(*arguments, columns=None, code=0):
    environment = {name: value for name, value in os.environ.items() if name != "COLUMNS"}
    if columns is not None:
        environment["COLUMNS"] = str(columns)
    ended = subprocess.run([ANALYZE, *map(str, arguments)], capture_output=True, text=True, timeout=300, env=environment, check=False)
    assert ended.returncode == code, (arguments, ended.returncode, ended.stderr)
    return ended.stdout if code == 0 else ended.stderr


def words(text):
    """Without the places where sentences were broken."""
    return re.sub(r"\s+", " ", text)


class Shipped:
    """All that is shown of a recording, each output read once."""

    def __init__(self, path, folder):
        self.path = path
        self.first = run(path, columns=250)
        self.full = run(path, "--full", columns=250)
        self.report = json.loads(run(path, "--format", "json"))
        page = folder / f"{path.name}.html"
        run("html", path, "-o", page)
        self.page = words(html.unescape(re.sub(r"<[^>]*>", " ", page.read_text(encoding="utf-8"))).replace("\u00a0", " "))
        self.metrics = run("export", path, "--to", "openmetrics")
        self.gate = json.loads(run("gate", path, "--require", "step_ms > 0", "--require", "gpu_busy > 0", "--format", "json"))
        verdict = self.report["verdict"]
        self.steps = next(one for one in self.report["steps"] if one["label"] == verdict["device"])
        self.device = next(one for one in self.report["devices"] if one["label"] == verdict["device"])
        self.mean = re.search(f"^Mean step ({TIME}) over (.*)$", self.first, re.MULTILINE)

    def metric(self, name):
        """Of the GPU that the verdict is about."""
        lines = [line for line in self.metrics.splitlines() if line.startswith(f"traceinject_{name}{{")]
        own = [line for line in lines if "rank" not in self.device or f'rank="{self.device["rank"]}"' in line]
        return float(own[0].rsplit(" ", 1)[1])


def for_each(test):
    @functools.wraps(test)
    def of_all(self):
        self.assertGreaterEqual(len(self.all), 7)
        for one in self.all:
            with self.subTest(one.path.name):
                test(self, one)
    return of_all


class OneFigure(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.all = [Shipped(path, pathlib.Path(folder.name)) for path in SHIPPED]

    @for_each
    def test_the_waterfall_adds_up_to_the_step(self, one):
        waterfall = one.device["waterfall"]
        if "bars" not in waterfall:
            self.assertIn("unknown: " + waterfall["reason"], words(one.full))
            return
        bars = waterfall["bars"]
        self.assertEqual(sum(round(10 * bar.get("percent", 0)) for bar in bars), 1000)
        self.assertAlmostEqual(sum(int(bar.get("ns", 0)) for bar in bars), int(waterfall["step_ns"]), delta=len(bars))
        self.assertEqual(waterfall["step_ns"], one.report["verdict"]["step_ns"])
        products = one.device["matrix_products"]
        if "peak_share" in products:
            achieved = bars[-1]["percent"] + waterfall.get("full_square_percent", 0)
            self.assertAlmostEqual(achieved, 100 * products["peak_share"], delta=0.15, msg="HFU")
        section = one.full.split("From the published peak to what is achieved")[1].split("\n\n")[0]
        shown = re.findall(r"  ([\d.]+) %  ", section)
        self.assertAlmostEqual(sum(map(float, shown[:-1])), float(shown[-1]), places=6)

    @for_each
    def test_one_step_time(self, one):
        self.assertIsNotNone(one.mean, one.first)
        mean = one.mean.group(1)
        for shown in (one.first, one.full, one.page):
            told = re.findall(f"[Mm]ean step(?: of)? ({TIME})", words(shown))
            self.assertTrue(told)
            self.assertEqual(set(told), {mean})
        mean_ns = int(one.report["verdict"]["step_ns"])
        self.assertEqual(mean_ns, int(one.steps["judged_mean_ns"]))
        self.assertAlmostEqual(one.metric("step_seconds"), mean_ns / 1e9, delta=2e-9)
        self.assertEqual(one.gate["conditions"][0]["value"], mean)

    @for_each
    def test_which_steps_is_said_alike(self, one):
        judged = one.steps["judged_text"]
        self.assertRegex(judged, r"^(\d+ of )?\d+ steps: .*\d+\.\.\d+( without \d+ of them)?$")
        self.assertTrue(one.mean.group(2).startswith(judged), one.mean.group(2))
        for shown in (one.first, one.full, one.page):
            self.assertIn(f"over {judged}", words(shown))
        for command in ("kernels", "gaps"):
            self.assertIn(f"over {judged}", words(run(command, one.path, "--limit", "1", columns=250)))

    @for_each
    def test_one_busy_share(self, one):
        busy = re.search(f"GPU busy +({PERCENT}) +target", one.first).group(1)
        told = re.findall(f"the GPU is busy ({PERCENT}) of the time", words(one.full + one.page))
        self.assertEqual(set(told), {busy})
        self.assertIn(f"GPU busy {busy} target 85 %", one.page)
        self.assertAlmostEqual(float(one.gate["conditions"][1]["value"].split()[0]), float(busy.split()[0]), delta=0.06)
        self.assertEqual(f"{100 * one.metric('gpu_busy_ratio'):.1f} %", busy)
        split, judged = one.device["partition"], one.steps["judged_sum"]
        for whole, part in (("wall_ns", "length_ns"), ("compute_ns", "compute_ns"), ("idle_ns", "idle_ns"),
                            ("exposed_communication_ns", "exposed_communication_ns"), ("exposed_copy_ns", "exposed_copy_ns")):
            self.assertEqual(int(split.get(whole, 0)), int(judged.get(part, 0)), whole)

    @for_each
    def test_a_run_differs_from_itself_in_nothing(self, one):
        told = run("diff", one.path, one.path, columns=250)
        self.assertIn(f"a step takes {one.mean.group(1)} after, {one.mean.group(1)} before", told)
        self.assertEqual(told.count(one.steps["judged_text"]), 2)

    @for_each
    def test_rows_of_nothing_are_hidden(self, one):
        steps = one.full[one.full.index("\nMean step "):]
        steps = steps[:steps.index("\n\n", 2)]
        self.assertNotIn(" 0.0 %", steps)
        classes = one.full[one.full.index("\nKernel classes"):]
        self.assertNotIn(" 0.0 %", classes[:classes.index("\n\n", 2)])

    @for_each
    def test_all_is_asked_for_and_labeled(self, one):
        told = run(one.path, "--full", "--all", columns=250)
        self.assertIn("figures are over the whole recording", told)
        whole = json.loads(run(one.path, "--all", "--format", "json"))
        self.assertEqual(whole["scope"], {**whole["scope"], "all": True, "text": "the whole recording"})
        self.assertGreater(int(whole["run"]["partition"]["wall_ns"]), int(one.report["run"]["partition"]["wall_ns"]))
        self.assertEqual(whole["verdict"]["step_ns"], one.report["verdict"]["step_ns"])
        self.assertIn("over the whole recording", run("kernels", one.path, "--all", "--limit", "1", columns=250))


class OneScreen(unittest.TestCase):
    def test_lines_and_columns(self):
        for path in SHIPPED:
            for columns in (60, 80, 120, 200):
                with self.subTest(f"{path.name} at {columns}"):
                    lines = run(path, columns=columns).splitlines()
                    self.assertGreaterEqual(len(lines), 18)
                    self.assertLessEqual(len(lines), 45)
                    for line in lines + run(path, "--full", columns=columns).splitlines():
                        # Paths and addresses stay whole.
                        if " " in line.strip():
                            self.assertLessEqual(len(line), columns, line)

    def test_numbers_stay_with_their_units(self):
        for path in SHIPPED:
            for columns in (60, 80):
                for line in run(path, "--full", columns=columns).splitlines():
                    self.assertNotRegex(line, r"^ +(ns|us|ms|s|%|GB/s|MHz|TFLOP/s)([,;:.)]| |$)", path.name)

    def test_names_use_the_room_that_there_is(self):
        narrow, wide = (run(RECORDINGS / "ddp_h200", "--full", columns=columns) for columns in (100, 200))
        self.assertIn("...", narrow)
        self.assertLess(wide.count("..."), narrow.count("..."))
        self.assertGreater(max(map(len, wide.splitlines())), 160)

    def test_without_columns_text_is_100_wide(self):
        widest = max(map(len, run(SHIPPED[0], "--full").splitlines()))
        self.assertLessEqual(widest, 100)
        self.assertGreater(widest, 90)
        self.assertEqual(run(SHIPPED[0], columns="wide"), run(SHIPPED[0]))


class Steps(unittest.TestCase):
    def test_steps_that_there_are_not(self):
        path = RECORDINGS / "slow_loader_h200.db.zst"
        for command in (["report"], ["html", "-o", "/dev/null"], ["kernels"], ["gaps"], ["steps"], ["gate", "--require", "step_ms < 1"]):
            told = run(command[0], path, *command[1:], "--steps", "1000..2000", code=2)
            self.assertIn("no GPU has the selected steps", told)
            self.assertIn("not the selected 1000 to 2000", told)
        self.assertIn("no GPU has the selected steps", run("diff", path, path, "--steps", "1000..2000", code=2))

    def test_the_steps_shown_are_accepted(self):
        for path in SHIPPED:
            report = json.loads(run(path, "--format", "json"))
            first, last = re.search(r"(\d+)\.\.(\d+)( without \d+ of them)?$", report["scope"]["text"]).groups()[:2]
            part = json.loads(run(path, "--steps", f"{first}..{last}", "--format", "json"))
            self.assertEqual(int(part["steps"][0].get("first", 0)), int(first))
            self.assertEqual(int(part["steps"][0]["count"]), int(last) - int(first) + 1)


class Played(harness.AnalyzeTestCase):
    def test_the_numbers_of_the_program(self):
        """The ranges of the program count from 0."""
        ended = self.play("--steps", "12", "--nvtx", "--streams", "1", "--kernels", "20", "--kernel-us", "200", cuda="cuda13",
                          env={"TRACEINJECT_OUTPUT": "run.db"})
        self.assertEqual((ended.code, ended.stderr), (0, ""))
        report = json.loads(run(self.folder / "run.db", "--format", "json"))
        steps = report["steps"][0]
        self.assertEqual(int(steps.get("first", 0)), 0, steps["source"])
        self.assertEqual(steps["numbered"], "step ")
        self.assertIn(" of 'step N'", run(self.folder / "run.db", columns=200))
        chosen = json.loads(run(self.folder / "run.db", "--steps", "3..8", "--format", "json"))
        self.assertEqual(int(chosen["steps"][0]["first"]), 3)
        rows = json.loads(run("steps", self.folder / "run.db", "--steps", "3..8", "--format", "json"))
        self.assertEqual([row["step"] for row in rows], list(range(3, 9)))


if __name__ == "__main__":
    unittest.main()
