#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What LD_PRELOAD adds to a process that never touches a GPU (`bash -c true`): the goal is less than 1 ms.
#
# usage: preload_cost.sh [options of preload_cost.py]    environment: TRACEINJECT_LIB (default: the release build's)
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
library=${TRACEINJECT_LIB:-$root/build/release/lib/libtraceinject.so}
unset TRACEINJECT_LIB
exec python3 "$root/tests/bench/preload_cost.py" "$library" --limit-ms 1 "$@"
