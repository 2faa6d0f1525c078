#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What Python stacks cost a step: TRACEINJECT_STACKS_HZ samples a second with the stacks of waits and launches, against none, by turns
# in one recorded process, on a launch-bound and a compute-bound program. The pace of a host drifts within seconds, so the settings of the
# launch-bound program change with each step; in the other, "without stacks again" shows what a difference of nothing looks like. About
# eight minutes on one GPU.
#
# usage: [PRESETS="launch-bound compute"] stacks_cost.sh OUT    writes OUT/launch-bound.txt, OUT/compute.txt, step times and recordings
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
mkdir -p "$1"
out=$(cd "$1" && pwd)
describe_machine
hz=${TRACEINJECT_STACKS_HZ:-100}
for preset in ${PRESETS:-launch-bound compute}; do
  turns=(--block 1 --settle 0)
  [[ $preset == compute ]] && turns=(--block 5 --settle 1 --setting "without stacks again")
  TRACEINJECT_STACKS_HZ=$hz TRACEINJECT_OUTPUT="$out/$preset.db" LD_PRELOAD="$lib" timeout -k 10 "${TIME_LIMIT_S:-280}" \
    "$python" "$here/../cost/switch_sources.py" --preset "$preset" --rounds 100000 --seconds "${SECONDS_EACH:-200}" "${turns[@]}" \
    --over "without stacks" --setting all --raw "$out/$preset.json" | tee "$out/$preset.txt"
  "$python" - "$out/$preset.db" <<'PY'
import sqlite3
import sys

run = sqlite3.connect(sys.argv[1])
print("stacks:", dict(run.execute("SELECT counter, value FROM health WHERE source = 'stack'")))
print("rows by kind:", dict(run.execute("SELECT kind, count(*) FROM stack_sample GROUP BY kind")))
PY
done
