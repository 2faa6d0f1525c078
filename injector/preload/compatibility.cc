// SPDX-License-Identifier: Apache-2.0
// Hidden definitions of two functions that the static libstdc++ and libgcc of newer systems take
// from glibc 2.35 and 2.36, so that the library loads with glibc 2.34.
#include <dlfcn.h>
#include <link.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>

// <stdlib.h>, glibc 2.36. libstdc++'s random_device refers to it.
extern "C" __attribute__((visibility("hidden"))) std::uint32_t arc4random() {
  std::uint32_t value = 0;
  while (syscall(SYS_getrandom, &value, sizeof value, 0) != static_cast<long>(sizeof value)) {
  }
  return value;
}

// <dlfcn.h>, glibc 2.35: the object that holds `pc`, for libgcc's unwinder. A constant -1 would end
// the host at the first throw, so the answer is found with dl_iterate_phdr, as older unwinders did.
extern "C" __attribute__((visibility("hidden"))) int _dl_find_object(
    void* pc, struct dl_find_object* result) {
  struct Search {
    std::uintptr_t pc;
    struct dl_find_object* result;
  } search{reinterpret_cast<std::uintptr_t>(pc), result};
  const int found = dl_iterate_phdr(
      [](dl_phdr_info* info, std::size_t, void* data) {
        auto* wanted = static_cast<Search*>(data);
        const ElfW(Phdr)* frames = nullptr;
        std::uintptr_t low = UINTPTR_MAX, high = 0;
        bool inside = false;
        for (int i = 0; i < info->dlpi_phnum; ++i) {
          const ElfW(Phdr)& header = info->dlpi_phdr[i];
          const std::uintptr_t start = info->dlpi_addr + header.p_vaddr,
                               end = start + header.p_memsz;
          if (header.p_type == PT_GNU_EH_FRAME) frames = &header;
          if (header.p_type != PT_LOAD) continue;
          if (start < low) low = start;
          if (end > high) high = end;
          inside = inside || (wanted->pc >= start && wanted->pc < end);
        }
        if (!inside || frames == nullptr) return 0;
        std::memset(wanted->result, 0, sizeof *wanted->result);
        wanted->result->dlfo_map_start = reinterpret_cast<void*>(low);
        wanted->result->dlfo_map_end = reinterpret_cast<void*>(high);
        wanted->result->dlfo_eh_frame = reinterpret_cast<void*>(info->dlpi_addr + frames->p_vaddr);
        return 1;
      },
      &search);
  return found == 1 ? 0 : -1;
}
