// SPDX-License-Identifier: Apache-2.0
// For tests: what each command and each gesture does, in one table for all places where a timeline
// is shown.
#pragma once

#include "viewer/ui/testing/ui_user.h"

namespace traceinject {

// Does every command by each of its keys, and looks at what that changed. A command without an
// entry in the table fails; one that is not offered where the user is has to change nothing.
void ExpectEveryCommandWorks(UiUser& user);

// The same for what the mouse does.
void ExpectEveryGestureWorks(UiUser& user);

}  // namespace traceinject
