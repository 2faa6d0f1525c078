#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording adds to a short step, told by processes that are recorded and not and take turns, by TRACEINJECT_AB and by the
# report, which have to agree. About four minutes on one GPU with 16 cores.
#
# usage: recording_cost.sh OUT [--processes N] [--seconds S]    writes OUT/results.json, OUT/turns.json, recordings and logs
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
mkdir -p "$1"
describe_machine
exec timeout -k 10 "${TIME_LIMIT_S:-400}" "$python" "$here/recording_cost.py" --library "$lib" --analyze "$analyze" --out "$1" "${@:2}"
