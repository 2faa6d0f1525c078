#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A guest changes nothing: the workloads of samples/ and five programs by others, with and without the library, in deterministic mode:
# every step's gradients and parameters, the state of random number generators, the compiler's counts, what was printed, and the exit
# code must be the same. The five: nanoGPT, timm's train.py, transformers' Trainer, Lightning, PyTorch Geometric. About four minutes.
#
# usage: others.sh OUT [--nanogpt FOLDER] [--timm FOLDER] [--program NAME]...
#   OUT         gets results.json and what the programs wrote; exit code 0: nothing differs, and enough was compared
#   --nanogpt   a checkout of nanoGPT
#   --timm      a folder with timm's train.py, of about the installed version
# The other three are written against the installed packages. What is not there is skipped.
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
launch 580 "$1" others.py check "${@:2}"
