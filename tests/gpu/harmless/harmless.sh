#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# A guest changes nothing: tests of PyTorch's own, which others wrote, must have the same outcomes with and without the library, one
# by one. Both arms run side by side; what differs is repeated three times each way. About eight minutes on 16 cores and one GPU.
#
# usage: harmless.sh CHECKOUT OUT [option]...
#   CHECKOUT   a checkout of PyTorch's repository, or its folder test/ in a folder, of the installed version or one close to it
#   OUT        gets results.json, the logs of the processes, and tests.jsonl with the outcomes of each test
#   options    those of harmless.py check, such as --seconds N, --least N, --jobs N, --shard 1/2, --select FILE[:MOST][=EXPRESSION]
# Exit code 0: no outcome differs, enough tests were compared, and the library recorded.
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
(($# >= 2)) || set -- --help
out_first "$@"
need_gpu
launch 0 "$2" harmless.py check --gpus "$gpus" --checkout "$1" \
  --recorded kernel=1000 --recorded step_mark=100 --recorded "python installed=1" "${@:3}"
