// SPDX-License-Identifier: Apache-2.0
// TRACEINJECT_TRY: pulls the levers of schemas/try_levers.h in this process, before its first line.
// The one place where the library changes the program that it is in, because it was asked to.
#pragma once

namespace traceinject {

// By the constructor, in a process that may be recorded. Without the variable, or where it is not
// understood, nothing is changed. Variables are set at once, levers of Python where the program
// imports torch (python_levers.h).
void StartTries();

}  // namespace traceinject
