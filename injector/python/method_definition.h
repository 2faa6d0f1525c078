// SPDX-License-Identifier: Apache-2.0
// How CPython is told of a function written in C: PyMethodDef, METH_FASTCALL (the same since 3.7,
// in the stable ABI since 3.10), METH_VARARGS and METH_KEYWORDS of its methodobject.h; and how it
// calls a function of any kind (vectorcallfunc of its cpython/object.h, since 3.8).
#pragma once

#include <cstddef>

#include "injector/python/interpreter.h"

namespace traceinject {

using FastCall = PyObject* (*)(PyObject* self, PyObject* const* arguments, std::ptrdiff_t count);
// `kwargs` null: there are none.
using KeywordCall = PyObject* (*)(PyObject* self, PyObject* args, PyObject* kwargs);
// `names` of the arguments after the first `count`; null: there are none.
using FastKeywordCall = PyObject* (*)(PyObject* self, PyObject* const* arguments,
                                      std::ptrdiff_t count, PyObject* names);

// CPython keeps a pointer to it.
struct MethodDefinition {
  const char* name;
  union Function {
    constexpr Function(FastCall function) : fast(function) {}
    FastCall fast;  // kFastCall
    void* address;  // of any kind
  } call;
  int flags;
  const char* doc;
};
static_assert(sizeof(MethodDefinition) == 4 * sizeof(void*));
constexpr int kFastCall = 0x0080, kVarArgs = 0x0001, kKeywords = 0x0002;

// The highest bit of `count` is the caller's: whether the callee may write before `arguments`.
using VectorCall = PyObject* (*)(PyObject* callable, PyObject* const* arguments, std::size_t count,
                                 PyObject* names);
constexpr std::size_t CountOfVectorCall(std::size_t count) { return count << 1 >> 1; }

}  // namespace traceinject
