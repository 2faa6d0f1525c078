#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What sampled hardware counters show of each kernel, against Nsight Compute (ncu) on the same kernels: products of several types,
# flash attention, convolutions, compiled kernels, layer norm, an optimizer. About three minutes on one GPU. Needs ncu, and permission
# for performance counters. Clocks and caches are left as they are.
#
# usage: against_ncu.sh OUT [--seconds S] [--interval-us US]    writes OUT/results.json, the recording, and what ncu printed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
command -v ncu >/dev/null || stop "ncu not found: it comes with Nsight Compute"
launch 400 "$1" against_ncu.py check --analyze "$analyze" "${@:2}"
