// SPDX-License-Identifier: Apache-2.0
// Observes functions of Python without a change that the program could see. The object stays what
// it is, with its code, attributes, signature and identity; only the C function by which CPython
// calls it (the vectorcall field, for which it has PyFunction_SetVectorcall since 3.12) is another
// one, which makes the call as before. No frame comes in between: tracebacks, warnings' stack
// levels and sys._getframe() are as without us, and torch.compile sees the function itself.
//
// CPython 3.11 does not ask that field where a function of Python calls another one by f(a, b). It
// does for f(*args, **kwargs), for what C calls (iteration, autograd), and in all other versions.
#pragma once

#include <cstddef>

#include "injector/python/interpreter.h"

namespace traceinject {

// Called from Python with (function, before, after): see observer.h; None is null. Returns whether
// the function is observed from now on, or was already.
PyObject* WatchFunction(const Interpreter& python, PyObject* const* arguments,
                        std::ptrdiff_t count);

}  // namespace traceinject
