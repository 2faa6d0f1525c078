// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schemas/comparison.pb.h"

namespace traceinject {

// What changed between two runs as one HTML file that needs nothing else, bounded as WriteHtml().
std::string WriteComparisonHtml(const proto::Comparison& found);

}  // namespace traceinject
