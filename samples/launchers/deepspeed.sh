#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# deepspeed.sh [--hostfile FILE] train.py [arguments]
set -euo pipefail
KIT=${KIT:-/opt/traceinject} RESULTS=${RESULTS:-/results}

export LD_PRELOAD=$KIT/libtraceinject.so TRACEINJECT_OUTPUT=$RESULTS/run.db
# Of the environment other nodes are given what begins with NCCL, PYTHON, and the like; the rest comes from this file.
file=.deepspeed_env
touch "$file"
sed -i -e '/^LD_PRELOAD=/d' -e '/^TRACEINJECT_OUTPUT=/d' "$file"
printf '%s\n' "LD_PRELOAD=$LD_PRELOAD" "TRACEINJECT_OUTPUT=$TRACEINJECT_OUTPUT" >>"$file"
exec deepspeed "$@"
