#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records every kind of NCCL operation on two GPUs and compares the recording with what the program says it issued: counts, bytes,
# datatypes, algorithm, protocol, and the way from each NCCL kernel to its operations. Needs two NVIDIA GPUs, PyTorch with NCCL 2.28
# or later, and the built programs. NVLS stays switched off in every run.
set -uo pipefail

usage() {
  cat <<'TEXT'
usage: nccl_plugin.sh OUT

  (a) NCCL chooses                      (b) NCCL_ALGO=RING NCCL_PROTO=SIMPLE     (c) NCCL_ALGO=RING NCCL_PROTO=LL
  (d) as (a), with NCCL_NVTX_DISABLE=1: the profiler interface alone has to tell everything
  (e) as (a), with fully sharded instead of data-parallel training
  (v4) to (v1) as (a), with the newer versions of the profiler interface hidden from NCCL

Writes under OUT: recordings/, reports/, logs/, results.json. Exit code 0: all checks passed; 1: one failed; 2: it could not start.

environment
  TRACEINJECT_LIB, TRACEINJECT_ANALYZE   the built library and analyzer (default: build/release, build/portable)
  STEPS                                  steps of each run, default 20
  PARTS                                  those to run, default "a b c d e v4 v3 v2 v1"
TEXT
}

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
start_on_two_gpus "$1"

# part NAME ALGORITHM PROTOCOL VARIABLE=VALUE...: "" for an algorithm or protocol that NCCL may choose. The variables `parallel`,
# `library` and `interface` (a version) say what differs from the default.
part() {
  local name=$1 algorithm=$2 protocol=$3 folder=$out/recordings/$1 log=$out/logs/$1 chosen=()
  shift 3
  mkdir -p "$folder"
  [[ -n $algorithm ]] && chosen=(--algorithm "$algorithm" --protocol "$protocol")
  if ! timeout -k 10 240 env -u NCCL_PROFILER_PLUGIN NCCL_NVLS_ENABLE=0 "$@" LD_PRELOAD="${library:-$lib}" TRACEINJECT_OUTPUT="$folder/run.db" \
    "$python" -m torch.distributed.run --standalone --nproc-per-node 2 "$here/nccl_workload.py" --steps "${STEPS:-20}" --parallel "${parallel:-ddp}" \
    --issued "$out/logs/$name.issued" >"$log.out" 2>"$log.err"; then
    "$python" "$shared/checks.py" fail "$outcomes" "($name)" "recorded run" "failed; see $log.err"
    tail -n 12 "$log.err"
    return
  fi
  cat "$log.out"
  if ! timeout -k 10 120 "$analyze" "$folder/run.db" --format json >"$out/reports/$name.json" 2>"$log.analyze"; then
    "$python" "$shared/checks.py" fail "$outcomes" "($name)" "analyze" "failed; see $log.analyze"
    return
  fi
  "$analyze" "$folder/run.db" >"$out/reports/$name.txt"
  timeout -k 10 120 "$python" "$here/check_nccl_plugin.py" --part "($name)" --checks "$outcomes" --report "$out/reports/$name.json" \
    --run-db "$folder"/run.rank0000{0,1}.db --issued "$out/logs/$name.issued".rank{0,1}.json --interface "${interface:-5}" "${chosen[@]}" ||
    "$python" "$shared/checks.py" fail "$outcomes" "($name)" "check_nccl_plugin.py" "the check itself ended with an error"
}

older_interface() {
  local interface=$1 library=$out/libtraceinject.v$1.so
  "$python" "$here/hide_profiler.py" "$lib" "$interface" "$library"
  part "v$interface" "" ""
}

describe_machine
for name in ${PARTS:-a b c d e v4 v3 v2 v1}; do
  case $name in
    a) part a "" "" ;;
    b) part b RING SIMPLE NCCL_ALGO=RING NCCL_PROTO=SIMPLE ;;
    c) part c RING LL NCCL_ALGO=RING NCCL_PROTO=LL ;;
    d) part d "" "" NCCL_NVTX_DISABLE=1 ;;
    e) parallel=fsdp part e "" "" ;;
    v[1-4]) older_interface "${name#v}" ;;
    *) stop "PARTS: there is no part $name" ;;
  esac
done
"$python" "$shared/checks.py" summary "$outcomes" "$out/results.json"
