// SPDX-License-Identifier: Apache-2.0
// Observes functions of C that Python calls with any arguments, as those that pybind11 makes are
// (method_swap.h says how).
#pragma once

#include <cstddef>

#include "injector/python/interpreter.h"

namespace traceinject {

// Called from Python with (builtin, before, after): see observer.h; None is null. Returns whether
// the function is observed from now on, or was already.
PyObject* WatchBuiltin(const Interpreter& python, PyObject* const* arguments, std::ptrdiff_t count);

}  // namespace traceinject
