// SPDX-License-Identifier: Apache-2.0
// FuzzTarget::run of what clients ask of analyze serve.
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

std::string FuzzRequest(std::string_view input);

}  // namespace traceinject
