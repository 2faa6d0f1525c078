// SPDX-License-Identifier: Apache-2.0
// Observes calls of functions of the program's (call_slot.h says how, and which calls are seen).
#pragma once

#include <cstddef>

#include "injector/python/interpreter.h"

namespace traceinject {

// Called from Python with (function, before, after, even_seen): see observer.h; None is null.
// Returns whether the function is observed from now on, or was already.
PyObject* WatchCalls(const Interpreter& python, PyObject* const* arguments, std::ptrdiff_t count);

}  // namespace traceinject
