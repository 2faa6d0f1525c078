// SPDX-License-Identifier: Apache-2.0
#include "viewer/app/heap.h"

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <new>

namespace traceinject {
namespace {

constexpr int kColumnBytes = 1 << 20;
constexpr std::size_t kHugeBytes = std::size_t{2} << 20;  // a smaller block holds no such page

[[maybe_unused]] void AskForHugePages(void* block, std::size_t bytes) {
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto first = (reinterpret_cast<std::uintptr_t>(block) + page - 1) & ~(page - 1);
  const auto end = (reinterpret_cast<std::uintptr_t>(block) + bytes) & ~(page - 1);
  madvise(reinterpret_cast<void*>(first), end - first, MADV_HUGEPAGE);
}

}  // namespace

void ReturnFreedColumns() {
#ifdef __GLIBC__
  mallopt(M_MMAP_THRESHOLD, kColumnBytes);
#endif
}

}  // namespace traceinject

// As the C++ library's, but for large blocks. Sanitizers have their own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
void* operator new(std::size_t bytes) {
  for (;;) {
    void* const block = std::malloc(std::max<std::size_t>(bytes, 1));
    if (block != nullptr) {
      if (bytes >= traceinject::kHugeBytes) traceinject::AskForHugePages(block, bytes);
      return block;
    }
    const std::new_handler handler = std::get_new_handler();
    if (handler == nullptr) throw std::bad_alloc();
    handler();
  }
}
#endif
