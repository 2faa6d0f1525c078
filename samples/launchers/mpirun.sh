#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Open MPI: mpirun.sh [options of mpirun] python3 train.py [arguments]
set -euo pipefail
KIT=${KIT:-/opt/traceinject} RESULTS=${RESULTS:-/results}

exec mpirun -np "${GPUS:-8}" -x LD_PRELOAD="$KIT/libtraceinject.so" -x TRACEINJECT_OUTPUT="$RESULTS/run.db" "$@"
