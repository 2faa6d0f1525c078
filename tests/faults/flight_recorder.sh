#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Leaves the flight recorder on and looks at the file: tests/faults/flight_recorder.sh [minutes] [limit in MiB] [build folder]
# Prints every ten seconds how large the file and its journal are beside the limit, kills the program at the end, and says
# whether the file never was above 105 % of the limit, is sound, and holds its last part whole. On the fake GPU.
set -euo pipefail
minutes=${1:-20}
limit_mib=${2:-256}
root=$(cd "$(dirname "$0")/../.." && pwd)
build=$(cd "${3:-$root/build/release}" && pwd)
gpu=$build/fake_gpu/cuda13
folder=$(mktemp -d)
cd "$folder"

env LD_LIBRARY_PATH="$gpu" LD_PRELOAD="$build/lib/libtraceinject.so" TRACEINJECT_KEEP_LAST=1 TRACEINJECT_MAX_SIZE="${limit_mib}M" \
  "$gpu/fake_train" --steps -1 --kernels 300 --kernel-us 5 --step-us 3000 --nvtx --memcpy --nccl new --events >/dev/null &
program=$!
trap 'kill -KILL $program 2>/dev/null || true; rm -rf "$folder"' EXIT
limit=$((limit_mib * 1048576))
size() { { stat -c %s run.db run.db-wal 2>/dev/null || true; } | awk '{sum += $1} END {print sum + 0}'; }
resident() { awk '/^VmRSS/ {print int($2 / 1024)}' "/proc/$program/status"; }

largest=0
ends=$((SECONDS + minutes * 60))
while [ $SECONDS -lt $ends ]; do
  for _ in $(seq 20); do
    sleep 0.5
    now=$(size)
    if [ "$now" -gt "$largest" ]; then largest=$now; fi
  done
  printf '%5d s  %6.1f MiB of %d (%5.1f %%), at most %5.1f %%; program resident %d MiB\n' $((SECONDS - ends + minutes * 60)) \
    "$(awk "BEGIN {print $now / 1048576}")" "$limit_mib" "$(awk "BEGIN {print 100 * $now / $limit}")" \
    "$(awk "BEGIN {print 100 * $largest / $limit}")" "$(resident)"
done
kill -KILL $program
wait $program 2>/dev/null || true

python3 "$root/tests/faults/check_kept_part.py" run.db
if [ "$largest" -gt $((limit + limit / 20)) ]; then
  echo "FAIL: $largest bytes, more than 105 % of the limit"
  exit 1
fi
echo "PASS: at most $largest bytes, limit $limit"
