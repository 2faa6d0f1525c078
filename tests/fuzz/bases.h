// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace traceinject {

// What the file tests/fuzz/bases/NAME.zst holds (make_bases.py). Throws if it cannot be had.
std::string ReadBase(const std::string& name);

}  // namespace traceinject
