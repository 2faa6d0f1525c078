#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# On one node: torchrun.sh train.py [arguments]. Also for scripts of Lightning, Megatron-LM, and torchtitan (-m torchtitan.train).
set -euo pipefail
KIT=${KIT:-/opt/traceinject} RESULTS=${RESULTS:-/results}

export LD_PRELOAD=$KIT/libtraceinject.so TRACEINJECT_OUTPUT=$RESULTS/run.db
exec torchrun --standalone --nproc_per_node="${GPUS:-8}" "$@"
