// SPDX-License-Identifier: Apache-2.0
#include "injector/python/attention_marker.h"

#include <dlfcn.h>

#include <cstdint>
#include <utility>

#include "injector/core/clock.h"
#include "injector/core/loaded_libraries.h"
#include "injector/core/ring.h"
#include "injector/python/method_definition.h"
#include "injector/python/reports.h"

namespace traceinject {
namespace {

constexpr std::int64_t kForward = 1;  // attention.direction

// What PyTorch keeps for a thread, told by functions of its C++ library: what Python is given for
// it takes many times as long. Each null: not found.
constexpr char kTorchLibrary[] = "libtorch_cpu.so";
struct ThreadState {
  // const std::shared_ptr<TracingState>& torch::jit::tracer::getTracingState(): null unless
  // torch.jit traces (torch/csrc/jit/frontend/tracer.h, the same since 1.0).
  void* const* (*tracing)();
  // std::unique_ptr<FuncTorchTLSBase>& at::functorch::functorchTLSAccessor(), a shared_ptr before
  // 2.0: null until the thread uses functorch (ATen/FuncTorchTLS.h).
  void* const* (*functorch)();
  // static int64_t at::impl::PythonTorchFunctionTLS::stack_len(): the number of torch function
  // modes (ATen/PythonTorchFunctionTLS.h, since 2.0).
  std::int64_t (*count_modes)();
};
constinit ThreadState g_thread_state{};

constinit const Interpreter* g_python = nullptr;

// A reference that is given back. Null: an exception is set.
class Owned {
 public:
  explicit Owned(PyObject* object) : object_(object) {}
  Owned(const Owned&) = delete;
  Owned& operator=(const Owned&) = delete;
  ~Owned() {
    if (object_ != nullptr) g_python->Py_DecRef(object_);
  }
  PyObject* get() const { return object_; }
  explicit operator bool() const { return object_ != nullptr; }

 private:
  PyObject* object_;
};

// What the marker is made with: the items of the tuple, in this order.
enum Tool : std::ptrdiff_t {
  kTensorType,    // torch.Tensor
  kCountModes,    // () -> number of torch function modes, which would see our questions
  kTracingState,  // () -> None unless torch.jit traces, which would note them
  kKnown,         // {(query, key, value shape, dtype, is_causal): number}
  kTools
};

// Names of attributes and keys, made once: CPython finds by their identity.
struct Names {
  PyObject *is_cuda, *is_nested, *data_ptr, *shape, *dtype, *requires_grad, *is_causal;
};
constinit Names g_names{};

bool MakeNames() {
  const std::pair<PyObject**, const char*> names[] = {
      {&g_names.is_cuda, "is_cuda"},    {&g_names.is_nested, "is_nested"},
      {&g_names.data_ptr, "data_ptr"},  {&g_names.shape, "shape"},
      {&g_names.dtype, "dtype"},        {&g_names.requires_grad, "requires_grad"},
      {&g_names.is_causal, "is_causal"}};
  for (const auto& [object, text] : names) {
    if (*object == nullptr) *object = g_python->PyUnicode_InternFromString(text);
    if (*object == nullptr) return false;
  }
  return true;
}

template <typename Function>
void Find(void* library, const char* name, Function** function) {
  *function = reinterpret_cast<Function*>(dlsym(library, name));
}

void FindThreadState() {
  void* library = OpenLoaded(kTorchLibrary);
  if (library == nullptr) return;
  Find(library, "_ZN5torch3jit6tracer15getTracingStateEv", &g_thread_state.tracing);
  Find(library, "_ZN2at9functorch20functorchTLSAccessorEv", &g_thread_state.functorch);
  Find(library, "_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv", &g_thread_state.count_modes);
  dlclose(library);  // it stays loaded: the program holds it
}

class Call {
 public:
  // `arguments`: as mark() has them.
  Call(PyObject* tools, PyObject* const* arguments)
      : tools_(tools), result_(arguments[1]), args_(arguments[2]), kwargs_(arguments[3]) {}

  // False: it is not of this kind, or an exception is set.
  bool Mark(std::int64_t start_ns, std::int64_t end_ns) {
    if (!IsPlain()) return false;
    const Owned key(Key());
    if (!key) return false;
    PyObject* number = g_python->PyDict_GetItemWithError(Get(kKnown), key.get());
    const int gradient = number == nullptr ? -1 : Attribute(g_names.requires_grad);
    if (gradient < 0) return false;
    ReportAttention(start_ns, end_ns, g_python->PyLong_AsLong(number), kForward, gradient);
    return true;
  }

 private:
  PyObject* Get(Tool tool) const { return g_python->PyTuple_GetItem(tools_, tool); }

  // Whether all of them are tensors with nothing to them but their sizes, and may be asked.
  bool IsPlain() const {
    if (g_python->PyTuple_Size(args_) < 3 || !IsTensor(result_)) return false;
    for (std::ptrdiff_t i = 0; i < 3; ++i) {
      if (!IsTensor(g_python->PyTuple_GetItem(args_, i))) return false;
    }
    return !IsSeenByModes() && !IsTraced() && Attribute(g_names.is_cuda) == 1 &&
           Attribute(g_names.is_nested) == 0 && HasMemory();
  }

  bool IsSeenByModes() const {
    if (g_thread_state.count_modes != nullptr) return g_thread_state.count_modes() != 0;
    const Owned modes(g_python->PyObject_CallObject(Get(kCountModes), nullptr));
    return !modes || g_python->PyLong_AsLong(modes.get()) != 0;
  }

  bool IsTensor(PyObject* object) const {
    const Owned type(g_python->PyObject_Type(object));
    return type.get() == Get(kTensorType);
  }

  bool IsTraced() const {
    if (g_thread_state.tracing != nullptr) return *g_thread_state.tracing() != nullptr;
    const Owned state(g_python->PyObject_CallObject(Get(kTracingState), nullptr));
    return state.get() != g_python->_Py_NoneStruct;
  }

  // False: sizes are not all there is to it (functorch holds it), and it has no address.
  bool HasMemory() const {
    if (g_thread_state.functorch != nullptr && *g_thread_state.functorch() == nullptr) return true;
    const Owned address(g_python->PyObject_CallMethodObjArgs(result_, g_names.data_ptr, nullptr));
    if (!address) g_python->PyErr_Clear();
    return static_cast<bool>(address);
  }

  // Of the result: 1, 0, or -1 with an exception.
  int Attribute(PyObject* name) const {
    const Owned value(g_python->PyObject_GetAttr(result_, name));
    return value ? g_python->PyObject_IsTrue(value.get()) : -1;
  }

  // The key of `known`, or null.
  PyObject* Key() const {
    const Owned query(Shape(0)), key(Shape(1)), value(Shape(2));
    const Owned type(g_python->PyObject_GetAttr(result_, g_names.dtype));
    PyObject* const causal = Causal();
    if (!query || !key || !value || !type || causal == nullptr) return nullptr;
    return g_python->PyTuple_Pack(5, query.get(), key.get(), value.get(), type.get(), causal);
  }
  PyObject* Shape(std::ptrdiff_t argument) const {
    return g_python->PyObject_GetAttr(g_python->PyTuple_GetItem(args_, argument), g_names.shape);
  }
  // True or False; null: something else was given. Borrowed.
  PyObject* Causal() const {
    PyObject* const given = g_python->PyTuple_Size(args_) > 5
                                ? g_python->PyTuple_GetItem(args_, 5)
                                : g_python->PyDict_GetItemWithError(kwargs_, g_names.is_causal);
    if (given == nullptr)
      return g_python->PyErr_Occurred() == nullptr ? g_python->_Py_FalseStruct : nullptr;
    return given == g_python->_Py_TrueStruct || given == g_python->_Py_FalseStruct ? given
                                                                                   : nullptr;
  }

  PyObject* const tools_;
  PyObject* const result_;
  PyObject* const args_;
  PyObject* const kwargs_;
};

// mark(): `self` is the tuple of tools.
PyObject* Mark(PyObject* self, PyObject* const* arguments, std::ptrdiff_t count) {
  if (count != 4) {
    g_python->PyErr_BadArgument();
    return nullptr;
  }
  const std::int64_t end_ns = NowNs();
  g_rings.Prefetch();
  const std::int64_t start_ns = g_python->PyLong_AsLongLong(arguments[0]);
  const bool marked = Call(self, arguments).Mark(start_ns, end_ns);
  if (g_python->PyErr_Occurred() != nullptr) return nullptr;
  PyObject* const result = marked ? g_python->_Py_TrueStruct : g_python->_Py_FalseStruct;
  g_python->Py_IncRef(result);
  return result;
}

constinit MethodDefinition g_mark = {"mark", Mark, kFastCall, nullptr};

}  // namespace

PyObject* MakeAttentionMarker(const Interpreter& python, PyObject* const* arguments,
                              std::ptrdiff_t count) {
  g_python = &python;
  if (count != 1 || python.PyTuple_Size(arguments[0]) != kTools) {
    python.PyErr_BadArgument();
    return nullptr;
  }
  if (!MakeNames()) return nullptr;
  FindThreadState();
  return python.PyCFunction_NewEx(&g_mark, arguments[0], nullptr);
}

}  // namespace traceinject
