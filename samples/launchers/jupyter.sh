#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Adds a kernel "Python 3 (recorded)" to Jupyter's menu, with the Python that is in PATH. What a notebook runs with it is recorded.
set -euo pipefail
KIT=${KIT:-/opt/traceinject} RESULTS=${RESULTS:-/results}

exec python3 -m ipykernel install --user --name traceinject --display-name "Python 3 (recorded)" \
  --env LD_PRELOAD "$KIT/libtraceinject.so" --env TRACEINJECT_OUTPUT "$RESULTS/notebook.db"
