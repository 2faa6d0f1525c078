#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Triton's Proton in a recorded process, which finds CUPTI's functions by dlsym: it counts the kernels that it counts without us, and we
# record everything before and after its sessions, and say what is missing. Once with the copy of CUPTI in Triton's package, its default,
# and once with the one that PyTorch uses. About a minute on one GPU.
#
# usage: proton.sh OUT [--program NAME]...    writes OUT/results.json and the recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
launch 90 "$1" proton.py check "${@:2}"
