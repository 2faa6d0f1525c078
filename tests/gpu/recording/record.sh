#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Records real training runs and checks the recordings. Needs one NVIDIA GPU, PyTorch, and the built programs; with two GPUs it
# also checks data-parallel training and one process that drives both.
set -uo pipefail

usage() {
  cat <<'TEXT'
usage: record.sh OUT

  (a) a transformer, eager, bfloat16            (b) the same on two GPUs under DistributedDataParallel
  (c) the same with thousands of tiny kernels   (d) one process that drives two GPUs

(a) and (b) are run once more under torch.profiler, without the library, and compared with the recording. (b) runs twice: as
DistributedDataParallel does it, with communication beside the backward pass, and with one bucket for all gradients. Kernels that
run beside others slow each other down as they happen to meet, so kernel times are compared in the second only.

Writes under OUT: recordings/, reports/, logs/, results.json, summary.txt. Exit code 0: all checks passed; 1: one failed;
2: the run could not start.

environment
  TRACEINJECT_LIB, TRACEINJECT_ANALYZE   the built library and analyzer (default: build/release, build/portable)
  STEPS                                  measured steps of (a), (b) and (d), default 40
  KEEP_PROFILES=1                        keep the profiler's traces (hundreds of MB) in OUT/scratch
TEXT
}

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
need_analyze

mkdir -p "$1" || stop "cannot write to $1"
out=$(realpath "$1")
recordings=$out/recordings reports=$out/reports logs=$out/logs scratch=$out/scratch
rm -rf "$recordings" "$reports" "$logs" "$scratch" "$out/results.json" "$out/summary.txt"
mkdir -p "$recordings" "$reports" "$logs" "$scratch"
outcomes=$scratch/outcomes.jsonl
: >"$outcomes"
steps=${STEPS:-40}
launch_bound_steps=30

# run PART NAME SECONDS COMMAND...: with a time limit, its output in logs/; a failure becomes a failed check.
run() {
  local part=$1 name=$2 limit=$3 log rc
  shift 3
  log=$logs/${part//[^a-z]/}-${name// /-}
  timeout -k 10 "$limit" "$@" >"$log.out" 2>"$log.err"
  rc=$?
  if ((rc != 0)); then
    "$python" "$shared/checks.py" fail "$outcomes" "$part" "$name" "exit code $rc (124: over its $limit s); the end of its output:"
    tail -q -n 12 "$log.out" "$log.err" | sed 's/^/      /'
  fi
  return $rc
}

# check SECONDS SCRIPT ARGUMENTS...: outcomes go to the terminal as they come.
check() {
  local limit=$1 script=$2 part=$3
  shift 3
  if ! timeout -k 10 "$limit" "$python" "$here/$script" --part "$part" --checks "$outcomes" "$@"; then
    "$python" "$shared/checks.py" fail "$outcomes" "$part" "$script" "the check itself ended with an error"
  fi
}

# record PART FILE COMMAND...: the command under LD_PRELOAD, writing FILE.
record() {
  local part=$1 file=$2
  shift 2
  run "$part" "recorded run" 240 env LD_PRELOAD="$lib" TRACEINJECT_MEMSETS=all TRACEINJECT_OUTPUT="$file" "$@"
}

# report PART PATH NAME: both formats; the JSON is what the checks read.
report() {
  local log=$logs/${1//[^a-z]/}-analyze
  run "$1" "analyze json" 120 "$analyze" "$2" --format json && mv "$log-json.out" "$reports/$3.json"
  run "$1" "analyze text" 120 "$analyze" "$2" && mv "$log-text.out" "$reports/$3.txt"
}

torchrun=("$python" -m torch.distributed.run --standalone --nproc-per-node 2)

eager() {
  local part="(a)" program=("$python" "$workload" --preset compute --steps "$steps")
  record "$part" "$recordings/transformer.db" "${program[@]}" --nvtx || return
  run "$part" "profiled run" 400 "${program[@]}" --profiler "$scratch/transformer.json" || return
  report "$part" "$recordings/transformer.db" transformer
  check 120 check_recording.py "$part" --run-db "$recordings/transformer.db" --report "$reports/transformer.json" --partitions 1
  check 300 compare_with_profiler.py "$part" --steps "$steps" --run-db "$recordings/transformer.db" --profile "$scratch/transformer.json"
}

# data_parallel PART NAME [--overlapping] OPTIONS...: recorded and profiled with two ranks; OPTIONS go to the program.
data_parallel() {
  local part=$1 name=$2 overlapping=()
  shift 2
  if [[ ${1:-} == --overlapping ]]; then
    overlapping=(--overlapping)
    shift
  fi
  local program=("${torchrun[@]}" "$workload" --preset compute --ddp --steps "$steps" "$@")
  mkdir -p "$recordings/$name"
  record "$part" "$recordings/$name/run.db" "${program[@]}" --nvtx --issued "$scratch/$name.issued.json" || return
  run "$part" "profiled run" 400 "${program[@]}" --profiler "$scratch/$name.json" || return
  local found=("$recordings/$name"/*)
  if [[ ${found[*]} == "$recordings/$name/run.rank00000.db $recordings/$name/run.rank00001.db" ]]; then
    "$python" "$shared/checks.py" pass "$outcomes" "$part" "two ranks give two files" "run.rank00000.db run.rank00001.db"
  else
    "$python" "$shared/checks.py" fail "$outcomes" "$part" "two ranks give two files" "found: ${found[*]##*/}"
    return
  fi
  report "$part" "$recordings/$name/run.db" "$name"
  check 120 check_recording.py "$part" --run-db "${found[@]}" --report "$reports/$name.json" --partitions 2
  check 300 compare_with_profiler.py "$part" --steps "$steps" --run-db "${found[@]}" --profile "$scratch/$name".rank{0,1}.json \
    --issued "$scratch/$name".issued.rank{0,1}.json "${overlapping[@]}"
}

launch_bound() {
  local part="(c)"
  record "$part" "$recordings/launch_bound.db" "$python" "$workload" --preset launch-bound --steps $launch_bound_steps --nvtx || return
  report "$part" "$recordings/launch_bound.db" launch_bound
  check 120 check_recording.py "$part" --run-db "$recordings/launch_bound.db" --report "$reports/launch_bound.json" --partitions 1
}

two_devices() {
  local part="(d)"
  record "$part" "$recordings/two_devices.db" "$python" "$workload" --preset compute --devices 2 --steps "$steps" --nvtx || return
  report "$part" "$recordings/two_devices.db" two_devices
  check 120 check_recording.py "$part" --run-db "$recordings/two_devices.db" --report "$reports/two_devices.json" --partitions 2 \
    --peer-copies "$steps"
}

main() {
  describe_machine
  echo "library $lib, analyze $analyze, $steps steps"
  eager
  launch_bound
  if ((gpus >= 2)); then
    data_parallel "(b) overlapping" ddp --overlapping
    data_parallel "(b) one bucket" ddp_one_bucket --bucket-mb 100000
    two_devices
  else
    for part in "(b)" "(d)"; do
      "$python" "$shared/checks.py" skip "$outcomes" "$part" "all" "needs two GPUs, $gpus found"
    done
  fi
  "$python" "$shared/checks.py" summary "$outcomes" "$out/results.json"
}

main | tee "$out/summary.txt"
rc=${PIPESTATUS[0]}
[[ ${KEEP_PROFILES:-0} == 1 ]] || rm -rf "$scratch"
exit "$rc"
