// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace traceinject {

// Keys and mouse, over everything.
void DrawHelp();

}  // namespace traceinject
