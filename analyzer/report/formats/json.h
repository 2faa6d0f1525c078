// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/message.h>

#include <string>

#include "analyzer/common/result.h"

namespace traceinject {

// The message as JSON, fields named as in its .proto file, those that are 0 included; optional ones
// that are unknown are left out. 64-bit integers are strings, as the Protocol Buffers mapping to
// JSON prescribes. An error says why Protocol Buffers could not print it.
Result<std::string> WriteJson(const google::protobuf::Message& report);

}  // namespace traceinject
