// SPDX-License-Identifier: Apache-2.0
// What attention marks need to know of PyTorch's tensors. PyTorch from 2.10 on is asked by the
// table of functions that it has for other array libraries (DLPack's C exchange API), the ones
// before by the attributes that Python sees, at several times the cost.
#pragma once

#include <array>
#include <cstdint>

#include "injector/python/interpreter.h"

namespace traceinject {

struct TensorSizes {
  static constexpr int kMax = 5;  // dimensions
  std::int64_t dimensions = 0;
  std::array<std::int64_t, kMax> of{};  // 0 beyond `dimensions`
  bool operator==(const TensorSizes&) const = default;
};

struct DlpackTensor;

// The table also tells where a tensor's data is: one that is copied when it is written to
// (torch._lazy_clone, which no public function of PyTorch's makes) is copied by that.
//
// With the GIL. No function leaves an exception.
class TensorReader {
 public:
  // Of tensors of class `type`, torch.Tensor. False: there is no memory.
  bool Open(const Interpreter& python, PyObject* type);

  // False: it has more dimensions than we keep, or they cannot be told.
  bool ReadSizes(PyObject* tensor, TensorSizes* sizes) const;

  // False: `tensor` is not in a GPU's memory, or its sizes are not all there is to it (a nested
  // one, or one that functorch holds). *type: of its elements, one number for each type.
  bool ReadType(PyObject* tensor, std::uint64_t* type) const;

 private:
  // Those who ask keep the tensor alive meanwhile.
  bool ReadByTable(PyObject* tensor, DlpackTensor* view) const;
  bool ReadSizesByAttribute(PyObject* tensor, TensorSizes* sizes) const;
  bool ReadTypeByAttributes(PyObject* tensor, std::uint64_t* type) const;
  bool HasMemory(PyObject* tensor) const;
  bool Is(PyObject* tensor, PyObject* attribute, bool otherwise) const;

  const Interpreter* python_ = nullptr;
  int (*read_)(void* tensor, DlpackTensor* view) = nullptr;  // null: by attributes
  // Names of attributes, made once: CPython finds by their identity.
  struct {
    PyObject *is_cuda, *is_nested, *data_ptr, *shape, *dtype;
  } names_{};
  // std::unique_ptr<FuncTorchTLSBase>& at::functorch::functorchTLSAccessor(), a shared_ptr before
  // 2.0: null until the thread uses functorch (ATen/FuncTorchTLS.h). Null: not found.
  void* const* (*functorch_)() = nullptr;
};

}  // namespace traceinject
