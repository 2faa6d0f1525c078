#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The library's side in the program's Python, with the real PyTorch on a GPU: waits, step marks, checkpoints and collections against
# the program's own clock, torch.compile with and without the library, and what a mark costs. About three minutes on one GPU.
#
# usage: python_side.sh OUT    writes OUT/results.json and the recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
launch 500 "$1" python_side.py check
