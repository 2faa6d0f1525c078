#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Programs that hang, idle or run long kernels: a stall must be told where there is one, with what is outstanding, and nowhere else.
# With a second GPU also an AllReduce to which one rank does not come. About three minutes.
#
# usage: stalls.sh OUT    writes OUT/results.json, recordings and reports
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
exec timeout -k 10 "${TIME_LIMIT_S:-500}" "$python" "$here/stalls.py" check --library "$lib" --analyze "$analyze" --out "$1"
