// SPDX-License-Identifier: Apache-2.0
// The functions of reports.h as objects that Python calls: built-in functions that take integers.
// No part of ctypes is needed, whose calls cost several microseconds where these cost a tenth of
// one.
#pragma once

#include "injector/python/interpreter.h"

namespace traceinject {

// {name: function} of all of them; a new reference. Null: an exception is set. Needs the GIL.
// `python` has to stay for as long as the interpreter does.
PyObject* MakeReportFunctions(const Interpreter& python);

}  // namespace traceinject
