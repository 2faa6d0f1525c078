#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording adds to a short step, told by processes that are recorded and not and take turns, by TRACEINJECT_AB and by the
# report, which have to agree. About four minutes on one GPU with 16 cores.
#
# usage: recording_cost.sh OUT [--program full_batch_gnn|small_layers] [--processes N] [--seconds S]
# Writes OUT/results.json, OUT/turns.json, recordings and logs.
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 400 "$1" recording_cost.py --analyze "$analyze" "${@:2}"
