#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Kernel time by function against torch.profiler's own stacks (with_stack), of two programs: the transformer of samples/, and nanoGPT's
# model. Each runs twice, once recorded and once profiled. About two minutes on one GPU.
#
# usage: profiler_functions.sh OUT [--nanogpt FOLDER]    exit code 0: no function's share of the forward pass differs by more than 3 points
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 300 "$1" profiler_functions.py check --analyze "$analyze" "${@:2}"
