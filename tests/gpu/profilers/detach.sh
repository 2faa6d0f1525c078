#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Windows of steps of a training program: that CUPTI is taken out of the process dozens of times with TRACEINJECT_DETACH and comes to no
# harm, alone, beside launching threads and with torch.profiler in between; that each window is whole, also with CUPTI kept and where
# windows begin and end by order; and what a step between windows costs. About eight minutes on one GPU.
#
# usage: detach.sh OUT [--program NAME]...    writes OUT/results.json and the recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
launch 580 "$1" detach.py check "${@:2}"
