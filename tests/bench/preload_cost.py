#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What LD_PRELOAD adds to a process that never touches a GPU: the wall time of `bash -c true`, with and without the library.

The two variants take turns; printed are the medians and the median of the differences within a pair, with a 95 % interval from
order statistics (binomial, no assumption about the distribution).
"""

import argparse
import json
import math
import os
import shutil
import statistics
import sys
import time


def spawn_ms(path, arguments, env):
    began = time.perf_counter()
    pid = os.posix_spawn(path, arguments, env)
    _, status = os.waitpid(pid, 0)
    elapsed = (time.perf_counter() - began) * 1e3
    if status != 0:
        sys.exit(f"preload_cost.py: {' '.join(arguments)} ended with status {status}")
    return elapsed


def median_interval(values):
    """95 % interval of the median: ranks n/2 -+ 1.96 sqrt(n)/2 (normal approximation of the binomial)."""
    ordered, n = sorted(values), len(values)
    reach = 1.96 * math.sqrt(n) / 2
    return ordered[max(0, math.floor(n / 2 - reach))], ordered[min(n - 1, math.ceil(n / 2 + reach))]


def parse_options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("library", help="libtraceinject.so")
    parser.add_argument("--runs", type=int, default=500, help="pairs of runs (default: 500)")
    parser.add_argument("--limit-ms", type=float, help="fail if the median difference is above this")
    options = parser.parse_args()
    if not os.path.isfile(options.library):
        parser.error(f"{options.library}: no such file; build it first")
    return options


def main():
    options = parse_options()
    bash = shutil.which("bash")
    plain = {name: value for name, value in os.environ.items() if name != "LD_PRELOAD"}
    preloaded = plain | {"LD_PRELOAD": os.path.realpath(options.library)}
    arguments, pairs = ["bash", "-c", "true"], []
    for _ in range(10):  # page cache
        spawn_ms(bash, arguments, preloaded)
    for number in range(options.runs):
        order = [plain, preloaded] if number % 2 == 0 else [preloaded, plain]
        times = {id(env): spawn_ms(bash, arguments, env) for env in order}
        pairs.append((times[id(plain)], times[id(preloaded)]))
    differences = [with_ms - without_ms for without_ms, with_ms in pairs]
    low, high = median_interval(differences)
    result = {"runs": options.runs, "without_ms": statistics.median(p[0] for p in pairs),
              "with_ms": statistics.median(p[1] for p in pairs), "difference_ms": statistics.median(differences),
              "difference_low_ms": low, "difference_high_ms": high}
    print(f"bash -c true: {result['without_ms']:.3f} ms without, {result['with_ms']:.3f} ms with the library; "
          f"difference {result['difference_ms']:+.3f} ms (95 %: {low:+.3f} to {high:+.3f}), {options.runs} pairs", file=sys.stderr)
    print(json.dumps(result))
    return 1 if options.limit_ms is not None and result["difference_ms"] > options.limit_ms else 0


if __name__ == "__main__":
    sys.exit(main())
