#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# IMAGE=train run.sh torchrun --nproc_per_node=8 train.py [arguments]
set -euo pipefail
KIT=${KIT:-/opt/traceinject} RESULTS=${RESULTS:-/results}

exec docker run --rm --gpus all --ipc=host -v "$KIT:/opt/traceinject:ro" -v "$RESULTS:/results" \
  -e LD_PRELOAD=/opt/traceinject/libtraceinject.so -e TRACEINJECT_OUTPUT=/results/run.db "${IMAGE:?}" "$@"
