#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A training program under Nsight Systems (nsys profile), its export as analyze reads it, and nsys's own statistics of the same report:
# kernels by name and copies by direction have to agree to the nanosecond, and what analyze import makes of it has to report the same.
# Needs nsys and sqlite3 in the path. Two minutes on one GPU.
#
# usage: nsys.sh OUT    writes OUT/results.json, the report and its export; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
need_analyze
command -v nsys >/dev/null || stop "nsys not found: install Nsight Systems"
out=$1
mkdir -p "$out"
describe_machine
nsys --version
nsys profile --trace=cuda,nvtx --cuda-graph-trace=node --sample=none --cpuctxsw=none --force-overwrite=true --output="$out/report1" \
  "$python" "$workload" --steps "${STEPS:-30}"
nsys export --type sqlite --force-overwrite=true --output="$out/report1.sqlite" "$out/report1.nsys-rep"
nsys stats --report cuda_gpu_kern_sum,cuda_gpu_mem_time_sum --format csv --force-overwrite=true --output="$out/stats" "$out/report1.sqlite"
exec "$python" "$here/nsys.py" --analyze "$analyze" --out "$out"
