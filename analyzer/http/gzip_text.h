// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// The text as a gzip file. Quick rather than small: pages shrink to a fifth or less all the same.
std::string GzipText(std::string_view text);

}  // namespace traceinject
