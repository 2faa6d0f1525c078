// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace traceinject {

// The table of levers (schemas/try_levers.h), for people.
std::string LeversText();

}  // namespace traceinject
