#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Windows of a program whose GPU is behind its host: what is launched in a window has its record, also where it runs after it, what was
# launched before has none, and a report does not take that for idle time. About a minute on one GPU.
#
# usage: in_flight.sh OUT [--preset compute|launch-bound]    writes OUT/results.json, recordings and reports; exit code 0: all checks passed
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_first "$@"
need_gpu
need_analyze
launch 300 "$1" in_flight.py check --analyze "$analyze" "${@:2}"
