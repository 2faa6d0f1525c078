#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that are no PyTorch: a plain CUDA C++ program compiled on the spot by nvcc, a JAX training loop with and without CUDA
# graphs, and a CuPy loop. Each is recorded and held against what it did itself; what is not installed is skipped. About three
# minutes on one GPU.
#
# usage: programs.sh OUT    writes OUT/results.json and the recordings; exit code 0: all checks passed
#   NVCC   the compiler (default: the one in PATH, then of /usr/local/cuda*)
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
need_analyze
launch 580 "$1" programs.py check --analyze "$analyze"
