#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# What analyze says of kernels: programs with one planted slowness each that the names of kernels should show and one without, rates of
# matrix products against CUDA events, and theoretical occupancy against what CUDA itself answers. About two minutes on one GPU.
#
# usage: kernels.sh OUT [--program NAME]...    writes OUT/results.json and the recordings; exit code 0: all checks passed
set -euo pipefail

here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# shellcheck source=tests/gpu/usage.sh
source "$here/usage.sh"
out_first "$@"
# shellcheck source=tests/gpu/environment.sh
source "$here/environment.sh"
run_checks kernels.py 500 "$@"
