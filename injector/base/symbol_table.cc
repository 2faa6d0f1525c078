// SPDX-License-Identifier: Apache-2.0
#include "injector/base/symbol_table.h"

#include <cstdint>
#include <cstring>

namespace traceinject {
namespace {

struct Tables {
  explicit Tables(const dl_phdr_info& object) {
    const ElfW(Dyn)* entry = nullptr;
    for (int i = 0; i < object.dlpi_phnum; ++i) {
      if (object.dlpi_phdr[i].p_type == PT_DYNAMIC)
        entry = At<ElfW(Dyn)>(object, object.dlpi_phdr[i].p_vaddr);
    }
    for (; entry != nullptr && entry->d_tag != DT_NULL; ++entry) {
      const ElfW(Addr) value = entry->d_un.d_ptr;
      // The dynamic linker puts addresses there, but in what it may not write to, as of the kernel.
      const ElfW(Addr) place = value >= object.dlpi_addr ? value - object.dlpi_addr : value;
      if (entry->d_tag == DT_SYMTAB) symbols = At<ElfW(Sym)>(object, place);
      if (entry->d_tag == DT_STRTAB) names = At<char>(object, place);
      if (entry->d_tag == DT_GNU_HASH) hashes = At<std::uint32_t>(object, place);
    }
  }
  bool IsThere() const { return symbols != nullptr && names != nullptr && hashes != nullptr; }

  template <typename Type>
  static const Type* At(const dl_phdr_info& object, ElfW(Addr) place) {
    return reinterpret_cast<const Type*>(object.dlpi_addr + place);
  }

  const ElfW(Sym) * symbols = nullptr;
  const char* names = nullptr;
  const std::uint32_t* hashes = nullptr;
};

std::uint32_t GnuHash(const char* name) {
  std::uint32_t hash = 5381;
  for (; *name != '\0'; ++name) hash = hash * 33 + static_cast<unsigned char>(*name);
  return hash;
}

}  // namespace

void* FindDefined(const dl_phdr_info& object, const char* name) {
  const Tables tables(object);
  if (!tables.IsThere()) return nullptr;
  // Counts, a filter of words of the processor, buckets, and a hash of each symbol from the first,
  // whose lowest bit ends a bucket.
  const std::uint32_t buckets = tables.hashes[0], first = tables.hashes[1];
  if (buckets == 0) return nullptr;
  const std::uint32_t* bucket =
      tables.hashes + 4 + tables.hashes[2] * (sizeof(ElfW(Addr)) / sizeof(std::uint32_t));
  const std::uint32_t* hash_of = bucket + buckets;
  const std::uint32_t hash = GnuHash(name);
  for (std::uint32_t i = bucket[hash % buckets]; i >= first && i != 0; ++i) {
    const ElfW(Sym)& symbol = tables.symbols[i];
    if ((hash_of[i - first] | 1) == (hash | 1) && symbol.st_shndx != SHN_UNDEF &&
        std::strcmp(tables.names + symbol.st_name, name) == 0)
      return reinterpret_cast<void*>(object.dlpi_addr + symbol.st_value);
    if ((hash_of[i - first] & 1) != 0) break;
  }
  return nullptr;
}

bool HoldsAddress(const dl_phdr_info& object, const void* address) {
  const auto at = reinterpret_cast<ElfW(Addr)>(address);
  for (int i = 0; i < object.dlpi_phnum; ++i) {
    const ElfW(Phdr)& part = object.dlpi_phdr[i];
    if (part.p_type == PT_LOAD && at - (object.dlpi_addr + part.p_vaddr) < part.p_memsz)
      return true;
  }
  return false;
}

}  // namespace traceinject
