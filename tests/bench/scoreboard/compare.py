#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What got worse or better between two scoreboards of measure.py.

    compare.py before.json after.json

A figure that depends on time differs if its medians do by more than 5 %, and if its rounds do: by the rank-sum test of Mann and Whitney
(1947), exact, at 0.1 % for either direction, so that all figures of many comparisons are quiet. With fewer than six rounds a side nothing
can be told. A figure that does not depend on time differs if it is more than 1 % another. Exit code 1 if something got worse.
"""

import argparse
import collections
import functools
import json
import math
import pathlib
import statistics
import sys

import figures

LEAST = 0.05
LEAST_COUNTED = 0.01
CHANCE = 0.001


@functools.lru_cache(None)
def arrangements(low, high, smaller):
    """Ways to order so many of two kinds in which exactly `smaller` pairs have the one of the first kind above the other."""
    if smaller < 0:
        return 0
    if low == 0 or high == 0:
        return int(smaller == 0)
    return arrangements(low - 1, high, smaller - high) + arrangements(low, high - 1, smaller)


def chance(before, after):
    """How likely it is that values of one kind lie as far apart as these, to this side."""
    pairs = sum((a > b) + (a == b) / 2 for a in before for b in after)
    overlapping = math.ceil(min(pairs, len(before) * len(after) - pairs))
    ways = sum(arrangements(len(before), len(after), count) for count in range(overlapping + 1))
    return ways / math.comb(len(before) + len(after), len(before))


Change = collections.namedtuple("Change", "share counts")


def change_of(before, after, counted):
    """As a share of before, and whether it counts. Both are lists of values."""
    was, now = statistics.median(before), statistics.median(after)
    if was == 0:
        return Change(0.0 if now == 0 else math.inf, now != 0)
    share = now / was - 1
    if counted:
        return Change(share, abs(share) > LEAST_COUNTED)
    return Change(share, abs(share) > LEAST and chance(before, after) < CHANCE)


def compare(before, after):
    """The change of each figure that is in both, by its name."""
    counted = {f"{figure.name} ({size})" for figure in figures.FIGURES if figure.calibration is None for size in figures.SIZES}
    return {name: change_of(values, after["figures"][name], name in counted) for name, values in before["figures"].items() if name in after["figures"]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    options = parser.parse_args()
    before, after = (json.loads(path.read_text()) for path in (options.before, options.after))
    if before["machine"] != after["machine"]:
        print("of two machines: ratios of other processors differ by more than their rounds do")
    worse = 0
    for name, change in compare(before, after).items():
        verdict = "the same" if not change.counts else "WORSE" if change.share > 0 else "better"
        worse += verdict == "WORSE"
        print(f"{name:<44} {100 * change.share:+7.1f} %   {verdict}")
    for name in sorted(before["figures"].keys() ^ after["figures"].keys()):
        print(f"{name:<44} only {'before' if name in before['figures'] else 'after'}")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
