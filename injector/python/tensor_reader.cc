// SPDX-License-Identifier: Apache-2.0
#include "injector/python/tensor_reader.h"

#include <cstddef>
#include <utility>

#include "injector/python/dlpack_abi.h"
#include "injector/python/owned.h"
#include "injector/python/torch_library.h"

namespace traceinject {
namespace {

// Null: the class has none that we can read. The one it gives lives on.
const DlpackTable* FindTable(const Interpreter& python, PyObject* type) {
  const Owned capsule(python, python.PyObject_GetAttrString(type, kDlpackAttribute));
  const auto* table = static_cast<const DlpackTable*>(
      capsule ? python.PyCapsule_GetPointer(capsule.get(), kDlpackCapsule) : nullptr);
  python.PyErr_Clear();
  while (table != nullptr && table->major != kDlpackMajor) table = table->previous;
  return table;
}

}  // namespace

bool TensorReader::Open(const Interpreter& python, PyObject* type) {
  python_ = &python;
  const DlpackTable* table = FindTable(python, type);
  read_ = table == nullptr ? nullptr : table->view;
  FindInTorch("_ZN2at9functorch20functorchTLSAccessorEv", &functorch_);
  const std::pair<PyObject**, const char*> names[] = {{&names_.is_cuda, "is_cuda"},
                                                      {&names_.is_nested, "is_nested"},
                                                      {&names_.data_ptr, "data_ptr"},
                                                      {&names_.shape, "shape"},
                                                      {&names_.dtype, "dtype"}};
  for (const auto& [object, text] : names) {
    if (*object == nullptr) *object = python.PyUnicode_InternFromString(text);
    if (*object == nullptr) return false;
  }
  return true;
}

bool TensorReader::ReadSizes(PyObject* tensor, TensorSizes* sizes) const {
  if (read_ == nullptr) return ReadSizesByAttribute(tensor, sizes);
  DlpackTensor view;
  if (!ReadByTable(tensor, &view) || view.dimensions > TensorSizes::kMax) return false;
  sizes->dimensions = view.dimensions;
  for (int i = 0; i < view.dimensions; ++i) sizes->of[static_cast<std::size_t>(i)] = view.sizes[i];
  return true;
}

bool TensorReader::ReadType(PyObject* tensor, std::uint64_t* type) const {
  if (read_ == nullptr) return ReadTypeByAttributes(tensor, type);
  DlpackTensor view;
  if (!ReadByTable(tensor, &view)) return false;
  *type = std::uint64_t{view.type_code} | std::uint64_t{view.type_bits} << 8 |
          std::uint64_t{view.type_lanes} << 16;
  return view.device_type == kDlpackCuda;
}

// PyTorch refuses what has no memory of its own, or no sizes.
bool TensorReader::ReadByTable(PyObject* tensor, DlpackTensor* view) const {
  if (read_(tensor, view) == 0) return true;
  python_->PyErr_Clear();
  return false;
}

bool TensorReader::ReadSizesByAttribute(PyObject* tensor, TensorSizes* sizes) const {
  const Owned shape(*python_, python_->PyObject_GetAttr(tensor, names_.shape));
  const std::ptrdiff_t count = shape ? python_->PyTuple_Size(shape.get()) : -1;
  sizes->dimensions = count;
  for (std::ptrdiff_t i = 0; i < count && count <= TensorSizes::kMax; ++i) {
    sizes->of[static_cast<std::size_t>(i)] =
        python_->PyLong_AsLongLong(python_->PyTuple_GetItem(shape.get(), i));
  }
  const bool failed = python_->PyErr_Occurred() != nullptr;
  if (failed) python_->PyErr_Clear();
  return !failed && count <= TensorSizes::kMax;
}

bool TensorReader::ReadTypeByAttributes(PyObject* tensor, std::uint64_t* type) const {
  if (!Is(tensor, names_.is_cuda, false) || Is(tensor, names_.is_nested, true) ||
      !HasMemory(tensor))
    return false;
  const Owned found(*python_, python_->PyObject_GetAttr(tensor, names_.dtype));
  *type = reinterpret_cast<std::uintptr_t>(found.get());  // PyTorch has one object a type
  if (!found) python_->PyErr_Clear();
  return static_cast<bool>(found);
}

bool TensorReader::HasMemory(PyObject* tensor) const {
  if (functorch_ != nullptr && *functorch_() == nullptr) return true;
  const Owned address(*python_,
                      python_->PyObject_CallMethodObjArgs(tensor, names_.data_ptr, nullptr));
  if (!address) python_->PyErr_Clear();
  return static_cast<bool>(address);
}

bool TensorReader::Is(PyObject* tensor, PyObject* attribute, bool otherwise) const {
  const Owned value(*python_, python_->PyObject_GetAttr(tensor, attribute));
  const int is = value ? python_->PyObject_IsTrue(value.get()) : -1;
  if (is < 0) python_->PyErr_Clear();
  return is < 0 ? otherwise : is != 0;
}

}  // namespace traceinject
