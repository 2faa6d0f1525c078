#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# The flight recorder (TRACEINJECT_KEEP_LAST) of a program that stands still for longer than is kept, as for a checkpoint: all that it did
# afterwards is in the recording. Half a minute on one GPU.
#
# usage: pause.sh OUT    writes OUT/results.json and recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
launch 120 "$1" pause.py check "${@:2}"
