#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Hardware counters (TRACEINJECT_COUNTERS) on one GPU: which sets of counters the chip takes; what sampling costs a program of matrix
# products, of memory traffic, and of rest, by processes with counters (auto) and without that take turns; what reading the samples of
# auto costs, and all of them; samples expected and got, gaps; and the tensor cores' activity in the products against FLOPs, time and
# peak. About four minutes. Needs permission for performance counters (root, or NVreg_RestrictProfilingToAdminUsers=0), and no other
# profiler on the GPU; without, it prints the reason.
#
# usage: sampling.sh OUT [--part sets|cost|samples]... [--pairs N] [--seconds S] [--interval-us US]    writes OUT/results.json, recordings and logs
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 900 "$1" sampling.py check --analyze "$analyze" "${@:2}"
