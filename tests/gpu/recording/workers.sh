#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What data workers wait for, from the worker samples: a loader that decodes, one that reads a file of several GiB past the page
# cache, and one that sleeps must be told apart. Held against what the workers measured themselves. About a minute and a half on one GPU.
#
# usage: workers.sh OUT    writes OUT/results.json, the recordings, and while it runs OUT/storage.bin (STORAGE_BYTES, default 4 GiB)
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_only "$@"
need_gpu
launch 400 "$1" workers.py check --storage-bytes "${STORAGE_BYTES:-4294967296}"
