# shellcheck shell=bash disable=SC2034,SC2154
# SPDX-License-Identifier: Apache-2.0
# What the hardware scripts share; sourced by start.sh. Sets root, lib, analyze and python, and stops with a sentence if one is missing.
#   TRACEINJECT_LIB      libtraceinject.so      (default: the release build's)
#   TRACEINJECT_ANALYZE  the analyze program    (default: the portable build's, then the release build's)
# The two are taken out of the environment, where the library would report them as options that it does not know.

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
python=${PYTHON:-python3}

stop() {
  echo "$(basename "$0"): $*" >&2
  exit 2
}

first_file() {
  local path
  for path in "$@"; do
    if [[ -f $path ]]; then
      realpath "$path"
      return
    fi
  done
}

lib=$(first_file "${TRACEINJECT_LIB:-}" "$root"/build/{release,portable}/lib/libtraceinject.so)
analyze=$(first_file "${TRACEINJECT_ANALYZE:-}" "$root"/build/portable/portable/analyze "$root"/build/{portable,release}/bin/analyze)
unset TRACEINJECT_LIB TRACEINJECT_ANALYZE
workload=$root/samples/workloads/transformer.py

[[ -n $lib ]] || stop "libtraceinject.so not found: build it (cmake --preset release && cmake --build --preset release) or set TRACEINJECT_LIB"
command -v "$python" >/dev/null || stop "python3 not found"
gpus=$("$python" -c 'import torch; print(torch.cuda.device_count())') || stop "PyTorch cannot be imported by $python"
((gpus > 0)) || stop "PyTorch sees no CUDA device: these checks need an NVIDIA GPU"

# Stops unless analyze is there.
need_analyze() {
  [[ -n $analyze ]] || stop "analyze not found: build it (cmake --preset portable && cmake --build --preset portable) or set TRACEINJECT_ANALYZE"
}

# start_on_two_gpus OUT: an empty OUT with recordings/, reports/ and logs/; sets out and outcomes (the list that checks.py writes).
start_on_two_gpus() {
  need_analyze
  ((gpus >= 2)) || stop "two GPUs are needed, $gpus found"
  mkdir -p "$1" || stop "cannot write to $1"
  out=$(realpath "$1")
  rm -rf "$out"/{recordings,reports,logs,results.json}
  mkdir -p "$out"/{recordings,reports,logs}
  outcomes=$out/logs/outcomes.jsonl
  : >"$outcomes"
}

# One line for the head of a result: what ran where.
describe_machine() {
  "$python" - <<'PY'
import datetime, shutil, subprocess, torch
driver = "unknown"
if shutil.which("nvidia-smi"):
    query = ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"]
    driver = (subprocess.run(query, capture_output=True, text=True).stdout.split() or [driver])[0]
nccl = ".".join(map(str, torch.cuda.nccl.version()))
print(f"{datetime.date.today()}; {torch.cuda.device_count()} x {torch.cuda.get_device_name()}; "
      f"driver {driver}; CUDA {torch.version.cuda}; PyTorch {torch.__version__}; NCCL {nccl}")
PY
}

# launch SECONDS OUT SCRIPT [ARGUMENT...]: the Python script beside this one, with the library and an OUT that is there, and no longer than
# TIME_LIMIT_S or SECONDS (0: no limit). Does not return.
launch() {
  local limit=${TIME_LIMIT_S:-$1} out=$2 script=$3
  shift 3
  mkdir -p "$out" || stop "cannot write to $out"
  describe_machine
  exec timeout -k 10 "$limit" "$python" "$here/$script" "$@" --library "$lib" --out "$out"
}
