// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "analyzer/report/layout/text_layout.h"
#include "schemas/trend.pb.h"

namespace traceinject {

// For people: of each group the changes, and a row for each of the newest `rows` runs; 0: of all.
void WriteTrend(const proto::Trend& trend, std::size_t rows, ReportPage& page);

// Parts of that, for other forms of it: what is said of a group beside its runs, and what was not
// read.
void WriteGroupChanges(const proto::TrendGroup& group, ReportPage& page);
void WriteLeftOut(const proto::Trend& trend, ReportPage& page);

}  // namespace traceinject
