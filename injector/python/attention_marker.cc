// SPDX-License-Identifier: Apache-2.0
#include "injector/python/attention_marker.h"

#include <cstdint>

#include "injector/base/clock.h"
#include "injector/base/ring.h"
#include "injector/python/call_slot.h"
#include "injector/python/known_shapes.h"
#include "injector/python/method_definition.h"
#include "injector/python/owned.h"
#include "injector/python/reports.h"
#include "injector/python/tensor_reader.h"
#include "injector/python/torch_library.h"
#include "injector/python/unseen.h"

namespace traceinject {
namespace {

constexpr std::int64_t kForward = 1;  // attention.direction

// What PyTorch keeps for a thread, told by functions of its C++ library: what Python is given for
// it takes many times as long. Each null: not found.
struct ThreadState {
  // const std::shared_ptr<TracingState>& torch::jit::tracer::getTracingState(): null unless
  // torch.jit traces (torch/csrc/jit/frontend/tracer.h, the same since 1.0).
  void* const* (*tracing)();
  // static int64_t at::impl::PythonTorchFunctionTLS::stack_len(): the number of torch function
  // modes (ATen/PythonTorchFunctionTLS.h, since 2.0).
  std::int64_t (*count_modes)();
};
constinit ThreadState g_thread_state{};

constinit const Interpreter* g_python_of_attention = nullptr;
constinit TensorReader g_tensors;
constinit KnownShapes g_known_shapes;  // the GIL keeps threads apart
// Names of attributes and keys, made once: CPython finds by their identity.
constinit PyObject *g_requires_grad = nullptr, *g_is_causal = nullptr;

// The items of the tuple, in this order.
enum Tool : std::ptrdiff_t {
  kTensorType,    // torch.Tensor
  kCountModes,    // () -> number of torch function modes, which would see our questions
  kTracingState,  // () -> None unless torch.jit traces, which would note them
  kReport,  // (start_ns, end_ns, args, kwargs, result) -> number of the shape, or what is no number
  kIsPlainPython,  // whether there is a GIL, and kCountModes is not None: else all is left to
                   // kReport
  kTools
};

constinit OriginalCall g_original{nullptr};
constinit PyObject* g_tools = nullptr;  // null: no call is marked yet
constinit bool g_is_plain_python = false;

// How many calls this thread has marked: of one inside another, as a subclass of tensors or a torch
// function mode makes it, the inner one is what runs.
constinit thread_local unsigned t_marked = 0;

bool MakeName(const char* text, PyObject** name) {
  if (*name == nullptr) *name = g_python_of_attention->PyUnicode_InternFromString(text);
  return *name != nullptr;
}

// A call that returned.
class Call {
 public:
  Call(PyObject* args, PyObject* kwargs, PyObject* result)
      : args_(args), kwargs_(kwargs), result_(result) {}

  void Mark(std::int64_t start_ns, std::int64_t end_ns) {
    const bool plain = IsPlain();
    const std::int64_t number = plain ? g_known_shapes.Find(shape_) : 0;
    if (number == 0) return Report(start_ns, end_ns, plain);
    const int gradient = NeedsGradient();
    if (gradient < 0) return;
    ReportAttention(start_ns, end_ns, number, kForward, gradient);
    ++t_marked;
  }

 private:
  static PyObject* Get(Tool tool) { return g_python_of_attention->PyTuple_GetItem(g_tools, tool); }
  PyObject* Argument(std::ptrdiff_t index) const {
    return g_python_of_attention->PyTuple_GetItem(args_, index);
  }

  // Whether all of them are tensors with nothing to them but their sizes, and may be asked; these
  // are in shape_ then.
  bool IsPlain() {
    if (!g_is_plain_python || g_python_of_attention->PyTuple_Size(args_) < 3 || !IsTensor(result_))
      return false;
    for (std::ptrdiff_t i = 0; i < 3; ++i) {
      if (!IsTensor(Argument(i))) return false;
    }
    return !IsSeenByModes() && !IsTraced() && ReadCausal() &&
           g_tensors.ReadType(result_, &shape_.type) &&
           g_tensors.ReadSizes(Argument(0), &shape_.query) &&
           g_tensors.ReadSizes(Argument(1), &shape_.key) &&
           g_tensors.ReadSizes(Argument(2), &shape_.value);
  }

  bool IsTensor(PyObject* object) const {
    const Owned type(*g_python_of_attention, g_python_of_attention->PyObject_Type(object));
    return type.get() == Get(kTensorType);
  }

  bool IsSeenByModes() const {
    if (g_thread_state.count_modes != nullptr) return g_thread_state.count_modes() != 0;
    const Owned modes(*g_python_of_attention,
                      g_python_of_attention->PyObject_CallObject(Get(kCountModes), nullptr));
    return !modes || g_python_of_attention->PyLong_AsLong(modes.get()) != 0;
  }

  bool IsTraced() const {
    if (g_thread_state.tracing != nullptr) return *g_thread_state.tracing() != nullptr;
    const Owned state(*g_python_of_attention,
                      g_python_of_attention->PyObject_CallObject(Get(kTracingState), nullptr));
    return state.get() != g_python_of_attention->_Py_NoneStruct;
  }

  // False: neither True nor False was given.
  bool ReadCausal() {
    PyObject* given = nullptr;  // borrowed
    if (g_python_of_attention->PyTuple_Size(args_) > 5) {
      given = Argument(5);
    } else if (kwargs_ != nullptr) {
      given = g_python_of_attention->PyDict_GetItemWithError(kwargs_, g_is_causal);
    }
    shape_.causal = given == g_python_of_attention->_Py_TrueStruct;
    return given == nullptr || shape_.causal || given == g_python_of_attention->_Py_FalseStruct;
  }

  // Of the result: 1, 0, or -1 with an exception.
  int NeedsGradient() const {
    const Owned value(*g_python_of_attention,
                      g_python_of_attention->PyObject_GetAttr(result_, g_requires_grad));
    return value ? g_python_of_attention->PyObject_IsTrue(value.get()) : -1;
  }

  // Leaves it to Python, whose number is known for the next call.
  void Report(std::int64_t start_ns, std::int64_t end_ns, bool plain) {
    if (g_python_of_attention->PyErr_Occurred() != nullptr || !MayRun(*g_python_of_attention))
      return;
    const Unseen unseen(*g_python_of_attention);
    const Owned start(*g_python_of_attention, g_python_of_attention->PyLong_FromLong(start_ns));
    const Owned end(*g_python_of_attention, g_python_of_attention->PyLong_FromLong(end_ns));
    const Owned none(*g_python_of_attention,
                     kwargs_ == nullptr ? g_python_of_attention->PyDict_New() : nullptr);
    PyObject* const kwargs = kwargs_ == nullptr ? none.get() : kwargs_;
    if (!start || !end || kwargs == nullptr) return;
    const Owned number(*g_python_of_attention,
                       g_python_of_attention->PyObject_CallFunctionObjArgs(
                           Get(kReport), start.get(), end.get(), args_, kwargs, result_, nullptr));
    if (!number || number.get() == g_python_of_attention->_Py_NoneStruct) return;
    const long told = g_python_of_attention->PyLong_AsLong(number.get());
    if (told <= 0) return;
    ++t_marked;
    if (plain) g_known_shapes.Add(shape_, told);
  }

  PyObject* const args_;
  PyObject* const kwargs_;  // null: there are none
  PyObject* const result_;
  AttentionCall shape_;
};

// In place of CPython's own function.
PyObject* CallAndMark(PyObject* function, PyObject* const* arguments, std::size_t count,
                      PyObject* names) {
  const TupleCall call(*g_python_of_attention, arguments, count, names);
  if (!WantsAttention() || !g_python_of_attention->IsHere()) return call.Make(function);
  const unsigned marked = t_marked;
  const std::int64_t start_ns = NowNs();
  PyObject* const result = call.Make(function);
  if (result == nullptr || t_marked != marked) return result;
  const std::int64_t end_ns = NowNs();
  g_rings.Prefetch();
  Call(call.args(), call.kwargs(), result).Mark(start_ns, end_ns);
  if (ClearOurs(*g_python_of_attention)) return result;
  g_python_of_attention->Py_DecRef(result);
  return nullptr;
}

// False: an exception is set, or the function is called in another way than we know.
bool Watch(PyObject* builtin, PyObject* tools) {
  if (g_tools != nullptr) return true;
  if (!MakeName("requires_grad", &g_requires_grad) || !MakeName("is_causal", &g_is_causal) ||
      !g_tensors.Open(*g_python_of_attention,
                      g_python_of_attention->PyTuple_GetItem(tools, kTensorType)))
    return false;
  if (g_python_of_attention->PyCFunction_GetFlags(builtin) != (kVarArgs | kKeywords)) return false;
  FindInTorch("_ZN5torch3jit6tracer15getTracingStateEv", &g_thread_state.tracing);
  FindInTorch("_ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv", &g_thread_state.count_modes);
  g_python_of_attention->Py_IncRef(tools);
  g_tools = tools;
  g_is_plain_python = g_python_of_attention->PyTuple_GetItem(tools, kIsPlainPython) ==
                      g_python_of_attention->_Py_TrueStruct;
  return SwapCall(*g_python_of_attention, builtin, CallAndMark, &g_original);
}

}  // namespace

PyObject* WatchAttention(const Interpreter& python, PyObject* const* arguments,
                         std::ptrdiff_t count) {
  g_python_of_attention = &python;
  if (count != 2 || python.PyTuple_Size(arguments[1]) != kTools) {
    python.PyErr_BadArgument();
    return nullptr;
  }
  const bool watched = Watch(arguments[0], arguments[1]);
  return python.PyErr_Occurred() == nullptr ? python.PyLong_FromLong(watched) : nullptr;
}

}  // namespace traceinject
