// SPDX-License-Identifier: Apache-2.0
// Recordings and traces: from the file to the report, as text and as JSON.
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

std::string FuzzRecording(std::string_view input);
std::string FuzzNsys(std::string_view input);
std::string FuzzRpd(std::string_view input);
std::string FuzzKineto(std::string_view input);
std::string FuzzFile(std::string_view input);

}  // namespace traceinject
