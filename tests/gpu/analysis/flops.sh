#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# FLOPs of a training step, matrix products and attention, as analyze reports them, against torch.utils.flop_counter: for each backend
# of scaled_dot_product_attention, and what is said of a compiled program. About two minutes on one GPU.
#
# usage: flops.sh OUT [--program NAME]...    writes OUT/results.json and the recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 500 "$1" flops.py check --analyze "$analyze" "${@:2}"
