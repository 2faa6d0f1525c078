// SPDX-License-Identifier: Apache-2.0
// How CPython is told of a function written in C: PyMethodDef and METH_FASTCALL of its
// methodobject.h, the same since 3.7, in the stable ABI since 3.10.
#pragma once

#include <cstddef>

#include "injector/python/interpreter.h"

namespace traceinject {

using FastCall = PyObject* (*)(PyObject* self, PyObject* const* arguments, std::ptrdiff_t count);

// CPython keeps a pointer to it.
struct MethodDefinition {
  const char* name;
  FastCall call;
  int flags;
  const char* doc;
};
constexpr int kFastCall = 0x0080;

}  // namespace traceinject
