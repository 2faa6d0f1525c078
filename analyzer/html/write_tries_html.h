// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schemas/tries.pb.h"

namespace traceinject {

// What `analyze try` found as one HTML file that needs nothing else, bounded as WriteHtml().
std::string WriteTriesHtml(const proto::Tries& tries);

}  // namespace traceinject
