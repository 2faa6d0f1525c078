#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which CUPTI activity kind costs what on a launch-bound step: kernels, copies, memsets and calls alone, then with one further kind
# at a time, and with all of them. About six minutes on one GPU.
#
# usage: kinds.sh OUT [options of overhead.py]    writes OUT/overhead.json and OUT/overhead.md, prints the table
set -euo pipefail

base=kernel,memcpy,memset,api
extras=(memcpy2 synchronization overhead cuda_event)

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
out=$1
shift
configurations=(--configuration untraced --configuration "kinds:kernel" --configuration "kinds:$base")
all=$base
for kind in "${extras[@]}"; do
  configurations+=(--configuration "kinds:$base,$kind")
  all+=,$kind
done
exec "$here/overhead.sh" "$out" --workloads launch-bound "${configurations[@]}" --configuration "kinds:$all" "$@"
