// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "schemas/report.pb.h"

namespace traceinject {

// The message in the Protocol Buffers wire format, for programs. Equal reports give equal bytes.
std::string WritePb(const proto::Report& report);

}  // namespace traceinject
