// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/guest/unwind_tables.h"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <vector>

namespace traceinject {
namespace {

constexpr std::uint8_t kSigned4Relative = 0x1b, kUnsigned4 = 0x03, kSigned4OfIndex = 0x3b;
constexpr std::size_t kHeadBytes = 12, kRowBytes = 8;

template <typename Value>
void Append(Value value, std::string* to) {
  to->append(reinterpret_cast<const char*>(&value), sizeof value);
}

// Of the format that an encoding has in its lowest bits; nothing where it has none.
void AppendPointer(std::uint8_t encoding, std::uint64_t value, std::string* to) {
  constexpr std::uint8_t kRelative = 0x10;
  const std::uint64_t place = UnwindTables::kIndex + to->size();
  if ((encoding & 0x70) == kRelative) value -= place;
  switch (encoding & 0x0f) {
    case 0x03:
    case 0x0b:
      return Append(static_cast<std::uint32_t>(value), to);
    case 0x00:
    case 0x04:
    case 0x0c:
      return Append(value, to);
    default:
      return;
  }
}

std::uint8_t SomeEncoding(InputBytes& input) {
  static constexpr std::uint8_t kEncodings[] = {0x1b, 0x1b, 0x00, 0x03, 0x04, 0x0b,
                                                0x0c, 0x10, 0x3b, 0x02, 0xff};
  return kEncodings[input.Below(std::size(kEncodings))];
}

// What functions have in common.
struct Shared {
  std::size_t at = 0;
  std::string_view augmentation;
  std::uint8_t encoding = 0;
};

// The length of an entry that begins there, once it is whole.
void SetLength(std::size_t at, std::string* to) {
  const auto length = static_cast<std::uint32_t>(to->size() - at - 4);
  std::memcpy(to->data() + at, &length, sizeof length);
}

std::string AugmentationData(InputBytes& input, Shared* shared) {
  std::string data;
  for (const char letter : shared->augmentation) {
    if (letter == 'R') Append(shared->encoding = SomeEncoding(input), &data);
    if (letter == 'L') Append(input.Byte(), &data);
    if (letter != 'P') continue;
    const std::uint8_t encoding = SomeEncoding(input);
    Append(encoding, &data);
    AppendPointer(encoding & 0x0f, input.Byte(), &data);
  }
  return data;
}

Shared AppendShared(InputBytes& input, std::string* to) {
  static constexpr std::string_view kAugmentations[] = {"zR",   "zPLR", "zRS", "",
                                                        "zLPR", "zX",   "eh",  "z"};
  static constexpr std::uint8_t kVersions[] = {1, 1, 3, 4};
  Shared shared;
  shared.at = to->size();
  const std::uint8_t flags = input.Byte();
  shared.augmentation = kAugmentations[flags % std::size(kAugmentations)];
  Append(std::uint32_t{0}, to);
  Append(std::uint32_t{0}, to);  // not of a function
  Append(kVersions[flags / 8 % std::size(kVersions)], to);
  *to += shared.augmentation;
  to->push_back('\0');
  to->push_back('\x01');                                                        // bytes of code
  to->push_back((flags & 32) != 0 ? static_cast<char>(input.Byte()) : '\x78');  // of data: -8
  to->push_back((flags & 64) != 0 ? static_cast<char>(input.Byte()) : '\x10');
  if (shared.augmentation.starts_with('z')) {
    const std::string data = AugmentationData(input, &shared);
    to->push_back(static_cast<char>(data.size()));
    *to += data;
  }
  // As of every function: the frame is above the return address.
  if ((flags & 128) == 0) *to += std::string_view("\x0c\x07\x08\x90\x01", 5);
  *to += input.Take(input.Byte() % 32);
  SetLength(shared.at, to);
  return shared;
}

std::size_t AppendFunction(InputBytes& input, const Shared& shared, std::uint64_t function,
                           std::string* to) {
  const std::size_t at = to->size();
  Append(std::uint32_t{0}, to);
  Append(static_cast<std::uint32_t>(to->size() - shared.at), to);
  AppendPointer(shared.encoding, function, to);
  AppendPointer(shared.encoding & 0x0f, UnwindTables::kFunctionBytes, to);
  if (shared.augmentation.starts_with('z')) to->push_back('\0');
  *to += input.Take(input.Byte() % 64);
  SetLength(at, to);
  return at;
}

}  // namespace

UnwindTables SomeUnwindTables(InputBytes& input) {
  UnwindTables tables;
  const std::uint8_t flags = input.Byte();
  const std::size_t functions = 1 + flags % 4;
  std::string& bytes = tables.bytes;
  bytes.assign(kHeadBytes + functions * kRowBytes, '\0');
  std::vector<std::size_t> places;
  Shared shared;
  for (std::size_t i = 0; i < functions; ++i) {
    if (i == 0 || (flags & 4) != 0) shared = AppendShared(input, &bytes);
    places.push_back(AppendFunction(
        input, shared, UnwindTables::kFunctions + i * UnwindTables::kFunctionBytes, &bytes));
  }
  std::string head = {'\x01', static_cast<char>(kSigned4Relative), static_cast<char>(kUnsigned4),
                      static_cast<char>(kSigned4OfIndex)};
  if ((flags & 8) != 0) head[1] = static_cast<char>(kSigned4OfIndex);
  Append(static_cast<std::uint32_t>(kHeadBytes + functions * kRowBytes - head.size()), &head);
  Append(static_cast<std::uint32_t>(functions), &head);
  for (std::size_t i = 0; i < functions; ++i) {
    Append(static_cast<std::uint32_t>(UnwindTables::kFunctions + i * UnwindTables::kFunctionBytes -
                                      UnwindTables::kIndex),
           &head);
    Append(static_cast<std::uint32_t>(places[i]), &head);
  }
  std::ranges::copy(head, bytes.begin());
  for (int changes = flags / 16 % 8; changes > 0; --changes) {
    const std::size_t at = input.Below(bytes.size());
    bytes[at] = static_cast<char>(input.Byte());
  }
  if (flags >= 224) bytes.resize(input.Below(bytes.size()));
  return tables;
}

}  // namespace traceinject
