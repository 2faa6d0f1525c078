// SPDX-License-Identifier: Apache-2.0
// Findings about communication that need the steps: sizes of gradient buckets, and a low rate where
// communication is what limits the run.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "analyzer/metrics/links/rank_link.h"
#include "analyzer/metrics/report/build_report.h"
#include "analyzer/verdict/savings/savings.h"

namespace traceinject {

// Buckets are told where operations that exchange gradients (AllReduce and ReduceScatter of
// autograd's threads; without such threads, all from 1 MiB on) are mostly smaller or larger than
// advised and communication takes a twentieth of the regular steps. O(operations).
void AddBucketFindings(const DeviceAnalysis& judged, proto::DeviceReport& to);

// Of the operations that exchange gradients; empty: there are none of known size. O(operations).
std::optional<std::int64_t> MedianBucketBytes(const DeviceAnalysis& judged);

// If the label is comm_exposed, and it is known how long large operations took without waiting:
// that they are slow for their link. `way`: the slowest by which NCCL connected the rank.
void AddSlowCommunication(std::string_view label, NcclTransport way, proto::DeviceReport& to);

}  // namespace traceinject
