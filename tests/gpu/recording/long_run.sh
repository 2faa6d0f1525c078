#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A long recording of a launch-bound program on a GPU: whether memory stays flat, nothing is dropped, and the library's threads take no
# more at the end than at the beginning. Needs room for some 5 MB a second.
#
# usage: long_run.sh [--minutes 8] [--folder PARENT]    a table, PASS and FAIL; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
asks_for_help "$@" && usage && exit 0
need_gpu
describe_machine
exec "$python" -B "$here/long_run.py" --library "$lib" "$@"
