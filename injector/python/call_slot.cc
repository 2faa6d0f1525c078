// SPDX-License-Identifier: Apache-2.0
#include "injector/python/call_slot.h"

#include <utility>

namespace traceinject {
namespace {

constexpr long kWordBytes = sizeof(void*);

std::atomic<void*>* WordsOf(PyObject* object) {
  return reinterpret_cast<std::atomic<void*>*>(object);
}

long SizeOf(const Interpreter& python, PyObject* type) {
  const Owned size(python, python.PyObject_GetAttrString(type, "__basicsize__"));
  return size ? python.PyLong_AsLong(size.get()) : -1;
}

// Where a function of Python has the pointer `value`; null: nowhere, or in several places.
std::atomic<void*>* FindWord(const Interpreter& python, PyObject* function, const void* value) {
  const long words = SizeOf(python, python.PyFunction_Type) / kWordBytes;
  std::atomic<void*>* found = nullptr;
  for (long i = 0; i < words; ++i) {
    std::atomic<void*>* const word = &WordsOf(function)[i];
    if (word->load(std::memory_order_relaxed) != value) continue;
    if (found != nullptr) return nullptr;
    found = word;
  }
  return found;
}

// PyCFunctionObject of cpython/methodobject.h, after the header that all objects have: ml, self,
// module, weakreflist, vectorcall. Null: it is another one here, which its size tells, and what
// CPython says of its definition.
std::atomic<void*>* SlotOfBuiltin(const Interpreter& python, PyObject* builtin) {
  constexpr long kFields = 5, kDefinition = 0, kVectorCall = 4;
  const long header = SizeOf(python, python.PyBaseObject_Type);
  if (header <= 0 || SizeOf(python, python.PyCFunction_Type) != header + kFields * kWordBytes)
    return nullptr;
  std::atomic<void*>* const fields = WordsOf(builtin) + header / kWordBytes;
  const auto* definition = static_cast<const MethodDefinition*>(fields[kDefinition].load());
  const int flags = python.PyCFunction_GetFlags(builtin);
  const bool is_known = definition != nullptr && definition->flags == flags &&
                        definition->call.address == python.PyCFunction_GetFunction(builtin) &&
                        (flags == (kVarArgs | kKeywords) || flags == (kFastCall | kKeywords));
  return is_known ? &fields[kVectorCall] : nullptr;
}

// Of a function of Python. Null: it cannot be told.
void* ReadCall(const Interpreter& python, PyObject* function, void* replacement) {
  if (python.PyVectorcall_Function != nullptr) return python.PyVectorcall_Function(function);
  for (void* known : {replacement, python._PyFunction_Vectorcall}) {
    if (known != nullptr && FindWord(python, function, known) != nullptr) return known;
  }
  return nullptr;
}

bool SwapCallOfFunction(const Interpreter& python, PyObject* function, void* replacement,
                        OriginalCall* original) {
  void* const call = ReadCall(python, function, replacement);
  if (call == nullptr) return false;
  original->store(reinterpret_cast<VectorCall>(call), std::memory_order_relaxed);
  if (python.PyFunction_SetVectorcall != nullptr) {
    python.PyFunction_SetVectorcall(function, replacement);
    return true;
  }
  std::atomic<void*>* const word = FindWord(python, function, call);
  if (word != nullptr) word->store(replacement, std::memory_order_release);
  return word != nullptr;
}

bool SwapCallOfBuiltin(const Interpreter& python, PyObject* builtin, void* replacement,
                       OriginalCall* original) {
  std::atomic<void*>* const slot = SlotOfBuiltin(python, builtin);
  if (slot == nullptr) return false;
  original->store(reinterpret_cast<VectorCall>(slot->load(std::memory_order_acquire)),
                  std::memory_order_relaxed);
  slot->store(replacement, std::memory_order_release);
  return true;
}

bool IsOf(const Interpreter& python, PyObject* object, PyObject* type) {
  return Owned(python, python.PyObject_Type(object)).get() == type;
}

}  // namespace

bool IsSwapped(const Interpreter& python, PyObject* callable, VectorCall replacement) {
  void* const ours = reinterpret_cast<void*>(replacement);
  bool is = false;
  if (IsOf(python, callable, python.PyFunction_Type)) is = ReadCall(python, callable, ours) == ours;
  if (IsOf(python, callable, python.PyCFunction_Type)) {
    const std::atomic<void*>* const slot = SlotOfBuiltin(python, callable);
    is = slot != nullptr && slot->load(std::memory_order_acquire) == ours;
  }
  python.PyErr_Clear();
  return is;
}

bool SwapCall(const Interpreter& python, PyObject* callable, VectorCall replacement,
              OriginalCall* original) {
  void* const ours = reinterpret_cast<void*>(replacement);
  bool swapped = false;
  if (IsOf(python, callable, python.PyFunction_Type))
    swapped = SwapCallOfFunction(python, callable, ours, original);
  if (IsOf(python, callable, python.PyCFunction_Type))
    swapped = SwapCallOfBuiltin(python, callable, ours, original);
  python.PyErr_Clear();
  return swapped;
}

TupleCall::TupleCall(const Interpreter& python, PyObject* const* arguments, std::size_t count,
                     PyObject* names)
    : python_(python),
      args_(python, TupleOf(python, arguments, CountOfVectorCall(count))),
      kwargs_(python, MakeDictionary(python, arguments + CountOfVectorCall(count), names,
                                     CountOfVectorCall(count) == count)),
      is_whole_(args_ && (names == nullptr || kwargs_)) {}

PyObject* TupleCall::MakeDictionary(const Interpreter& python, PyObject* const* values,
                                    PyObject* names, bool even_empty) {
  if (names == nullptr) return even_empty ? python.PyDict_New() : nullptr;
  PyObject* made = python.PyDict_New();
  const std::ptrdiff_t count = python.PyTuple_Size(names);
  for (std::ptrdiff_t i = 0; i < count && made != nullptr; ++i) {
    if (python.PyDict_SetItem(made, python.PyTuple_GetItem(names, i), values[i]) != 0)
      python.Py_DecRef(std::exchange(made, nullptr));
  }
  return made;
}

PyObject* TupleCall::Make(PyObject* builtin) const {
  if (!is_whole_) return nullptr;
  // A call counts for the limit of recursion, as where CPython makes it.
  const bool counts = python_.Py_EnterRecursiveCall != nullptr;
  if (counts && python_.Py_EnterRecursiveCall(" while calling a Python object") != 0)
    return nullptr;
  const auto function = reinterpret_cast<KeywordCall>(python_.PyCFunction_GetFunction(builtin));
  PyObject* const result = function(python_.PyCFunction_GetSelf(builtin), args(), kwargs());
  if (counts) python_.Py_LeaveRecursiveCall();
  return result;
}

PyObject* CallAsBefore(const Interpreter& python, const OriginalCall& original, PyObject* callable,
                       PyObject* const* arguments, std::size_t count, PyObject* names) {
  const VectorCall call = original.load(std::memory_order_relaxed);
  if (call != nullptr) return call(callable, arguments, count, names);
  return TupleCall(python, arguments, count, names).Make(callable);
}

PyObject* TupleOf(const Interpreter& python, PyObject* const* items, std::size_t count) {
  PyObject* tuple = python.PyTuple_New(static_cast<std::ptrdiff_t>(count));
  for (std::size_t i = 0; i < count && tuple != nullptr; ++i) {
    python.Py_IncRef(items[i]);
    python.PyTuple_SetItem(tuple, static_cast<std::ptrdiff_t>(i), items[i]);
  }
  return tuple;
}

}  // namespace traceinject
