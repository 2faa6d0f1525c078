// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyzer/report/layout/text_layout.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// For people. `rows`: of the tables of kernels and collectives at most.
void WriteComparison(const proto::Comparison& found, std::size_t rows, TextPage& page);

// Parts of that, for other forms of it: the mean step and what causes cost it; and what stands
// below the kernels.
void WriteComparedSteps(const proto::Comparison& found, ReportPage& page);
void WriteComparedSurroundings(const proto::Comparison& found, std::size_t collectives,
                               ReportPage& page);
// How many were compared, and what came of them together.
std::string KernelChangesSentence(const proto::KernelChanges& kernels);

// "+1.200 ms", "-41.20 ms", "0 ns".
std::string SignedTime(std::int64_t time_ns);

}  // namespace traceinject
