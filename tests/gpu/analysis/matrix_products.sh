#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Matrix products of real programs: FLOPs from the recorded shapes against torch.utils.flop_counter for the same steps, the share of
# calls whose kernels were found, and bit-identical results with and without the library. About a minute on one GPU.
#
# usage: matrix_products.sh OUT    writes OUT/results.json and the recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
launch 300 "$1" matrix_products.py check
