// SPDX-License-Identifier: Apache-2.0
// libtorch_cpu.so as far as it is asked: what PyTorch's C++ keeps for a thread. The scripts of this
// folder set it.
#include <cstdint>

#define EXPORT extern "C" __attribute__((visibility("default")))

namespace {
thread_local void* tracing = nullptr;
thread_local void* functorch = nullptr;
thread_local std::int64_t modes = 0;
}  // namespace

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
