#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# TRACEINJECT_AB on a launch-bound and a compute-bound program: whether its estimate of what recording adds to a step agrees with
# processes that are recorded and not recorded at all, taken by turns. About four minutes on one GPU.
#
# usage: ab_steps.sh OUT    writes OUT/results.json, recordings and reports
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ $# -ne 1 || $1 == -* ]]; then
  sed -n '3,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  [[ ${1:-} == -h || ${1:-} == --help ]] && exit 0
  exit 2
fi
# shellcheck source=tests/gpu/environment.sh
source "$here/environment.sh"
[[ -n $analyze ]] || stop "analyze not found: build it (cmake --preset portable && cmake --build --preset portable) or set TRACEINJECT_ANALYZE"
mkdir -p "$1"
describe_machine
exec timeout -k 10 "${TIME_LIMIT_S:-580}" "$python" "$here/ab_steps.py" --library "$lib" --analyze "$analyze" --workload "$workload" --out "$1"
