// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "analyzer/report/text_layout.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

// For people. `rows`: of the tables of kernels and collectives at most.
void WriteComparison(const proto::Comparison& found, std::size_t rows, TextPage& page);

// "+1.200 ms", "-41.20 ms", "0 ns".
std::string SignedTime(std::int64_t time_ns);

}  // namespace traceinject
