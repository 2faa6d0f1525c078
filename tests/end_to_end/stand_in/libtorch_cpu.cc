// SPDX-License-Identifier: Apache-2.0
// libtorch_cpu.so as far as it is asked: what PyTorch's C++ keeps for a thread, which the scripts
// of this folder set, and its table of functions for other array libraries (torch/_dlpack.py).
#include <dlfcn.h>

#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
thread_local void* tracing = nullptr;
thread_local void* functorch = nullptr;
thread_local std::int64_t modes = 0;

using View = int(void* object, void* view);
View* fill = nullptr;

// As PyTorch does: what it cannot tell is an exception.
int FillOrRaise(void* object, void* view) {
  if (fill(object, view) == 0) return 0;
  const auto raise =
      reinterpret_cast<void (*)(void*, const char*)>(dlsym(RTLD_DEFAULT, "PyErr_SetString"));
  raise(*static_cast<void**>(dlsym(RTLD_DEFAULT, "PyExc_RuntimeError")), "there are no sizes");
  return -1;
}

// DLPackExchangeAPI of dlpack.h 1.3.
struct Table {
  std::uint32_t major, minor;
  Table* previous;
  void *allocate, *to_managed, *from_managed;
  View* view;
  void* current_stream;
};
Table older{1, 3, nullptr, nullptr, nullptr, nullptr, FillOrRaise, nullptr};
Table newer{2, 0, &older, nullptr, nullptr, nullptr, nullptr, nullptr};
}  // namespace

EXPORT void* stand_in_table(View* filler) {
  fill = filler;
  return &newer;
}

// const std::shared_ptr<TracingState>& torch::jit::tracer::getTracingState()
EXPORT void* const* _ZN5torch3jit6tracer15getTracingStateEv() { return &tracing; }

// std::unique_ptr<FuncTorchTLSBase>& at::functorch::functorchTLSAccessor()
EXPORT void* const* _ZN2at9functorch20functorchTLSAccessorEv() { return &functorch; }

// int64_t at::impl::PythonTorchFunctionTLS::stack_len()
EXPORT std::int64_t _ZN2at4impl22PythonTorchFunctionTLS9stack_lenEv() { return modes; }

EXPORT void stand_in_set(int is_tracing, int uses_functorch, int mode_count) {
  static int something;
  tracing = is_tracing != 0 ? &something : nullptr;
  functorch = uses_functorch != 0 ? &something : nullptr;
  modes = mode_count;
}
