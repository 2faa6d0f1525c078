#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# torch.profiler in a recorded process: it exports what it exports without us, and we record everything before, during and after. Ten
# sessions each of CUDA only, CPU and CUDA, and with a schedule; sixty short ones; thirty across the edges of windows; and CUPTI torn
# down after each. About six minutes on one GPU.
#
# usage: profiler.sh OUT [--program NAME]...    writes OUT/results.json and the recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
launch 500 "$1" profiler.py check "${@:2}"
