# SPDX-License-Identifier: Apache-2.0
"""The value of a figure, and how sure it is.

A figure that depends on time has rounds: its processor time and that of its calibration, (cost, calibration). Its value is the ratio of the
sums, and the standard error that of the ratio estimator (W. G. Cochran, Sampling Techniques, 3rd edition, 2.11): from the residuals
cost - value * calibration. Measured on a busy machine, the spread between boards is as large as this says.
"""

import collections
import math

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


def of_count(count):
    return Value(count, 0.0)


def of_figure(told):
    """Of what a board has: rounds, or a number."""
    return of_rounds(told) if isinstance(told, list) else of_count(told)
