#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Which transport connects two GPUs, as TRACEINJECT_NCCL_LOG=1 records it, when NCCL may choose and when ways are closed to it; and
# that a program which asks for NCCL's output itself sees the same with the library as without. Needs two NVIDIA GPUs, PyTorch, and
# the built programs. NVLS stays switched off in every run.
set -uo pipefail

usage() {
  cat <<'TEXT'
usage: nccl_transports.sh OUT

  (a) NCCL chooses: P2P                 (b) NCCL_P2P_DISABLE=1: SHM
  (c) NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1: TCP sockets
  (d) NCCL_DEBUG set by the script, before and after it imports PyTorch, with TRACEINJECT_NCCL_LOG at its default

Writes under OUT: recordings/, reports/, logs/, results.json. Exit code 0: all checks passed; 1: one failed; 2: it could not start.

environment
  TRACEINJECT_LIB, TRACEINJECT_ANALYZE   the built library and analyzer (default: build/release, build/portable)
TEXT
}

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
start_on_two_gpus "$1"
unset NCCL_DEBUG NCCL_DEBUG_SUBSYS NCCL_DEBUG_FILE NCCL_P2P_DISABLE NCCL_SHM_DISABLE NCCL_PROFILER_PLUGIN
export NCCL_NVLS_ENABLE=0

# part NAME TRANSPORT VARIABLE=VALUE...
part() {
  local name=$1 transport=$2 folder=$out/recordings/$1 log=$out/logs/$1
  shift 2
  mkdir -p "$folder" "$log.tmp"
  if ! timeout -k 10 180 env "$@" TMPDIR="$log.tmp" LD_PRELOAD="$lib" TRACEINJECT_NCCL_LOG=1 TRACEINJECT_OUTPUT="$folder/run.db" \
    "$python" -m torch.distributed.run --standalone --nproc-per-node 2 "$here/nccl_workload.py" --steps 5 \
    --issued "$log.issued" >"$log.out" 2>"$log.err"; then
    "$python" "$shared/checks.py" fail "$outcomes" "($name)" "recorded run" "failed; see $log.err"
    tail -n 12 "$log.err"
    return
  fi
  cat "$log.out"
  if ! timeout -k 10 120 "$analyze" "$folder/run.db" --format json >"$out/reports/$name.json" 2>"$log.analyze"; then
    "$python" "$shared/checks.py" fail "$outcomes" "($name)" "analyze" "failed; see $log.analyze"
    return
  fi
  timeout -k 10 120 "$analyze" "$folder/run.db" >"$out/reports/$name.txt"
  timeout -k 10 120 "$python" "$here/check_nccl_transports.py" recorded --part "($name)" --checks "$outcomes" --transport "$transport" \
    --run-db "$folder"/run.rank0000{0,1}.db --report "$out/reports/$name.json" --temporary "$log.tmp" --stdout "$log.out" ||
    "$python" "$shared/checks.py" fail "$outcomes" "($name)" "check_nccl_transports.py" "the check itself ended with an error"
}

# output NAME before|after LEVEL: NCCL names its profiler plug-in in its output, so that is left out on both sides.
output() {
  local name=$1 log=$out/logs/$1 side
  for side in plain recorded; do
    local preload=()
    [[ $side == recorded ]] && preload=(LD_PRELOAD="$lib" TRACEINJECT_NCCL=0 TRACEINJECT_OUTPUT="$out/recordings/$name.db")
    if ! timeout -k 10 120 env "${preload[@]}" "$python" "$here/nccl_output.py" "$2" "$3" >"$log.$side" 2>"$log.$side.err"; then
      "$python" "$shared/checks.py" fail "$outcomes" "($name)" "$side run" "failed; see $log.$side.err"
      tail -n 12 "$log.$side.err"
      return
    fi
  done
  timeout -k 10 60 "$python" "$here/check_nccl_transports.py" output --part "($name)" --checks "$outcomes" --plain "$log.plain" \
    --recorded "$log.recorded" ||
    "$python" "$shared/checks.py" fail "$outcomes" "($name)" "check_nccl_transports.py" "the check itself ended with an error"
}

describe_machine
part a P2P
part b SHM NCCL_P2P_DISABLE=1
part c Socket NCCL_P2P_DISABLE=1 NCCL_SHM_DISABLE=1
output d-before-info before INFO
output d-after-info after INFO
output d-before-version before VERSION
output d-after-version after VERSION
"$python" "$shared/checks.py" summary "$outcomes" "$out/results.json"
