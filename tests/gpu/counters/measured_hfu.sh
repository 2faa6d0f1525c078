#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hardware FLOPs utilization (HFU) as the counters measure it, against the count of torch.utils.flop_counter over time and published
# peak: a transformer eager and compiled, a vision transformer, ResNet-50 in both layouts, flash attention alone, FP8 products. About
# three minutes on one GPU. Needs permission for performance counters.
#
# usage: measured_hfu.sh OUT [--seconds S] [--program NAME]...    writes OUT/results.json and the recordings
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 400 "$1" measured_hfu.py check --analyze "$analyze" "${@:2}"
