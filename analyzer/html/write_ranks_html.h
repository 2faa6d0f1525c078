// SPDX-License-Identifier: Apache-2.0
// What the ranks of a job tell of each other as one HTML file that needs nothing else.
#pragma once

#include <string>

#include "schemas/ranks.pb.h"

namespace traceinject {

// Every list is bounded, and what is left out is counted. Linear in the size of the message.
std::string WriteRanksHtml(const proto::Ranks& ranks);

}  // namespace traceinject
