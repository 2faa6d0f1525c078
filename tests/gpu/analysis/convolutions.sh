#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# FLOPs of convolutions, by the shapes that cuDNN is asked for, against torch.utils.flop_counter: plain, strided, dilated, grouped and
# transposed ones, of one to three dimensions, in three types and both layouts. Under two minutes on one GPU.
#
# usage: convolutions.sh OUT    writes OUT/results.json and the recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
launch 500 "$1" convolutions.py check
