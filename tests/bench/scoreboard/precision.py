# SPDX-License-Identifier: Apache-2.0
"""The value of a figure, and how sure it is; and how many times that of another it is.

A figure that depends on time has rounds: its processor time and that of its calibration, (cost, calibration). Its value is the ratio of the
sums, and the standard error that of the ratio estimator (W. G. Cochran, Sampling Techniques, 3rd edition, 2.11): from the residuals
cost - value * calibration. Measured on a busy machine, the spread between boards is as large as this says.
"""

import collections
import math
import statistics

Value = collections.namedtuple("Value", "middle error")  # the error is a share of the middle


def of_rounds(rounds):
    """None for an error: too few rounds to tell."""
    costs, calibrations = sum(cost for cost, _ in rounds), sum(calibration for _, calibration in rounds)
    ratio = costs / calibrations
    count = len(rounds)
    if count < 2:
        return Value(ratio, None)
    squares = sum((cost - ratio * calibration) ** 2 for cost, calibration in rounds)
    return Value(ratio, math.sqrt(squares / (count - 1) / count) / (costs / count))


def of_pairs(before, after):
    """How many times as much the later takes, of rounds that were taken turn about: the median, as now and then only one of two meets what
    else the machine does. Calibrations do not count. The error is half the distance between the two order statistics that are as far from
    the middle as the number of rounds below the median scatters (H. A. David, Order Statistics, 3rd edition, 7.1)."""
    times = sorted(now / was for (was, _), (now, _) in zip(before, after))
    count = len(times)
    middle = statistics.median(times)
    if count < 2:
        return Value(middle, None)
    reach = math.sqrt(count) / 2
    low, high = max(0, math.floor((count - 1) / 2 - reach)), min(count - 1, math.ceil((count - 1) / 2 + reach))
    return Value(middle, (times[high] - times[low]) / 2 / middle)


def of_count(count):
    return Value(count, 0.0)


def of_figure(told):
    """Of what a board has: rounds, or a number."""
    return of_rounds(told) if isinstance(told, list) else of_count(told)
