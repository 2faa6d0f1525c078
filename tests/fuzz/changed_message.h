// SPDX-License-Identifier: Apache-2.0
// A message whose fields an input changes: other numbers, entries that are missing or come twice,
// columns of other lengths.
#pragma once

#include <google/protobuf/message.h>

#include "tests/fuzz/input_bytes.h"

namespace traceinject {

// One field, anywhere in it.
void ChangeField(InputBytes& input, google::protobuf::Message* message);

}  // namespace traceinject
