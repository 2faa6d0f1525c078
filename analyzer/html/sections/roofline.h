// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/html/sections/sections.h"

namespace traceinject {

// Kernels whose work is known: arithmetic intensity against what they reached, below the published
// roof of the GPU. A sentence where there are none.
void WriteRoofline(const HtmlReport& to);

}  // namespace traceinject
