#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far predicted savings were off, by label: the table of analyzer/verdict/savings/model_error.cc.

Reads the tables of tests/gpu/results/verdicts.md whose savings were predicted by an analyzer that also told the step that is left, and
takes of each row with the right label the measured saving as a share of the predicted one. Of these the middle 95 % for one more
case is told: that of a Student distribution of their logarithms. Of labels with fewer than three cases there is no row; for them, all
cases together count.

  model_error.py          prints the rows
  model_error.py --check  exit code 1 if the source has others
"""

import argparse
import math
import pathlib
import re
import statistics
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
RESULTS, SOURCE = ROOT / "tests/gpu/results/verdicts.md", ROOT / "analyzer/verdict/savings/model_error.cc"
LEAST_CASES = 3
NEEDED = {"true saving, ms", "predicted, ms", "predicted step, ms", "label", "expected"}
# 97.5 % of Student's distribution by degrees of freedom; more: that of the last.
STUDENT = [12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23, 2.20, 2.18, 2.16, 2.14, 2.13, 2.12, 2.11, 2.10, 2.09, 2.09]
LATER = 2.0


def rows_of(text):
    """The rows of the tables that tell all that is needed."""
    header = None
    for line in text.splitlines():
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")] if line.startswith("|") else None
        if cells is None:
            header = None
        elif header is None:
            header = cells
        elif NEEDED <= set(header) and len(cells) == len(header) and not cells[0].startswith("---"):
            yield dict(zip(header, cells))


def shares_by_label(text):
    """{label: [measured / predicted, ...]}."""
    shares = {}
    for row in rows_of(text):
        if row["label"] != row["expected"] or "-" in (row["true saving, ms"], row["predicted, ms"]):
            continue
        measured, predicted = float(row["true saving, ms"]), float(row["predicted, ms"])
        if measured > 0 and predicted > 0:
            shares.setdefault(row["label"], []).append(measured / predicted)
    return shares


def middle(shares):
    """The middle 95 % for one more; both ends of it hold 1, as the prediction is the best guess."""
    logarithms = [math.log(share) for share in shares]
    mean, spread = statistics.mean(logarithms), statistics.stdev(logarithms)
    student = STUDENT[len(shares) - 2] if len(shares) - 2 < len(STUDENT) else LATER
    reach = student * spread * math.sqrt(1 + 1 / len(shares))
    return min(1.0, math.exp(mean - reach)), max(1.0, math.exp(mean + reach))


def table(text):
    """The rows of the source, the one of all labels last."""
    shares = shares_by_label(text)
    rows = [(label, of_label) for label, of_label in sorted(shares.items()) if len(of_label) >= LEAST_CASES]
    rows.append(("", [share for of_label in shares.values() for share in of_label]))
    return [f'{{"{label}", {len(of_label)}, {middle(of_label)[0]:.2f}, {middle(of_label)[1]:.2f}}},' for label, of_label in rows]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", action="store_true", help="compare with the source")
    options = parser.parse_args()
    rows = table(RESULTS.read_text())
    print("\n".join(rows))
    if not options.check:
        return 0
    found = re.findall(r'\{"\w*", \d+, [\d.]+, [\d.]+\},', SOURCE.read_text())
    return 0 if found == rows else 1


if __name__ == "__main__":
    sys.exit(main())
