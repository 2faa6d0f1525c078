// SPDX-License-Identifier: Apache-2.0
// How CPython is told of a function written in C: PyMethodDef, METH_FASTCALL (the same since 3.7,
// in the stable ABI since 3.10), METH_VARARGS and METH_KEYWORDS of its methodobject.h.
#pragma once

#include <cstddef>

#include "injector/python/interpreter.h"

namespace traceinject {

using FastCall = PyObject* (*)(PyObject* self, PyObject* const* arguments, std::ptrdiff_t count);
// `kwargs` null: there are none.
using KeywordCall = PyObject* (*)(PyObject* self, PyObject* args, PyObject* kwargs);

// CPython keeps a pointer to it.
struct MethodDefinition {
  const char* name;
  union Function {
    constexpr Function(FastCall function) : fast(function) {}
    constexpr Function(KeywordCall function) : with_keywords(function) {}
    FastCall fast;              // kFastCall
    KeywordCall with_keywords;  // kVarArgs | kKeywords
  } call;
  int flags;
  const char* doc;
};
constexpr int kFastCall = 0x0080, kVarArgs = 0x0001, kKeywords = 0x0002;

}  // namespace traceinject
