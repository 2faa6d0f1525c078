#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Holds the verdict of `analyze` against faults planted between ranks: the recordings and the truth that ranks.py left in its folder.
Needs no GPU.

  rank_verdicts.py --out OUT --analyze ANALYZE

A cause passes if the verdict has its label and rank, and saves what was measured within --tolerance. A control passes if its verdict
is none of what ranks do to each other. A cause that costs less than --share of its step proves nothing.
"""

import argparse
import json
import pathlib
import sys

sys.path.insert(1, str(pathlib.Path(__file__).resolve().parents[1] / "analysis"))
from verdict import ask, number  # noqa: E402

# The label of a verdict, by the finding of `analyze ranks`.
LABELS = {"straggler": "straggler", "slow_host": "straggler", "imbalance": "imbalance", "pipeline_stages": "imbalance",
          "slow_link": "slow_link", "slow_transport": "slow_link", "pipeline_bubble": "pipeline_bubble"}


def judge(options, cause, truth, verdict):
    """One row of the table. `truth`: the result line of the untraced job; of a control that of the recorded one."""
    expected = LABELS.get(truth.get("finding"))
    label, place = verdict.get("label"), verdict.get("place", "")
    saved_ms = int(verdict["saved_ns"]) / 1e6 if "saved_ns" in verdict else None
    row = {"cause": cause, "expected": expected, "label": label, "place": place, "confidence": verdict.get("confidence"),
           "predicted_ms": saved_ms, "true_ms": None, "weak": False, "faults": []}
    if "error" in truth:
        row["faults"].append(f"no truth: {truth['error']}")
        return row
    if expected is None:
        if label in LABELS.values():
            row["faults"].append("a verdict where nothing was planted")
        return row
    row["true_ms"] = truth["step_ms_on"] - truth["step_ms_off"]
    row["weak"] = 100 * row["true_ms"] < options.share * truth["step_ms_on"]
    if row["weak"]:
        return row
    if label != expected:
        row["faults"].append("wrong label")
        return row
    if truth.get("culprit") is not None and place != f"rank {truth['culprit']}":
        row["faults"].append(f"wrong rank: {truth['culprit']} expected")
    if abs(saved_ms - row["true_ms"]) > options.tolerance / 100 * row["true_ms"]:
        row["faults"].append(f"saving off by more than {options.tolerance:g} % of the measured difference")
    return row


def table(rows):
    lines = ["| cause | difference, ms | predicted, ms | verdict | confidence | expected | result |", "|---|---|---|---|---|---|---|"]
    for row in rows:
        result = "FAIL: " + "; ".join(row["faults"]) if row["faults"] else "too weak" if row["weak"] else "PASS"
        verdict = f"{row['label']} {row['place']}".strip()
        lines.append(f"| {row['cause']} | {number(row['true_ms'])} | {number(row['predicted_ms'])} | {verdict} | "
                     f"{number(row['confidence'])} | {row['expected'] or 'nothing between ranks'} | {result} |")
    return "\n".join(lines)


def score(options, out):
    document = json.loads((out / "truth.json").read_text())
    reports, rows = out / "verdicts", []
    reports.mkdir(exist_ok=True)
    for cause, recorded in document["recorded"].items():
        if "error" in recorded:
            continue  # ranks.py tells
        report, reason = ask([options.analyze, out / "recordings" / cause], reports, cause)
        truth = document["truth"].get(cause, recorded)
        rows.append(judge(options, cause, truth if report else {"error": reason}, (report or {}).get("verdict", {})))
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", required=True, help="folder of ranks.py; verdicts/ is added to it")
    parser.add_argument("--analyze", required=True, help="the analyze program")
    parser.add_argument("--share", type=float, default=5, help="what a cause must cost, %% of its step (default: 5)")
    parser.add_argument("--tolerance", type=float, default=10, help="of the saving, %% of the measured difference (default: 10)")
    options = parser.parse_args()
    rows = score(options, pathlib.Path(options.out).resolve())
    failed = sum(bool(row["faults"]) for row in rows)
    weak = sum(row["weak"] and not row["faults"] for row in rows)
    print(table(rows))
    print(f"{len(rows) - failed - weak} passed, {failed} failed, {weak} too weak to be judged")
    return 0 if rows and not failed else 1


if __name__ == "__main__":
    sys.exit(main())
