// SPDX-License-Identifier: Apache-2.0
// Marks garbage collections, as a function of C in gc.callbacks.
#pragma once

#include <cstddef>

#include "injector/python/interpreter.h"

namespace traceinject {

// What CPython calls at the beginning and at the end of a collection: ("start" or "stop", a
// dictionary with the generation).
PyObject* MarkCollection(const Interpreter& python, PyObject* const* arguments,
                         std::ptrdiff_t count);

}  // namespace traceinject
