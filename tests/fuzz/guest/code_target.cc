// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/guest/code_target.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <vector>

#include "injector/stacks/object_file.h"
#include "injector/stacks/unwind_row.h"
#include "tests/fuzz/guest/unwind_tables.h"
#include "tests/fuzz/input_bytes.h"
#include "tests/fuzz/scratch_file.h"

namespace traceinject {
namespace {

// fuzz_object, as it was built.
const std::string& BaseObject() {
  static const std::string bytes = [] {
    std::ifstream file(TRACEINJECT_FUZZ_OBJECT, std::ios::binary);
    return std::string(std::istreambuf_iterator<char>(file), {});
  }();
  if (bytes.empty()) throw std::runtime_error("cannot read " TRACEINJECT_FUZZ_OBJECT);
  return bytes;
}

// Words changed to anything, and the end cut off.
std::string ChangedObject(InputBytes& input) {
  std::string object = BaseObject();
  for (int changes = input.Byte() % 16; changes > 0; --changes) {
    const std::size_t at = input.Number(2) % object.size();
    const std::string_view bytes = input.Take(1 + input.Byte() % 8);
    std::copy_n(bytes.begin(), std::min(bytes.size(), object.size() - at),
                object.begin() + static_cast<std::ptrdiff_t>(at));
  }
  if (input.Byte() % 8 == 7) object.resize(input.Number(2) % object.size());
  return object;
}

// Up to the outermost frame, or where nothing more is known.
std::string Unwind(const ObjectReader& reader, std::uint64_t index, std::uint64_t address,
                   std::string_view stack) {
  constexpr std::uint64_t kStackBase = 0x7000'0000;
  const StackCopy copy(kStackBase, stack.data(), stack.size());
  RegisterValues registers{};
  registers[kRsp] = kStackBase;
  registers[kRbp] = kStackBase + 64;
  registers[kReturnAddress] = address;
  for (int frames = 0; frames < 64; ++frames) {
    const auto row = FindUnwindRow(reader, index, registers[kReturnAddress]);
    if (!row) return {};
    const std::uint64_t frame = registers[kRsp];
    if (UnwindFrame(*row, copy, &registers) != UnwindResult::kCaller) return {};
    if (registers[kRsp] <= frame) return "a caller's frame below that of what it called\n";
  }
  return {};
}

}  // namespace

std::string FuzzObject(std::string_view input) {
  InputBytes bytes(input);
  const ObjectFile object(PutFile("object", ChangedObject(bytes)));
  std::vector<std::uint64_t> addresses;
  for (int i = 0; i < 4; ++i) addresses.push_back(bytes.Number(2));
  std::sort(addresses.begin(), addresses.end());
  if (object.NamesOf(addresses).size() != addresses.size()) return "not a name each\n";
  std::uint64_t address = 0;
  if (object.AddressAt(addresses[0], &address) && !object.has_parts())
    return "an address without a part\n";
  const ObjectFile::Access access(object);
  const ObjectReader reader = [&](std::uint64_t from, void* to, std::size_t count) {
    return access.Read(from, to, count);
  };
  return Unwind(reader, object.unwind_index(), addresses[1], bytes.Rest());
}

std::string FuzzUnwind(std::string_view input) {
  InputBytes bytes(input);
  const UnwindTables tables = SomeUnwindTables(bytes);
  const ObjectReader reader = [&](std::uint64_t from, void* to, std::size_t count) {
    const std::uint64_t offset = from - UnwindTables::kIndex;
    if (offset > tables.bytes.size() || count > tables.bytes.size() - offset) return false;
    std::copy_n(tables.bytes.data() + offset, count, static_cast<char*>(to));
    return true;
  };
  const std::uint64_t address = UnwindTables::kFunctions + bytes.Byte();
  return Unwind(reader, UnwindTables::kIndex, address, bytes.Rest());
}

}  // namespace traceinject
