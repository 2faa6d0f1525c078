// SPDX-License-Identifier: Apache-2.0
// A reference to an object of Python that is given back.
#pragma once

#include "injector/python/interpreter.h"

namespace traceinject {

class Owned {
 public:
  // `object` null: an exception is set.
  Owned(const Interpreter& python, PyObject* object) : python_(python), object_(object) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_ != nullptr) python_.Py_DecRef(object_);
  }
  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  const Interpreter& python_;
  PyObject* object_;
};

}  // namespace traceinject
