#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TRACEINJECT_AB on a launch-bound and a compute-bound program: whether its estimate of what recording adds to a step agrees with
# processes that are recorded and not recorded at all, taken by turns. About four minutes on one GPU.
#
# usage: ab_steps.sh OUT    writes OUT/results.json, recordings and reports
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
need_analyze
launch 580 "$1" ab_steps.py --workload "$workload" --analyze "$analyze"
