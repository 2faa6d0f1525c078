#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# accelerate.sh train.py [arguments]. On several nodes: once on each, with --num_machines, --machine_rank, and --main_process_ip in front.
set -euo pipefail
KIT=${KIT:-/opt/traceinject} RESULTS=${RESULTS:-/results}

export LD_PRELOAD=$KIT/libtraceinject.so TRACEINJECT_OUTPUT=$RESULTS/run.db
exec accelerate launch --multi_gpu --num_processes="${GPUS:-8}" "$@"
