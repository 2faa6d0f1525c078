// SPDX-License-Identifier: Apache-2.0
// The page that shows a timeline: one file that talks to nobody but its server.
#pragma once

#include <string>

namespace traceinject {

std::string ServedPage();
// What it may do, as a Content-Security-Policy: of styles and scripts its own.
std::string ServedPagePolicy();

}  // namespace traceinject
