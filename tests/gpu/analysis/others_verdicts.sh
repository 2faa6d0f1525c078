#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Verdicts on programs by others, against the truth: each runs as it is, and with its fault mended by hand. About nine minutes; where
# that is too long for one call, --program divides it, each part with an OUT of its own. The notes tell how long each program took.
#
# usage: others_verdicts.sh OUT [--nanogpt FOLDER] [--timm FOLDER] [--examples FOLDER] [--program NAME]...
#   OUT          gets recordings, reports, results.json; exit code 0: every label and line is right
#   --nanogpt    a checkout of nanoGPT
#   --timm       a folder with timm's train.py, of about the installed version
#   --examples   a checkout of pytorch/examples
# The others are written against the installed packages. What is not there is skipped.
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 590 "$1" others_verdicts.py check --analyze "$analyze" "${@:2}"
