// SPDX-License-Identifier: Apache-2.0
// The pointer to the C function by which CPython calls an object (vectorcall, since 3.8): functions
// of Python and builtins have one each. With one of ours there, calls are seen and nothing else is
// changed: the object stays what it is under all names and for all who hold it, with its identity,
// hash, attributes, signature and code. (The method definition of a builtin is left alone: CPython
// makes the hash of it, and tables keyed by the function would no longer find it.)
//
// No frame comes in between: tracebacks, warnings' stack levels and sys._getframe() are as without
// us, and torch.compile sees the function itself.
//
// Not all calls come by here. CPython 3.11 does not ask where a function of Python calls another
// one by f(a, b); it does for f(*args, **kwargs) and for what C calls (iteration, autograd), as all
// other versions do for all calls. And since 3.11 a place that calls a builtin which takes its
// arguments as an array may get to know it, and call it directly; PyTorch's and pybind11's take a
// tuple.
#pragma once

#include <atomic>
#include <cstddef>

#include "injector/python/interpreter.h"
#include "injector/python/method_definition.h"
#include "injector/python/owned.h"

namespace traceinject {

// The function that was there; null: there was none, and CPython calls the object with a tuple.
using OriginalCall = std::atomic<VectorCall>;

// Whether calls of `callable` are calls of `replacement`. With the GIL; leaves no exception.
bool IsSwapped(const Interpreter& python, PyObject* callable, VectorCall replacement);

// From now on calls of `callable` are calls of `replacement`, which is not there yet. `original` is
// set before. False: it is neither a function of Python nor a builtin with arguments of any kind,
// or this CPython is not one that we know. With the GIL; leaves no exception.
bool SwapCall(const Interpreter& python, PyObject* callable, VectorCall replacement,
              OriginalCall* original);

// The arguments of a call as a tuple and a dictionary, as CPython makes them for those functions.
//
// Of f(*args, **{}) they get an empty dictionary and of f(*args) none, and PyTorch hands it on so:
// __torch_function__(cls, function, types, args, kwargs) fails without. By here both come alike,
// without the bit that calls of other forms have: they get an empty one.
class TupleCall {
 public:
  // `count` with the caller's bit.
  TupleCall(const Interpreter& python, PyObject* const* arguments, std::size_t count,
            PyObject* names);

  PyObject* args() const { return args_.get(); }
  PyObject* kwargs() const { return kwargs_.get(); }  // null: there are none
  // Calls the C function behind a builtin. Null: an exception is set.
  PyObject* Make(PyObject* builtin) const;

 private:
  // Null: there is no memory, or none is needed.
  static PyObject* MakeDictionary(const Interpreter& python, PyObject* const* values,
                                  PyObject* names, bool even_empty);

  const Interpreter& python_;
  const Owned args_, kwargs_;
  const bool is_whole_;  // there was memory for it
};

// As before SwapCall().
PyObject* CallAsBefore(const Interpreter& python, const OriginalCall& original, PyObject* callable,
                       PyObject* const* arguments, std::size_t count, PyObject* names);

// A new tuple; null: an exception is set.
PyObject* TupleOf(const Interpreter& python, PyObject* const* items, std::size_t count);

}  // namespace traceinject
