// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/stack_copy.h"

#include <cerrno>

#include "injector/base/counters.h"
#include "injector/base/ring.h"
#include "injector/stacks/process_memory.h"

namespace traceinject {
namespace {

// Of the function that this is inlined into.
[[gnu::always_inline]] inline void CopyRegisters([[maybe_unused]] std::uint64_t* to) {
#ifdef __x86_64__
  __asm__ volatile(
      "movq %%rbx, 0(%0)\n\t"
      "movq %%rbp, 8(%0)\n\t"
      "movq %%rsp, 16(%0)\n\t"
      "movq %%r12, 24(%0)\n\t"
      "movq %%r13, 32(%0)\n\t"
      "movq %%r14, 40(%0)\n\t"
      "movq %%r15, 48(%0)\n\t"
      "leaq 1f(%%rip), %%rax\n"
      "1:\n\t"
      "movq %%rax, 56(%0)"
      :
      : "r"(to)
      : "rax", "memory");
#endif
}

}  // namespace

[[gnu::noinline]] void EmitStackCopy(int kind, std::int64_t start_ns, std::int64_t end_ns) {
  constexpr auto kSize = static_cast<std::uint32_t>(sizeof(NativeStackEvent) + kMaxStackBytes);
  constexpr std::size_t kStackPointer = 2;
  static_assert(kCopiedRegisters[kStackPointer] == kRsp);
  Ring* ring = g_rings.OfThisThread();
  if (ring == nullptr || !ring->IsHalfEmpty()) return;
  auto* event = static_cast<NativeStackEvent*>(ring->Reserve(kSize));
  if (event == nullptr) return;
  event->header = {kSize, static_cast<std::uint16_t>(EventType::kNativeStack),
                   static_cast<std::uint16_t>(kind), start_ns};
  event->end_ns = end_ns;
  const int saved_errno = errno;  // the program's: the call that it made is over
  CopyRegisters(event->registers);
  event->bytes =
      ProcessMemory().ReadUpTo(event->registers[kStackPointer], event->stack(), kMaxStackBytes);
  errno = saved_errno;
  ring->Publish(&g_wake);
}

}  // namespace traceinject
