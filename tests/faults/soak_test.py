# SPDX-License-Identifier: Apache-2.0
"""What soak.py takes for growth: memory that grows, not pieces that come and go, nor one more of them."""

import random
import unittest

import soak

MINUTES, SAMPLES_A_MINUTE = 19, 300


def held(leak_kb_a_minute, more_after_minute=MINUTES):
    """(seconds, bytes): up to four buffers over what is held between flushes, and one more from a minute on."""
    draw = random.Random(1)
    points = []
    for i in range(MINUTES * SAMPLES_A_MINUTE):
        minute = i / SAMPLES_A_MINUTE
        more = 2.5e6 if minute >= more_after_minute else 0
        points.append((60 * minute, 30e6 + 1000 * leak_kb_a_minute * minute + more + 2.5e6 * draw.randrange(5)))
    return points


class Slope(unittest.TestCase):
    def kb_a_minute(self, points):
        return [60 / 1000 * value for value in soak.slope(points)]

    def test_buffers_that_come_and_go_are_no_growth(self):
        for value in self.kb_a_minute(held(0)):
            self.assertAlmostEqual(value, 0)

    def test_one_buffer_more_is_no_growth(self):
        for minute in (2, 16):
            self.assertLess(self.kb_a_minute(held(0, minute))[2], soak.MOST_GROWTH_KB_A_MINUTE)

    def test_a_leak_is_found(self):
        growth, low, high = self.kb_a_minute(held(300))
        self.assertAlmostEqual(growth, 300, delta=10)
        self.assertGreater(low, soak.MOST_GROWTH_KB_A_MINUTE)
        self.assertLess(high, 400)


if __name__ == "__main__":
    unittest.main(verbosity=2)
