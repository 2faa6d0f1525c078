#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What recording adds to a short step, told by processes that are recorded and not and take turns, by TRACEINJECT_AB and by the
# report, which have to agree. About four minutes on one GPU with 16 cores.
#
# usage: recording_cost.sh OUT [--processes N] [--seconds S]    writes OUT/results.json, OUT/turns.json, recordings and logs
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/gpu/usage.sh
source "$here/usage.sh"
out_first "$@"
# shellcheck source=tests/gpu/environment.sh
source "$here/environment.sh"
need_analyze
mkdir -p "$1"
describe_machine
exec timeout -k 10 "${TIME_LIMIT_S:-400}" "$python" "$here/recording_cost.py" --library "$lib" --analyze "$analyze" --out "$1" "${@:2}"
