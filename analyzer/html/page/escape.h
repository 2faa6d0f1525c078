// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// Text as HTML and XML show it, in an element or a quoted attribute. Nothing in it is markup, and
// nothing in it can be invisible or change the order of what stands around it: characters that
// would are written as "[U+202E]". O(length).
std::string Escaped(std::string_view text);

}  // namespace traceinject
