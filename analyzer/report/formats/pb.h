// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/message.h>

#include <string>

namespace traceinject {

// The message in the Protocol Buffers wire format, for programs. Equal reports give equal bytes.
std::string WritePb(const google::protobuf::Message& report);

}  // namespace traceinject
