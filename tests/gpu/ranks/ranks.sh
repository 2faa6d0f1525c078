#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# Does `analyze ranks` name the fault that was planted between ranks, on the right one, and is its saving right? Measures what each
# planted cause costs without tracing, records each cause, and prints a table of findings and savings against the truth; the last line
# is "N passed, N failed, N too weak to be judged". One rank on each GPU, two or more; about four minutes on two.
#
# usage: ranks.sh OUT [options of ranks.py: --cause NAME, --world N, --steps N, --rounds N, --rescore, ...]
#
# Writes OUT/ranks.md, results.json, truth.json, recordings/, reports/ and logs/. Exit code 0: all passed; 1: something failed; 2: it
# could not start. TRACEINJECT_LIB and TRACEINJECT_ANALYZE name the built library and analyzer. --rescore needs no GPU: call ranks.py.
set -euo pipefail

# shellcheck source=tests/gpu/shared/start.sh
source "$(dirname "${BASH_SOURCE[0]}")/../shared/start.sh"
out_and_options_of ranks.py "$@"
need_gpu
need_analyze
((gpus >= 2)) || stop "two GPUs are needed, $gpus found"
unset NCCL_DEBUG NCCL_DEBUG_SUBSYS NCCL_DEBUG_FILE NCCL_PROFILER_PLUGIN NCCL_ALGO NCCL_PROTO NCCL_P2P_DISABLE NCCL_SHM_DISABLE
launch 540 "$1" ranks.py --analyze "$analyze" --workload "$root/samples/workloads/ranks.py" --world "$gpus" "${@:2}"
