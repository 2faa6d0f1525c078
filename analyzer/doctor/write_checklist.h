// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

#include "analyzer/doctor/checklist.h"
#include "analyzer/report/layout/text_layout.h"

namespace traceinject {

// A line a check, what to do below those that are amiss, and how many there are of each.
void WriteChecklist(const Checklist& lines, TextPage& page);

}  // namespace traceinject
