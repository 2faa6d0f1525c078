// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cupti.h>

namespace traceinject::fake {

// The name that cuptiGetCallbackName gives, with its version suffix; null for a call that the fakes
// do not know.
const char* CallbackName(CUpti_CallbackDomain domain, CUpti_CallbackId id);

}  // namespace traceinject::fake
