// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <google/protobuf/message.h>

#include "analyzer/common/printable.h"

namespace traceinject {

// Printable() for every string in the message: Protocol Buffers only read back UTF-8. O(size of the
// message).
void MakePrintable(google::protobuf::Message& message);

}  // namespace traceinject
