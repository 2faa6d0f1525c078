# SPDX-License-Identifier: Apache-2.0
"""What compare.py calls a difference."""

import random
import unittest

import compare


def board(**figures):
    return {"figures": {f"{name} (small)": values for name, values in figures.items()}}


def rounds(chance, middle, scatter=0.02, count=9):
    return [middle * chance.gauss(1, scatter) for _ in range(count)]


class Compare(unittest.TestCase):
    def test_equal_ones_are_the_same(self):
        chance = random.Random(1)
        found = sum(compare.change_of(rounds(chance, 3), rounds(chance, 3), False).counts for _ in range(1000))
        self.assertEqual(found, 0)

    def test_a_tenth_more_is_found(self):
        chance = random.Random(2)
        found = sum(compare.change_of(rounds(chance, 3), rounds(chance, 3.3), False).counts for _ in range(1000))
        self.assertGreater(found, 980)

    def test_little_does_not_count_however_certain(self):
        self.assertFalse(compare.change_of([1.0] * 9, [1.04] * 9, False).counts)
        self.assertTrue(compare.change_of([1.0] * 9, [1.06] * 9, False).counts)
        self.assertTrue(compare.change_of([1.0] * 9, [0.9] * 9, False).counts)

    def test_few_rounds_tell_nothing(self):
        self.assertFalse(compare.change_of([1.0] * 5, [2.0] * 5, False).counts)

    def test_disturbed_rounds_do_not_count(self):
        self.assertFalse(compare.change_of([1.0, 1.1, 1.5, 1.0, 2.0, 1.0, 1.1], [1.1, 1.5, 1.1, 1.0, 1.6, 1.1, 1.0], False).counts)

    def test_counts_are_exact(self):
        self.assertTrue(compare.change_of([100], [102], True).counts)
        self.assertFalse(compare.change_of([100], [100.5], True).counts)
        self.assertTrue(compare.change_of([0], [1], True).counts)

    def test_ranks_are_counted_right(self):
        # Of the 20 ways to order 3 and 3 one has them apart to this side.
        self.assertAlmostEqual(compare.chance([1, 2, 3], [4, 5, 6]), 1 / 20)
        self.assertAlmostEqual(compare.chance([1, 2, 4], [3, 5, 6]), 2 / 20)
        self.assertAlmostEqual(compare.chance([4, 5, 6], [1, 2, 3]), 1 / 20)

    def test_figures_of_both_are_compared(self):
        changes = compare.compare(board(report=[1.0] * 9, gone=[1.0]), board(report=[2.0] * 9, new=[1.0]))
        self.assertEqual(list(changes), ["report (small)"])
        self.assertAlmostEqual(changes["report (small)"].share, 1.0)


if __name__ == "__main__":
    unittest.main()
