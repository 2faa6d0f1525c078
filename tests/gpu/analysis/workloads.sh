#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What analyze says of recorded runs of samples/workloads, against what the programs themselves measure: steps, FLOPs and MFU, the
# exact split of time, and the cause of idle that each was made for. On one GPU about two minutes; with two, ddp and fsdp as well.
#
# usage: workloads.sh OUT [--program NAME]...    writes OUT/results.json, recordings and reports; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 400 "$1" workloads.py --gpus "$gpus" --analyze "$analyze" "${@:2}"
