#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What analyze says of kernels: programs with one planted slowness each that the names of kernels should show and one without, rates of
# matrix products against CUDA events, and theoretical occupancy against what CUDA itself answers. About two minutes on one GPU.
#
# usage: kernels.sh OUT [--program NAME]...    writes OUT/results.json and the recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 500 "$1" kernels.py check --analyze "$analyze" "${@:2}"
