#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A client of CUPTI that no wrapper sees, in a recorded process: it gets the kernels that it gets without us, and what we miss lies in gaps
# that are told, with CUPTI left as it is, finalized, flushed without a pause, in windows, and taken out in between. About four minutes on
# one GPU. UNSEEN_CLIENT: the client (default: the one that the release build has with its tests).
#
# usage: unseen.sh OUT [--program NAME]...    writes OUT/results.json and the recordings; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
UNSEEN_CLIENT=$(first_file "${UNSEEN_CLIENT:-}" "$root/build/release/fake_gpu/cuda13/libunseen_client.so")
[[ -n $UNSEEN_CLIENT ]] || stop "libunseen_client.so not found: build the preset release with -DTRACEINJECT_TESTS=ON or set UNSEEN_CLIENT"
export UNSEEN_CLIENT
launch 480 "$1" unseen.py check "${@:2}"
