# SPDX-License-Identifier: Apache-2.0
"""Figures that do not depend on time are within their limits (figures.py). TRACEINJECT_BUILD: the build folder (default: build/release)."""

import os
import pathlib
import tempfile
import types
import unittest
import unittest.mock

import figures
import measure

PROGRAMS = pathlib.Path(os.environ.get("TRACEINJECT_BUILD", figures.ROOT / "build" / "release")) / "bin"
COUNTED = [figure for figure in figures.FIGURES if figure.calibration is None]
# Memory is taken in steps that are large beside a small recording.
SIZES = {"viewer, memory": "small", "report, memory": "small"}


@unittest.skipIf(os.environ.get("TRACEINJECT_RUNTIME"), "a sanitizer takes memory of its own")
class CountedFigures(unittest.TestCase):
    def test_each_is_within_its_limit(self):
        measure.pin(None)  # with more processors more is read at a time
        for figure in COUNTED:
            with self.subTest(figure=figure.name), tempfile.TemporaryDirectory() as folder:
                try:
                    value = figure.measure(figures.Bench(PROGRAMS, figures.Inputs(folder, SIZES.get(figure.name, "tiny"))))
                except (figures.Absent, FileNotFoundError) as absent:
                    self.skipTest(str(absent))
                self.assertGreater(value, 0)
                self.assertLessEqual(value, figure.limit, f"{figure.unit}; say in the commit why, if it has to grow")


class Programs(unittest.TestCase):
    def test_a_folder_without_them_is_refused(self):
        """Else a wrapper that starts nothing would be measured."""
        with tempfile.TemporaryDirectory() as folder:
            (pathlib.Path(folder) / "analyze").touch(mode=0o755)
            self.assertIn("has no traceview:", figures.need_programs(folder))
            (pathlib.Path(folder) / "traceview").touch(mode=0o755)
            self.assertIsNone(figures.need_programs(folder))


class Measuring(unittest.TestCase):
    def test_what_was_measured_stands_when_it_is_interrupted(self):
        costs = iter([1, 1, 1, 1, 1, 1])  # of each folder once before the rounds, then two rounds

        def cost(_):
            try:
                return next(costs)
            except StopIteration:
                raise KeyboardInterrupt from None

        told = [{}, {}]
        with unittest.mock.patch.dict(figures.CALIBRATIONS, {"none": lambda _: 1}), self.assertRaises(KeyboardInterrupt):
            measure.measure([figures.Figure("report", "none", "", 1, cost)], told, told, types.SimpleNamespace(most_rounds=5, precision=0), str)
        self.assertEqual(told, [{"report": [(1, 1), (1, 1)]}] * 2)


if __name__ == "__main__":
    unittest.main()
