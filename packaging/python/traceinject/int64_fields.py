# SPDX-License-Identifier: Apache-2.0
"""Which fields of reports are integers of 64 bits (schemas/report.proto, schemas/ranks.proto)."""

from __future__ import annotations

_SUFFIXES = ("_ns", "_bytes")
# All others. A test holds them against the schemas.
_NAMES = frozenset("""
    allocations async_count backward_calls batch blocks bytes calls code_steps count data_waits depth_low depth_median
    distinct_names dropped ecc_corrected ecc_uncorrected edges error_cases failed first from_step gap_count gaps groups
    host_allocations host_releases hosts incomplete_operations irregular joined judged k kernels kernels_self
    kernels_total left_out linked_calls linked_kernels m matched_operations n ns nvlink_errors of_steps ooms operations
    other_kernels outstanding_launches pcie_replays pid product_calls ranks_played recorded_steps records_lost
    records_seen regular releases retries samples sequence shape_count slow_groups steps thread times to_step
    unknown_calls unrecorded_steps value waits warm_up worst_ranks
""".split())


def is_int64(name: str) -> bool:
    return name.endswith(_SUFFIXES) or name in _NAMES
