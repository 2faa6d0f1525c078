// SPDX-License-Identifier: Apache-2.0
// What is most of a part of the waterfall, in words.
#pragma once

#include <string>

#include "schemas/report.pb.h"

namespace traceinject {

// "normalization 6.10 ms; elementwise 5.20 ms": names of kernels shortened.
std::string WaterfallItemsText(const proto::WaterfallBar& bar);

}  // namespace traceinject
