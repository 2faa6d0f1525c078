#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording costs: step time of a compute-bound and a launch-bound program untraced, with kernels only, with everything that is
# recorded by default, and under torch.profiler. About eight minutes on one GPU; --repetitions, --steps, --workloads make it shorter.
#
# usage: overhead.sh OUT [options of overhead.py]    writes OUT/overhead.json and OUT/overhead.md, prints the table
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_and_options_of overhead.py "$@"
need_gpu
launch 1200 "$1" overhead.py --workload "$workload" "${@:2}"
