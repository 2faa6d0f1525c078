#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A long recording on the fake GPU: whether the library's memory and CPU stay flat and nothing is dropped. By hand, not in CI; needs
# two cores that nothing else uses, and room for some 6 MB a second.
#
# usage: soak.sh [--minutes 20] [--rate 200000] [--folder PARENT] [--build BUILD]
#   --rate     records that CUPTI delivers a second, half of them kernels
#   --folder   where to record, in a folder that is removed at the end (default: the temporary one)
#   --build    the CMake build folder (default: build/release)
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
if [[ ${1:-} == -h || ${1:-} == --help ]]; then
  sed -n '3,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 0
fi
exec python3 -B "$here/soak.py" "$@"
