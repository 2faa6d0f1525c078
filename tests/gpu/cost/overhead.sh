#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording costs: step time of a compute-bound and a launch-bound program untraced, with kernels only, with everything that is
# recorded by default, and under torch.profiler. About eight minutes on one GPU; --repetitions, --steps, --workloads make it shorter.
#
# usage: overhead.sh OUT [options of overhead.py]    writes OUT/overhead.json and OUT/overhead.md, prints the table
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
if [[ $# -lt 1 || $1 == -* ]]; then
  sed -n '3,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  [[ ${1:-} == -h || ${1:-} == --help ]] && exec "${PYTHON:-python3}" "$here/overhead.py" --help
  exit 2
fi
need_gpu
out=$1
shift
describe_machine
timeout -k 10 "${TIME_LIMIT_S:-1200}" "$python" "$here/overhead.py" --out "$out" --library "$lib" --workload "$workload" "$@"
