#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Fixes that `analyze try` pulls from outside, on planted bottlenecks and on programs by others: is each applied, what does it save, and
# how far off was the prediction? About 25 minutes on one GPU; --case divides it, each part with an OUT of its own.
#
# usage: tries.sh OUT [--nanogpt FOLDER] [--timm FOLDER] [--examples FOLDER] [--case NAME]... [--repeat N]
#   OUT          gets tries.db, pages, results.json; exit code 0: every lever was applied and measured, and predictions are near
#   --nanogpt    a checkout of nanoGPT
#   --timm       a folder with timm's train.py, of about the installed version
#   --examples   a checkout of pytorch/examples
# What is not there is skipped.
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 590 "$1" tries.py check --analyze "$analyze" "${@:2}"
