#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that hang, idle or run long kernels: a stall must be told where there is one, with what is outstanding, and nowhere else.
# With a second GPU also an AllReduce to which one rank does not come. About three minutes.
#
# usage: stalls.sh OUT    writes OUT/results.json, recordings and reports
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
need_analyze
launch 500 "$1" stalls.py check --analyze "$analyze"
