// SPDX-License-Identifier: Apache-2.0
// The checks of the report (hygiene_checks.h) that need no run.
#pragma once

#include "analyzer/doctor/checklist.h"
#include "analyzer/doctor/present_machine.h"

namespace traceinject {

// Those that are in order, too, and those whose facts are unknown, with the reason.
Checklist CheckPresentMachine(const PresentMachine& machine);

}  // namespace traceinject
