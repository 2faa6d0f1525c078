#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What got worse or better between two scoreboards of measure.py.

    compare.py before.json after.json

A figure that depends on time differs if its value does by more than 5 %, and by more than 3.5 standard errors (precision.py), so that all
figures of many comparisons are quiet. Of boards that were measured together each round is compared with the one beside it, else the values,
which are ratios to calibrations. A figure that does not depend on time differs if it is more than 1 % another. Exit code 1 if something got
worse.
"""

import argparse
import collections
import json
import math
import pathlib
import sys

import precision

LEAST = 0.05
LEAST_COUNTED = 0.01
ERRORS = 3.5


Change = collections.namedtuple("Change", "share least")  # of what was before; from where on it counts


def counts(change):
    return abs(change.share) > change.least


def change_of(before, after, together=False):
    """Both are what boards have of a figure; `together`: their rounds were taken turn about."""
    if together and isinstance(before, list):
        times = precision.of_pairs(before, after)
        return Change(times.middle - 1, math.inf if times.error is None else max(LEAST, ERRORS * times.error))
    was, now = precision.of_figure(before), precision.of_figure(after)
    if was.middle == 0:
        return Change(0.0 if now.middle == 0 else math.inf, LEAST)
    if not isinstance(before, list):
        least = LEAST_COUNTED
    elif was.error is None or now.error is None:
        least = math.inf
    else:
        least = max(LEAST, ERRORS * math.hypot(was.error, now.error))
    return Change(now.middle / was.middle - 1, least)


def compare(before, after):
    """The change of each figure that is in both, by its name."""
    together = are_together(before, after)
    return {name: change_of(told, after["figures"][name], together) for name, told in before["figures"].items() if name in after["figures"]}


def are_together(before, after):
    return before.get("together") is not None and before["together"] == after.get("together")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before", type=pathlib.Path)
    parser.add_argument("after", type=pathlib.Path)
    options = parser.parse_args()
    try:
        before, after = (json.loads(path.read_text()) for path in (options.before, options.after))
    except (OSError, ValueError) as error:
        parser.error(str(error))
    if before["machine"] != after["machine"]:
        print("of two machines: ratios of other processors differ by more than their rounds do")
    elif not are_together(before, after):
        print("of two times: what else the machine did counts, too; measure.py with both folders measures them turn about")
    worse = 0
    for name, change in compare(before, after).items():
        verdict = "the same" if not counts(change) else "WORSE" if change.share > 0 else "better"
        worse += verdict == "WORSE"
        print(f"{name:<44} {100 * change.share:+7.1f} %   {verdict:<8}  (counts beyond {100 * change.least:.1f} %)")
    for name in sorted(before["figures"].keys() ^ after["figures"].keys()):
        print(f"{name:<44} only {'before' if name in before['figures'] else 'after'}")
    sys.exit(1 if worse else 0)


if __name__ == "__main__":
    main()
