#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A guest changes nothing: a deterministic training script with and without the library must print the same, end with the same exit
# code and leave the same parameters, bit by bit: eager, ended by an exception, under torch.compile, and on two GPUs if they are
# there. About four minutes.
#
# usage: identical.sh OUT [--mode MODE]...    writes OUT/results.json, what the programs printed, and the recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
launch 580 "$1" identical.py check --gpus "$gpus" "${@:2}"
