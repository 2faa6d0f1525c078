// SPDX-License-Identifier: Apache-2.0
// What ranks tell of each other, for people.
#pragma once

#include <cstddef>
#include <string>

#include "analyzer/report/layout/text_layout.h"
#include "analyzer/report/text/text.h"
#include "schemas/ranks.pb.h"

namespace traceinject {

// What holds the job up, and what that costs.
void WriteRanksSummary(const proto::Ranks& ranks, ReportPage& page);
// How it is parallelized, on which clocks, and what was left out.
void WriteRanksLayout(const proto::Ranks& ranks, ReportPage& page);

// `rows`: of the table of ranks, those furthest over their peers; the rest is counted.
std::string WriteRanksText(const proto::Ranks& ranks, const TextOptions& options,
                           std::size_t rows = 32);

}  // namespace traceinject
