// SPDX-License-Identifier: Apache-2.0
// Functions of C, as Python sees them, around functions of Python: what is C++ in PyTorch is such a
// one in its stand-in, too (builtins.py of this folder).
#include <dlfcn.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

namespace {

struct PyObject;

struct Definition {  // PyMethodDef
  const char* name;
  void* call;
  int flags;
  const char* doc;
};
constexpr int kVarArgs = 0x1, kKeywords = 0x2, kFastCall = 0x80;

template <typename Function>
Function* Find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

constexpr std::size_t kMax = 32;
PyObject* functions[kMax];
std::size_t count = 0;
int had_dictionary = 0;

template <std::size_t place>
PyObject* ByTuple(PyObject*, PyObject* args, PyObject* kwargs) {
  static auto* call = Find<PyObject*(PyObject*, PyObject*, PyObject*)>("PyObject_Call");
  had_dictionary = kwargs != nullptr ? 1 : 0;
  return call(functions[place], args, kwargs);
}

template <std::size_t place>
PyObject* ByArray(PyObject*, PyObject* const* args, std::ptrdiff_t given, PyObject* names) {
  static auto* call =
      Find<PyObject*(PyObject*, PyObject* const*, std::size_t, PyObject*)>("PyObject_Vectorcall");
  return call(functions[place], args, static_cast<std::size_t>(given), names);
}

struct Calls {
  void *by_tuple, *by_array;
};
template <std::size_t... places>
auto MakeCalls(std::index_sequence<places...>) {
  return std::array{Calls{reinterpret_cast<void*>(&ByTuple<places>),
                          reinterpret_cast<void*>(&ByArray<places>)}...};
}

}  // namespace

// Whether the last call of one that takes a tuple came with a dictionary.
extern "C" __attribute__((visibility("default"))) int stand_in_had_dictionary() {
  return had_dictionary;
}

// A new builtin; null: an exception is set, or there are too many. `self`, `module` null: none.
extern "C" __attribute__((visibility("default"))) PyObject* stand_in_builtin(
    const char* name, const char* doc, PyObject* function, PyObject* self, PyObject* module,
    int fast) {
  static const auto calls = MakeCalls(std::make_index_sequence<kMax>());
  if (count == kMax) return nullptr;
  Find<void(PyObject*)>("Py_IncRef")(function);
  functions[count] = function;
  auto* definition =
      new Definition{strdup(name), fast != 0 ? calls[count].by_array : calls[count].by_tuple,
                     kKeywords | (fast != 0 ? kFastCall : kVarArgs), strdup(doc)};
  ++count;
  return Find<PyObject*(Definition*, PyObject*, PyObject*)>("PyCFunction_NewEx")(definition, self,
                                                                                 module);
}
