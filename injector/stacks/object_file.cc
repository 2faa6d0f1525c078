// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/object_file.h"

#include <elf.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <utility>

namespace traceinject {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::size_t kMaxParts = 256, kMaxSections = 100'000;
constexpr std::uint64_t kMaxSymbols = 4'000'000;
constexpr std::size_t kMaxName = 4096;  // longer names are clipped
// The last function of assembly has no size: what follows so closely is taken for it.
constexpr std::uint64_t kMaxUnsized = 4096;

std::optional<Elf64_Ehdr> ReadHeader(const ObjectFile::Access& file) {
  Elf64_Ehdr header;
  if (!file.ReadAt(0, &header, sizeof header) ||
      std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != ELFCLASS64 ||
      header.e_ident[EI_DATA] != ELFDATA2LSB)
    return std::nullopt;
  return header;
}

// False: the entry is not there.
template <typename Entry>
bool ReadEntryAt(const ObjectFile::Access& file, std::uint64_t table, std::uint64_t number,
                 Entry* to) {
  return file.ReadAt(table + number * sizeof *to, to, sizeof *to);
}

// The symbols and their names: all of them, else those that other objects may use.
struct SymbolTable {
  Elf64_Shdr symbols{}, names{};
};
std::optional<SymbolTable> FindSymbols(const ObjectFile::Access& file) {
  const auto header = ReadHeader(file);
  if (!header || header->e_shoff == 0 || header->e_shentsize != sizeof(Elf64_Shdr))
    return std::nullopt;
  std::optional<SymbolTable> found;
  const std::size_t sections = std::min<std::size_t>(header->e_shnum, kMaxSections);
  for (std::size_t i = 0; i < sections; ++i) {
    Elf64_Shdr section;
    if (!ReadEntryAt(file, header->e_shoff, i, &section)) return found;
    const bool is_all = section.sh_type == SHT_SYMTAB;
    if ((!is_all && section.sh_type != SHT_DYNSYM) || (found && !is_all) ||
        section.sh_entsize != sizeof(Elf64_Sym) || section.sh_link >= sections)
      continue;
    SymbolTable table{section, {}};
    if (ReadEntryAt(file, header->e_shoff, section.sh_link, &table.names)) found = table;
    if (is_all) break;
  }
  return found;
}

// The best symbol of an address so far.
struct FoundSymbol {
  std::uint64_t value = 0, bytes = 0;
  std::uint32_t name = 0;  // 0: none
  bool is_global = false;

  // Whether another symbol that holds the address, too, says it better: it is smaller, or has the
  // name that others use.
  bool IsWorseThan(const FoundSymbol& other) const {
    if (name == 0) return true;
    if ((bytes == 0) != (other.bytes == 0)) return bytes == 0;
    if (value != other.value) return other.value > value;
    return other.is_global && !is_global;
  }
};

void Offer(const Elf64_Sym& symbol, const std::vector<std::uint64_t>& addresses,
           std::vector<FoundSymbol>* found) {
  const int type = ELF64_ST_TYPE(symbol.st_info);
  if ((type != STT_FUNC && type != STT_GNU_IFUNC) || symbol.st_shndx == SHN_UNDEF ||
      symbol.st_name == 0)
    return;
  const FoundSymbol one{symbol.st_value, symbol.st_size, symbol.st_name,
                        ELF64_ST_BIND(symbol.st_info) != STB_LOCAL};
  const std::uint64_t bytes = symbol.st_size != 0 ? symbol.st_size : kMaxUnsized;
  const auto first = std::lower_bound(addresses.begin(), addresses.end(), symbol.st_value);
  for (auto at = first; at != addresses.end() && *at - symbol.st_value < bytes; ++at) {
    FoundSymbol& best = (*found)[static_cast<std::size_t>(at - addresses.begin())];
    if (best.IsWorseThan(one)) best = one;
  }
}

std::string ReadName(const ObjectFile::Access& file, const Elf64_Shdr& names, std::uint32_t name) {
  if (name >= names.sh_size) return "";
  std::string text(std::min<std::uint64_t>(kMaxName, names.sh_size - name), '\0');
  if (!file.ReadAt(names.sh_offset + name, text.data(), text.size())) return "";
  return text.substr(0, text.find('\0'));
}

}  // namespace

ObjectFile::Access::Access(const ObjectFile& object)
    : object_(object), file_(open(object.at_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
  if (file_ < 0) return;
  struct stat facts {};
  if (fstat(file_, &facts) == 0) {
    identity_ = {static_cast<std::int64_t>(facts.st_dev), static_cast<std::int64_t>(facts.st_ino),
                 facts.st_size, facts.st_mtim.tv_sec * kSecondNs + facts.st_mtim.tv_nsec};
  }
  // What is no file may keep a reader waiting.
  if (S_ISREG(facts.st_mode) && (object_.identity_ == Identity{} || object_.identity_ == identity_))
    return;
  close(file_);
  file_ = -1;
}

ObjectFile::Access::~Access() {
  if (file_ >= 0) close(file_);
}

bool ObjectFile::Access::ReadAt(std::uint64_t offset, void* to, std::size_t bytes) const {
  if (file_ < 0 || offset > INT64_MAX) return false;
  return pread(file_, to, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
}

bool ObjectFile::Access::Read(std::uint64_t address, void* to, std::size_t bytes) const {
  for (const Part& part : object_.parts_) {
    if (address < part.address || address - part.address >= part.bytes) continue;
    return part.bytes - (address - part.address) >= bytes &&
           ReadAt(part.offset + (address - part.address), to, bytes);
  }
  return false;
}

ObjectFile::ObjectFile(std::string path, std::string at)
    : path_(std::move(path)), at_(at.empty() ? path_ : std::move(at)) {
  const Access file(*this);
  identity_ = file.identity_;
  const auto header = ReadHeader(file);
  if (!header || header->e_phentsize != sizeof(Elf64_Phdr)) return;
  const std::size_t count = std::min<std::size_t>(header->e_phnum, kMaxParts);
  for (std::size_t i = 0; i < count; ++i) {
    Elf64_Phdr part;
    if (!ReadEntryAt(file, header->e_phoff, i, &part)) break;
    if (part.p_type == PT_GNU_EH_FRAME) unwind_index_ = part.p_vaddr;
    if (part.p_type == PT_LOAD) parts_.push_back({part.p_offset, part.p_vaddr, part.p_filesz});
  }
}

bool ObjectFile::AddressAt(std::uint64_t offset, std::uint64_t* address) const {
  for (const Part& part : parts_) {
    if (offset < part.offset || offset - part.offset >= part.bytes) continue;
    *address = part.address + (offset - part.offset);
    return true;
  }
  return false;
}

std::vector<std::string> ObjectFile::NamesOf(const std::vector<std::uint64_t>& addresses) const {
  constexpr std::uint64_t kTogether = 4096;
  std::vector<std::string> texts(addresses.size());
  const Access file(*this);
  const auto table = FindSymbols(file);
  if (!table) return texts;
  std::vector<FoundSymbol> found(addresses.size());
  std::vector<Elf64_Sym> symbols(kTogether);
  const std::uint64_t count = std::min(table->symbols.sh_size / sizeof(Elf64_Sym), kMaxSymbols);
  for (std::uint64_t first = 0; first < count; first += kTogether) {
    const std::uint64_t pieces = std::min(kTogether, count - first);
    if (!file.ReadAt(table->symbols.sh_offset + first * sizeof(Elf64_Sym), symbols.data(),
                     pieces * sizeof(Elf64_Sym)))
      break;
    for (std::uint64_t i = 0; i < pieces; ++i) Offer(symbols[i], addresses, &found);
  }
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (found[i].name != 0) texts[i] = ReadName(file, table->names, found[i].name);
  }
  return texts;
}

}  // namespace traceinject
