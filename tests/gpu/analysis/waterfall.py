#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which bar of the waterfall a planted cause moves, and by how much of what the cause costs.

Reads what `verdict.sh OUT --load light --keep --cause NAME ...` left in OUT: recordings of one process each, with a block of steps
without the cause and one with it. Needs no GPU.

  waterfall.py OUT --analyze build/release/bin/analyze

Of each cause a table of the bars is printed, ms of a mean step. It passes if the bar that the cause is about moves by what the step
times of the blocks tell, +-10 % of that, no other bar by more than that tenth, and the bars of both blocks add up to 100.0 %.
"""

import argparse
import json
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent))
import verdict  # noqa: E402

# The bar (WaterfallBar.part of report.proto) that a planted cause is about.
BARS = {"unaligned": "products", "fp32": "products", "gelu": "memory_bound", "attention": "memory_bound"}
TOLERANCE = 0.10


def waterfall_of(analyze, path, options):
    """{bar: ms of a mean step} and the sum of its percents."""
    printed = subprocess.run([analyze, path, "--format", "json", *options], check=True, capture_output=True, text=True).stdout
    bars = json.loads(printed)["devices"][0].get("waterfall", {}).get("bars", [])
    return ({bar.get("title") or bar["part"]: int(bar.get("ns", 0)) / 1e6 for bar in bars},
            {bar.get("title") or bar["part"]: bar["part"] for bar in bars}, round(sum(bar.get("percent", 0) for bar in bars), 6))


def faults_of(moved, parts, wanted, true_ms, sums):
    """What is wrong, in words. moved: {bar: ms}; true_ms: what the cause costs."""
    faults = [f"the bars add up to {total} %" for total in sums if total != 100.0]
    of_wanted = sum(ms for bar, ms in moved.items() if parts[bar] == wanted)
    if abs(of_wanted - true_ms) > TOLERANCE * true_ms:
        faults.append(f"{wanted} moved by {of_wanted:.2f} ms, not by {true_ms:.2f}")
    faults += [f"{bar} moved by {ms:+.2f} ms" for bar, ms in moved.items()
               if parts[bar] != wanted and abs(ms) > TOLERANCE * true_ms]
    return faults


def judge(analyze, path, cause, recorded):
    off, on = [waterfall_of(analyze, path, verdict.block_to_judge(path, recorded, state)) for state in ("off", "on")]
    parts = {**off[1], **on[1]}
    moved = {bar: on[0].get(bar, 0) - off[0].get(bar, 0) for bar in parts}
    print(f"| {cause}: bar | off, ms | on, ms | moved, ms |\n|---|---|---|---|")
    for bar in parts:
        print(f"| {bar} | {off[0].get(bar, 0):.2f} | {on[0].get(bar, 0):.2f} | {moved[bar]:+.2f} |")
    true_ms = recorded["step_ms_on"] - recorded["step_ms_off"]
    faults = faults_of(moved, parts, BARS[cause], true_ms, (off[2], on[2]))
    print(f"\n{'FAIL' if faults else 'PASS'}  {cause}: the step takes {true_ms:.2f} ms longer"
          f"{'; ' + '; '.join(faults) if faults else ', and so does ' + BARS[cause]}\n")
    return not faults


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("out", type=pathlib.Path)
    parser.add_argument("--analyze", default="build/release/bin/analyze")
    options = parser.parse_args()
    causes = json.loads((options.out / "truth.json").read_text())["recorded"]
    known = {cause: recorded for cause, recorded in causes.items() if cause.split("=")[0] in BARS}
    if not known:
        sys.exit(f"{options.out}: no cause of {', '.join(BARS)} was recorded")
    passed = [judge(options.analyze, verdict.recording_of(options.out, cause), cause.split("=")[0], recorded)
              for cause, recorded in known.items()]
    print(f"{sum(passed)} passed, {len(passed) - sum(passed)} failed")
    return 0 if all(passed) else 1


if __name__ == "__main__":
    sys.exit(main())
