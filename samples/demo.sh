#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# From a fresh Debian 12 machine to a report on a real training run.
set -euo pipefail

usage() {
  cat <<'TEXT'
usage: demo.sh [--no-install] [--no-gpu]

Installs the distribution's packages that the build needs (with sudo when not root), builds everything in Release under build/release,
and then
  - with an NVIDIA GPU and PyTorch: records a few seconds of samples/workloads/transformer.py and reports on them;
  - otherwise: reports on the recordings of real runs in samples/recordings/.

  --no-install   leave packages alone
  --no-gpu       use the shipped recordings even where a GPU could be used
TEXT
}

install=yes use_gpu=yes
for argument in "$@"; do
  case $argument in
    --no-install) install=no ;;
    --no-gpu) use_gpu=no ;;
    -h | --help) usage && exit 0 ;;
    *) usage >&2 && exit 2 ;;
  esac
done

# shellcheck source=samples/setup.sh
source "$(dirname "${BASH_SOURCE[0]}")/setup.sh"
analyze=$root/build/release/bin/analyze
library=$root/build/release/lib/libtraceinject.so
work=$root/build/demo

# The reason why nothing can be recorded here; empty if it can.
why_no_gpu() {
  if [[ $use_gpu == no ]]; then
    echo "--no-gpu was given"
  elif ! nvidia-smi -L >/dev/null 2>&1; then
    echo "no NVIDIA GPU found (nvidia-smi lists none)"
  elif ! python3 -c 'import sys, torch; sys.exit(not torch.cuda.is_available())' 2>/dev/null; then
    echo "python3 has no PyTorch that can use the GPU"
  elif [[ ! -f $library ]]; then
    echo "libtraceinject.so was not built, because the CUDA headers were not found"
  fi
}

# show COMMAND...: prints it as one would type it, then runs it.
show() {
  echo
  echo "\$ ${*//"$root"\//}"
  "$@"
}

record_and_report() {
  rm -rf "$work"
  mkdir -p "$work"
  say "recording 100 training steps"
  show env LD_PRELOAD="$library" TRACEINJECT_OUTPUT="$work/run.db" python3 "$root/samples/workloads/transformer.py" --nvtx
  show "$analyze" "$work/run.db"
}

report_shipped() {
  local path folder single ranks
  single=$(find "$root/samples/recordings" -maxdepth 1 -name '*.db.zst' | sort)
  ranks=$(find "$root/samples/recordings" -mindepth 2 -name '*.db.zst' -printf '%h\n' | sort -u)
  [[ -n $single || -n $ranks ]] || die "samples/recordings contains no recording (*.db.zst), and none can be made here: $reason"
  while read -r path; do
    [[ -z $path ]] || show "$analyze" "$path"
  done <<<"$single"
  while read -r folder; do
    [[ -z $folder ]] || show "$analyze" "$folder"
  done <<<"$ranks"
}

if [[ $install == yes ]]; then
  install_packages "${build_packages[@]}"
fi
configure_and_build release -DTRACEINJECT_TESTS=OFF

reason=$(why_no_gpu)
if [[ -z $reason ]]; then
  record_and_report
else
  say "reporting on shipped recordings, because $reason"
  report_shipped
fi
say "from the start to the last report: $(minutes_since 0)"
