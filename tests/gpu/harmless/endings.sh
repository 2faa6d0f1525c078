#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Two ranks under torchrun (one, where there is one GPU), of which one ends at a random moment and in a random way: exit codes are what
# they are without the library, and each rank's file is sound and lacks at most the last two seconds. About four minutes.
#
# usage: endings.sh OUT [--times 30] [--at-once 3] [--seed 1]    writes OUT/results.json; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
launch 500 "$1" endings.py check --ranks "$((gpus < 2 ? 1 : 2))" "${@:2}"
