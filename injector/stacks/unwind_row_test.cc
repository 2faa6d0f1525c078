// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/unwind_row.h"

#include <gtest/gtest.h>
#include <link.h>

#include <cstring>
#include <random>
#include <span>

#include "injector/stacks/object_file.h"

namespace traceinject {
namespace {

// A stack of words from an address on.
struct WordStack {
  static constexpr std::uint64_t kBase = 0x1000;
  std::vector<std::uint64_t> words;

  StackCopy copy() const {
    return {kBase, reinterpret_cast<const char*>(words.data()), 8 * words.size()};
  }
};

UnwindRow PlainRow(std::int64_t frame_offset) {
  UnwindRow row;
  row.frame = {UnwindRule::Kind::kRegister, kRsp, frame_offset};
  row.registers[kReturnAddress] = {UnwindRule::Kind::kAtOffset, 0, -8};
  return row;
}

TEST(UnwindRowTest, TheCallersRegisters) {
  UnwindRow row = PlainRow(32);
  row.registers[kRbp] = {UnwindRule::Kind::kAtOffset, 0, -16};
  row.registers[kRbx] = {UnwindRule::Kind::kIsOffset, 0, -24};
  row.registers[kR12] = {UnwindRule::Kind::kRegister, kR13, 0};
  RegisterValues registers{};
  registers[kRsp] = WordStack::kBase;
  registers[kR13] = 13;
  registers[kR15] = 15;
  const WordStack stack{{1, 2, 77, 0x4000, 5}};
  ASSERT_EQ(UnwindFrame(row, stack.copy(), &registers), UnwindResult::kCaller);
  EXPECT_EQ(registers[kReturnAddress], 0x4000U);
  EXPECT_EQ(registers[kRsp], WordStack::kBase + 32);
  EXPECT_EQ(registers[kRbp], 77U);
  EXPECT_EQ(registers[kRbx], WordStack::kBase + 8);
  EXPECT_EQ(registers[kR12], 13U);
  EXPECT_EQ(registers[kR15], 15U);
}

TEST(UnwindRowTest, WhereStacksEnd) {
  RegisterValues registers{};
  registers[kRsp] = WordStack::kBase;
  const WordStack stack{{0, 0x4000}};
  UnwindRow row = PlainRow(8);
  EXPECT_EQ(UnwindFrame(row, stack.copy(), &registers), UnwindResult::kOutermost);
  row.registers[kReturnAddress] = {UnwindRule::Kind::kUndefined, 0, 0};
  EXPECT_EQ(UnwindFrame(row, stack.copy(), &registers), UnwindResult::kOutermost);
  // Beyond the copy, and back to where it was.
  EXPECT_EQ(UnwindFrame(PlainRow(24), stack.copy(), &registers), UnwindResult::kLost);
  EXPECT_EQ(UnwindFrame(PlainRow(INT64_MIN), stack.copy(), &registers), UnwindResult::kLost);
  row = PlainRow(0);
  row.registers[kReturnAddress] = {UnwindRule::Kind::kAtOffset, 0, 8};
  EXPECT_EQ(UnwindFrame(row, stack.copy(), &registers), UnwindResult::kLost);
  EXPECT_EQ(registers[kRsp], WordStack::kBase);
}

// As GCC describes functions that realign the stack: the frame's address is the word below rbp.
TEST(UnwindRowTest, FramesByExpressions) {
  UnwindRow row = PlainRow(0);
  row.bytes = {'\x76', '\x78', '\x06'};  // breg6 -8, deref
  row.frame = {UnwindRule::Kind::kIsExpression, 0, 3};
  RegisterValues registers{};
  registers[kRsp] = WordStack::kBase;
  registers[kRbp] = WordStack::kBase + 8;
  const WordStack stack{{WordStack::kBase + 24, 9, 0x4000, 9}};
  ASSERT_EQ(UnwindFrame(row, stack.copy(), &registers), UnwindResult::kCaller);
  EXPECT_EQ(registers[kReturnAddress], 0x4000U);
  // What is no expression.
  for (const std::string& bytes :
       {std::string("\x06"), std::string("\x22"), std::string("\xff"), std::string("\x08"),
        std::string(), std::string(500, '\x31'), std::string("\x31\x06")}) {
    row.bytes = bytes;
    row.frame = {UnwindRule::Kind::kIsExpression, 0, static_cast<std::int64_t>(bytes.size())};
    EXPECT_EQ(UnwindFrame(row, stack.copy(), &registers), UnwindResult::kLost) << bytes.size();
  }
}

struct AddressRange {
  std::uint64_t begin = 0, end = 0;
};

// Where this program's functions are, by the addresses that its file gives.
AddressRange CodeOfThisProgram() {
  AddressRange code;
  const auto take_first = [](dl_phdr_info* program, std::size_t, void* found) {
    for (const auto& segment : std::span(program->dlpi_phdr, program->dlpi_phnum)) {
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_X) != 0)
        *static_cast<AddressRange*>(found) = {segment.p_vaddr, segment.p_vaddr + segment.p_memsz};
    }
    return 1;
  };
  dl_iterate_phdr(take_first, &code);
  return code;
}

// The tables of this program with some bytes changed: whatever is found, it ends.
TEST(UnwindRowTest, TablesThatAreNone) {
  const ObjectFile object("/proc/self/exe");
  ASSERT_NE(object.unwind_index(), 0U);
  const ObjectFile::Access file(object);
  const std::uint64_t base = object.unwind_index();
  const AddressRange code = CodeOfThisProgram();
  ASSERT_LT(code.begin, code.end);
  std::mt19937_64 random(1);
  int found = 0, broken = 0;
  for (int i = 0; i < 20'000; ++i) {
    const auto one_in = i % 2 == 0 ? 0 : 20 + random() % 200;
    const ObjectReader reader = [&](std::uint64_t address, void* to, std::size_t bytes) {
      if (!file.Read(address, to, bytes)) return false;
      for (std::size_t at = 0; one_in != 0 && at < bytes; ++at) {
        if (random() % one_in == 0) static_cast<char*>(to)[at] = static_cast<char>(random());
      }
      return true;
    };
    const std::uint64_t address = code.begin + random() % (code.end - code.begin);
    const auto row = FindUnwindRow(reader, base, address);
    if (!row) continue;
    ++(one_in == 0 ? found : broken);
    RegisterValues registers{};
    registers[kRsp] = registers[kRbp] = WordStack::kBase;
    const WordStack stack{{1, 2, 3, 4}};
    UnwindFrame(*row, stack.copy(), &registers);
  }
  EXPECT_GT(found, 0);
  EXPECT_GT(broken, 0);
}

// The row in the middle of a function of 16 bytes that these instructions describe. Its frame is
// 8 bytes above rsp before they say otherwise; they count in -8 bytes.
std::optional<UnwindRow> RowAfter(const std::string& instructions) {
  constexpr std::uint64_t kFunction = 0x1000;
  const std::string function =
      std::string("\x16\0\0\0\0\x10\0\0\0\0\0\0\x10\0\0\0\0\0\0\0", 20) + instructions;
  const std::string tables = std::string("\x01\x1b\x03\x3b\0\0\0\0\x01\0\0\0", 12) +
                             std::string("\0\x10\0\0\x26\0\0\0", 8) +
                             std::string("\x0e\0\0\0\0\0\0\0\x01\0\x01\x78\x10", 13) +
                             "\x0c\x07\x08\x90\x01" + static_cast<char>(function.size()) +
                             std::string(3, '\0') + function;
  const ObjectReader reader = [&](std::uint64_t address, void* to, std::size_t count) {
    if (address > tables.size() || tables.size() - address < count) return false;
    std::memcpy(to, tables.data() + address, count);
    return true;
  };
  return FindUnwindRow(reader, 0, kFunction + 8);
}

TEST(UnwindRowTest, OffsetsOfFrames) {
  const auto offset = [](const std::string& instructions) {
    const auto row = RowAfter(instructions);
    return row ? row->frame.offset : 0;
  };
  EXPECT_EQ(offset(""), 8);
  EXPECT_EQ(offset("\x0e\x30"), 48);
  EXPECT_EQ(offset("\x12\x06\x7e"), 16);
  EXPECT_EQ(offset("\x13\x7e"), 16);
  // Behind this place.
  EXPECT_EQ(offset("\x4c\x13\x7e"), 8);
}

TEST(UnwindRowTest, AnIndexThatIsNone) {
  const auto in = [](const std::string& bytes) {
    return FindUnwindRow(
        [&](std::uint64_t address, void* to, std::size_t count) {
          if (address > bytes.size() || bytes.size() - address < count) return false;
          std::memcpy(to, bytes.data() + address, count);
          return true;
        },
        0, 0x100);
  };
  EXPECT_FALSE(in(""));
  EXPECT_FALSE(in(std::string(12, '\0')));
  // As many functions as fit a number, and none of them there.
  EXPECT_FALSE(in(std::string("\x01\x1b\x03\x3b\0\0\0\0\xff\xff\xff\xff", 12)));
  EXPECT_FALSE(in(std::string("\x01\x1b\x03\x3b\0\0\0\0\xff\xff\xff\x00", 12)));
  // An entry that leads back to itself.
  EXPECT_FALSE(
      in(std::string("\x01\x1b\x03\x3b\0\0\0\0\x01\0\0\0\0\0\0\0\x14\0\0\0"
                     "\x08\0\0\0\x04\0\0\0\0\0\0\0",
                     32)));
}

}  // namespace
}  // namespace traceinject
