#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does analyze name the bottleneck that was planted, and is its saving right? Measures what each planted cause costs without tracing,
# records each cause, and prints a table of labels and savings against the truth, and how many savings lie within their stated 95 % interval; the last line is "N passed, N failed". About four
# minutes on one GPU (with --load longer); with two GPUs, data-parallel training is recorded as well.
#
# usage: verdict.sh OUT [options of verdict.py: --cause NAME, --load light|medium|heavy, --steps N, --rounds N, --keep, --separate, --rescore, ...]
#
# Writes OUT/verdict.md, verdict.json, truth.json, reports/, logs/, and with --keep recordings/. Exit code 0: all passed; 1: something
# failed; 2: it could not start. TRACEINJECT_LIB and TRACEINJECT_ANALYZE name the built library and analyzer.
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_and_options_of verdict.py "$@"
need_gpu
need_analyze
launch 540 "$1" verdict.py --workload "$root/samples/workloads/bottlenecks.py" --gpus "$gpus" --analyze "$analyze" "${@:2}"
