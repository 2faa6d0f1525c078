// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <climits>
#include <cstdint>
#include <cstdlib>

namespace traceinject {
namespace {

// The allocators of sanitizers are others.
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
constexpr bool kHeapIsGlibcs = true;
#else
constexpr bool kHeapIsGlibcs = false;
#endif

// The report of 10 million kernels fits in. Only what is touched takes memory.
constexpr std::size_t kHugeBytes = std::size_t{1} << 30;

void KeepFreedMemory() {
  mallopt(M_MMAP_MAX, 0);
  mallopt(M_TRIM_THRESHOLD, INT_MAX);
  mallopt(M_ARENA_MAX, 1);
}

// The C library extends its heap by what is asked for, and keeps it when that is freed.
void AskForHugePages() {
  void* const heap = std::malloc(kHugeBytes);
  if (heap == nullptr) return;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const std::uintptr_t first = reinterpret_cast<std::uintptr_t>(heap) & ~(page - 1);
  madvise(reinterpret_cast<void*>(first), kHugeBytes, MADV_HUGEPAGE);
  std::free(heap);
}

}  // namespace

void SetUpHeap() {
  if (!kHeapIsGlibcs) return;
  KeepFreedMemory();
  AskForHugePages();
}

}  // namespace traceinject
