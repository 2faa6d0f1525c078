# SPDX-License-Identifier: Apache-2.0
"""What compare.py calls a difference."""

import random
import statistics
import unittest

import compare
import precision


def board(**figures):
    return {"figures": {f"{name} (small)": told for name, told in figures.items()}}


def rounds(chance, ratio, scatter=0.03, count=9):
    """As on a machine whose pace changes from round to round, which meets cost and calibration alike."""
    paces = [chance.uniform(0.5, 1) for _ in range(count)]
    return [(ratio * pace * chance.gauss(1, scatter), pace * chance.gauss(1, scatter)) for pace in paces]


class Compare(unittest.TestCase):
    def changes(self, seed, ratio):
        chance = random.Random(seed)
        return [compare.change_of(rounds(chance, 3), rounds(chance, ratio)) for _ in range(1000)]

    def test_equal_ones_are_the_same(self):
        self.assertLess(sum(map(compare.counts, self.changes(1, 3))), 5)

    def test_a_tenth_more_is_found(self):
        found = [change for change in self.changes(2, 3.3) if compare.counts(change)]
        self.assertGreater(len(found), 850)
        self.assertTrue(all(change.share > 0 for change in found))

    def test_the_error_is_what_values_scatter(self):
        chance = random.Random(3)
        values = [precision.of_rounds(rounds(chance, 3)) for _ in range(2000)]
        scatter = statistics.stdev(value.middle for value in values) / 3
        error = statistics.mean(value.error for value in values)
        self.assertAlmostEqual(error / scatter, 1, delta=0.1)

    def test_so_is_the_error_of_pairs(self):
        chance = random.Random(4)
        values = [precision.of_pairs(rounds(chance, 3, count=25), rounds(chance, 3, count=25)) for _ in range(2000)]
        scatter = statistics.stdev(value.middle for value in values)
        self.assertAlmostEqual(statistics.mean(value.error for value in values) / scatter, 1, delta=0.3)

    def test_little_does_not_count_however_certain(self):
        one = [(3.0, 1.0)] * 9
        self.assertFalse(compare.counts(compare.change_of(one, [(3.12, 1.0)] * 9)))
        self.assertTrue(compare.counts(compare.change_of(one, [(3.18, 1.0)] * 9)))
        self.assertTrue(compare.counts(compare.change_of(one, [(2.7, 1.0)] * 9)))

    def test_boards_that_were_measured_together_are_compared_round_by_round(self):
        # Another program on the core slows a calibration by less, for most of the rounds of one board.
        paces = [1.0, 1.0, 1.7, 1.7, 1.7, 1.7, 1.7, 1.0, 1.0]
        before = [(3 * pace, pace ** 0.6) for pace in paces]
        after = [(3 * pace, 1.0) for pace in paces]
        for told, changed in ((after, False), ([(1.1 * cost, 1.0) for cost, _ in after], True)):
            one, other = board(report=before), board(report=told)
            one["together"] = other["together"] = "a"
            self.assertEqual(compare.counts(compare.compare(one, other)["report (small)"]), changed)
            other["together"] = "b"
            self.assertNotAlmostEqual(compare.compare(one, other)["report (small)"].share, 0.1 * changed, places=2)

    def test_one_round_tells_nothing(self):
        self.assertFalse(compare.counts(compare.change_of([(3.0, 1.0)], [(9.0, 1.0)])))

    def test_counts_are_exact(self):
        self.assertTrue(compare.counts(compare.change_of(100, 102)))
        self.assertFalse(compare.counts(compare.change_of(100, 100.5)))
        self.assertTrue(compare.counts(compare.change_of(0, 1)))

    def test_figures_of_both_are_compared(self):
        changes = compare.compare(board(report=[(1.0, 1.0)] * 9, gone=1), board(report=[(2.0, 1.0)] * 9, new=1))
        self.assertEqual(list(changes), ["report (small)"])
        self.assertAlmostEqual(changes["report (small)"].share, 1.0)


if __name__ == "__main__":
    unittest.main()
