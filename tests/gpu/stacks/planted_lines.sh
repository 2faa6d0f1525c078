#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that are slow in one line, among lines that are not: the verdict's evidence has to name that line first, and a program
# without one must not be blamed for host code. About three minutes; the slow rank needs two GPUs.
#
# usage: planted_lines.sh OUT [--case CASE]...    writes OUT/results.json, recordings and reports; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 400 "$1" planted_lines.py check --analyze "$analyze" "${@:2}"
