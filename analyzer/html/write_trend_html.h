// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schemas/trend.pb.h"

namespace traceinject {

// Runs over time as one HTML file that needs nothing else, bounded as WriteHtml(): of each group a
// chart of the step time with its changes, and a row for each run that leads to its page.
std::string WriteTrendHtml(const proto::Trend& trend);

}  // namespace traceinject
