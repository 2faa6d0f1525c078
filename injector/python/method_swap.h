// SPDX-License-Identifier: Apache-2.0
// Observes a function of C that Python calls, without a change that the program could see: the
// object stays the same, under all names and for all who hold it already. Only the pointer to the C
// function in its method definition (PyMethodDef.ml_meth) is another one, under the same flags, so
// that CPython goes on to call it as it did.
#pragma once

#include "injector/python/interpreter.h"

namespace traceinject {

struct MethodDefinition;

// The definition behind a builtin function; null: it is none, or this CPython keeps it elsewhere
// than those that we know (3.8 to 3.14), which the flags and the function that CPython itself tells
// show. With the GIL; leaves no exception.
MethodDefinition* FindDefinition(const Interpreter& python, PyObject* builtin);

// False: its memory cannot be written to. `original` is set before anybody can come by.
bool SwapMethod(MethodDefinition* definition, void* replacement, void** original);

}  // namespace traceinject
