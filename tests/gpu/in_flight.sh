#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Windows of a program whose GPU is behind its host: what is launched in a window has its record, also where it runs after it, what was
# launched before has none, and a report does not take that for idle time. About a minute on one GPU.
#
# usage: in_flight.sh OUT [--preset compute]    writes OUT/results.json, recordings and reports; exit code 0: all checks passed
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ $# -lt 1 || $1 == -* ]]; then
  sed -n '3,6s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  [[ ${1:-} == -h || ${1:-} == --help ]] && exit 0
  exit 2
fi
# shellcheck source=tests/gpu/environment.sh
source "$here/environment.sh"
[[ -n $analyze ]] || stop "analyze not found: build it (cmake --preset portable && cmake --build --preset portable) or set TRACEINJECT_ANALYZE"
out=$1
shift
mkdir -p "$out"
describe_machine
exec timeout -k 10 "${TIME_LIMIT_S:-300}" "$python" "$here/in_flight.py" check --library "$lib" --analyze "$analyze" --out "$out" "$@"
