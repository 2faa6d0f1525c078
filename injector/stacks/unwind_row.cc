// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/unwind_row.h"

#include <string_view>
#include <vector>

#include "injector/stacks/byte_reader.h"

namespace traceinject {
namespace {

// A longer description of a function is none.
constexpr std::size_t kMaxEntryBytes = 64 << 10;
constexpr std::size_t kMaxSavedRows = 16;
constexpr int kMaxExpressionSteps = 100;

// Encodings of pointers (Linux Standard Base, 10.5.1).
enum Encoding : std::uint8_t {
  kAbsolute = 0x00,
  kUnsigned4 = 0x03,
  kUnsigned8 = 0x04,
  kSigned4 = 0x0b,
  kSigned8 = 0x0c,
  kRelative = 0x10,    // to where it stands
  kIndexEntry = 0x3b,  // the only one that linkers write there
  kFormat = 0x0f,
  kApplication = 0x70,
};

// `place`: the address of the pointer. False: an encoding that is not read.
bool TakePointer(ByteReader* from, std::uint8_t encoding, std::uint64_t place,
                 std::uint64_t* value) {
  switch (encoding & kFormat) {
    case kAbsolute:
    case kUnsigned8:
    case kSigned8:
      *value = from->Take<std::uint64_t>();
      break;
    case kUnsigned4:
      *value = from->Take<std::uint32_t>();
      break;
    case kSigned4:
      *value = static_cast<std::uint64_t>(std::int64_t{from->Take<std::int32_t>()});
      break;
    default:
      return false;
  }
  const int application = encoding & kApplication;
  if (application == kRelative) *value += place;
  return from->ok() && (application == kRelative || application == 0);
}

// An entry of .eh_frame without its length: of a function (FDE), or what several have in common
// (CIE).
struct Entry {
  std::uint64_t place = 0;  // the address of the bytes
  std::string bytes;
};

bool ReadEntry(const ObjectReader& object, std::uint64_t address, Entry* to) {
  std::uint32_t length = 0;
  if (!object(address, &length, sizeof length) || length < 4 || length > kMaxEntryBytes)
    return false;
  to->place = address + sizeof length;
  to->bytes.resize(length);
  return object(to->place, to->bytes.data(), length);
}

struct Common {
  std::uint64_t code_unit = 1;
  std::int64_t data_unit = 1;
  std::uint64_t return_register = 0;
  std::uint8_t encoding = kAbsolute;
  bool has_augmentation = false, is_signal = false;
  std::string_view instructions;
};

bool ParseAugmentation(std::string_view letters, ByteReader data, Common* to) {
  for (const char letter : letters) {
    std::uint64_t ignored = 0;
    switch (letter) {
      case 'R':
        to->encoding = data.Take<std::uint8_t>();
        break;
      case 'L':
        data.Take<std::uint8_t>();
        break;
      case 'P':
        if (!TakePointer(&data, data.Take<std::uint8_t>() & kFormat, 0, &ignored)) return false;
        break;
      case 'S':
        to->is_signal = true;
        break;
      default:
        return false;
    }
  }
  return data.ok();
}

bool ParseCommon(const Entry& entry, Common* to) {
  ByteReader from(entry.bytes);
  if (from.Take<std::uint32_t>() != 0) return false;  // a function's
  const auto version = from.Take<std::uint8_t>();
  if (version != 1 && version != 3) return false;
  const std::string_view augmentation = from.TakeText();
  to->code_unit = from.TakeUnsigned();
  to->data_unit = from.TakeSigned();
  to->return_register = version == 1 ? from.Take<std::uint8_t>() : from.TakeUnsigned();
  to->has_augmentation = augmentation.starts_with('z');
  if (!augmentation.empty() && !to->has_augmentation) return false;
  if (to->has_augmentation) {
    const std::string_view data = from.TakeBytes(from.TakeUnsigned());
    if (!ParseAugmentation(augmentation.substr(1), ByteReader(data), to)) return false;
  }
  to->instructions = from.TakeBytes(from.left());
  return from.ok() && to->return_register == kReturnAddress;
}

// Runs call frame instructions up to an instruction's address (DWARF 5, 6.4.2).
class RowProgram {
 public:
  RowProgram(const Common& common, std::uint64_t target, UnwindRow* row)
      : common_(common), target_(target), row_(*row) {}

  // From the address at which a function begins. False: it is none.
  bool Run(std::string_view instructions, std::uint64_t address) {
    ByteReader from(instructions);
    address_ = address;
    while (from.ok() && from.left() > 0 && address_ <= target_) {
      if (!Step(from.Take<std::uint8_t>(), &from)) return false;
    }
    return from.ok();
  }
  // What the registers are where a function begins.
  void KeepFirst() { first_ = row_; }

 private:
  enum Instruction : std::uint8_t {
    kNop = 0x00,
    kSetLocation = 0x01,
    kAdvance1 = 0x02,
    kAdvance2 = 0x03,
    kAdvance4 = 0x04,
    kOffsetExtended = 0x05,
    kRestoreExtended = 0x06,
    kUndefinedRule = 0x07,
    kSameRule = 0x08,
    kRegisterRule = 0x09,
    kRemember = 0x0a,
    kRestoreState = 0x0b,
    kDefineFrame = 0x0c,
    kDefineFrameRegister = 0x0d,
    kDefineFrameOffset = 0x0e,
    kDefineFrameExpression = 0x0f,
    kExpression = 0x10,
    kOffsetExtendedSigned = 0x11,
    kDefineFrameSigned = 0x12,
    kDefineFrameOffsetSigned = 0x13,
    kValueOffset = 0x14,
    kValueOffsetSigned = 0x15,
    kValueExpression = 0x16,
    kArgumentsSize = 0x2e,
    // In the two upper bits; the lower ones hold a number.
    kAdvance = 0x40,
    kOffset = 0x80,
    kRestore = 0xc0,
    kShort = 0xc0,
  };
  using Kind = UnwindRule::Kind;

  bool Step(std::uint8_t instruction, ByteReader* from) {
    const std::uint64_t low = instruction & ~kShort & 0xff;
    switch (instruction & kShort) {
      case kAdvance:
        return Advance(low);
      case kOffset:
        return Set(low, Kind::kAtOffset, Units(from->TakeUnsigned()));
      case kRestore:
        return Restore(low);
      default:
        return StepLong(instruction, from);
    }
  }
  bool StepLong(std::uint8_t instruction, ByteReader* from) {
    switch (instruction) {
      case kNop:
        return true;
      case kAdvance1:
        return Advance(from->Take<std::uint8_t>());
      case kAdvance2:
        return Advance(from->Take<std::uint16_t>());
      case kAdvance4:
        return Advance(from->Take<std::uint32_t>());
      case kArgumentsSize:
        from->TakeUnsigned();
        return true;
      case kDefineFrameOffsetSigned:
        row_.frame.offset = Units(from->TakeSigned());
        return true;
      case kRemember:
        if (saved_.size() == kMaxSavedRows) return false;
        saved_.push_back(row_);
        return true;
      case kRestoreState:
        if (saved_.empty()) return false;
        row_ = saved_.back();
        saved_.pop_back();
        return true;
      default:
        return instruction >= kDefineFrame && instruction <= kDefineFrameExpression
                   ? DefineFrame(instruction, from)
                   : SetRule(instruction, from);
    }
  }
  bool DefineFrame(std::uint8_t instruction, ByteReader* from) {
    UnwindRule& frame = row_.frame;
    switch (instruction) {
      case kDefineFrame:
        frame.kind = Kind::kRegister;
        frame.from = static_cast<std::uint32_t>(from->TakeUnsigned());
        frame.offset = static_cast<std::int64_t>(from->TakeUnsigned());
        break;
      case kDefineFrameRegister:
        frame.kind = Kind::kRegister;
        frame.from = static_cast<std::uint32_t>(from->TakeUnsigned());
        break;
      case kDefineFrameOffset:
        frame.offset = static_cast<std::int64_t>(from->TakeUnsigned());
        break;
      default:
        frame = TakeExpression(Kind::kIsExpression, from);
    }
    return true;
  }
  bool SetRule(std::uint8_t instruction, ByteReader* from) {
    const std::uint64_t number = from->TakeUnsigned();
    switch (instruction) {
      case kOffsetExtended:
        return Set(number, Kind::kAtOffset, Units(from->TakeUnsigned()));
      case kOffsetExtendedSigned:
        return Set(number, Kind::kAtOffset, Units(from->TakeSigned()));
      case kValueOffset:
        return Set(number, Kind::kIsOffset, Units(from->TakeUnsigned()));
      case kValueOffsetSigned:
        return Set(number, Kind::kIsOffset, Units(from->TakeSigned()));
      case kRestoreExtended:
        return Restore(number);
      case kUndefinedRule:
        return Set(number, Kind::kUndefined, 0);
      case kSameRule:
        return Set(number, Kind::kSame, 0);
      case kRegisterRule:
        return Set(number, Kind::kRegister, 0, static_cast<std::uint32_t>(from->TakeUnsigned()));
      case kExpression:
        return Set(number, TakeExpression(Kind::kAtExpression, from));
      case kValueExpression:
        return Set(number, TakeExpression(Kind::kIsExpression, from));
      case kDefineFrameSigned:
        row_.frame = {Kind::kRegister, static_cast<std::uint32_t>(number),
                      Units(from->TakeSigned())};
        return true;
      default:
        return false;
    }
  }

  bool Advance(std::uint64_t units) {
    address_ += units * common_.code_unit;
    return true;
  }
  std::int64_t Units(std::uint64_t count) const {
    return static_cast<std::int64_t>(count * static_cast<std::uint64_t>(common_.data_unit));
  }
  std::int64_t Units(std::int64_t count) const { return Units(static_cast<std::uint64_t>(count)); }
  // Of registers that are not followed, vectors' say, the rule does not matter.
  bool Set(std::uint64_t number, const UnwindRule& rule) {
    if (number < kUnwindRegisters) row_.registers[number] = rule;
    return true;
  }
  bool Set(std::uint64_t number, Kind kind, std::int64_t offset, std::uint32_t from = 0) {
    return Set(number, UnwindRule{kind, from, offset});
  }
  bool Restore(std::uint64_t number) {
    return number >= kUnwindRegisters || Set(number, first_.registers[number]);
  }
  UnwindRule TakeExpression(Kind kind, ByteReader* from) {
    const std::string_view bytes = from->TakeBytes(from->TakeUnsigned());
    UnwindRule rule{kind, static_cast<std::uint32_t>(expressions_.size()),
                    static_cast<std::int64_t>(bytes.size())};
    expressions_ += bytes;
    return rule;
  }

 public:
  // Of all expressions, also those that were given up again.
  std::string TakeExpressions() { return std::move(expressions_); }

 private:
  const Common& common_;
  const std::uint64_t target_;
  std::uint64_t address_ = 0;
  UnwindRow& row_;
  UnwindRow first_;
  std::vector<UnwindRow> saved_;
  std::string expressions_;
};

// Which function's entry holds an address: a binary search of the index. 0: none.
std::uint64_t FindEntry(const ObjectReader& object, std::uint64_t index, std::uint64_t address) {
  constexpr std::uint8_t kVersion = 1;
  constexpr std::uint64_t kMaxFunctions = 1 << 26;
  struct Row {
    std::int32_t function, entry;
  };
  std::array<char, 12> head{};
  if (!object(index, head.data(), head.size())) return 0;
  ByteReader from(std::string_view(head.data(), head.size()));
  const auto version = from.Take<std::uint8_t>(), entries = from.Take<std::uint8_t>(),
             count = from.Take<std::uint8_t>(), table = from.Take<std::uint8_t>();
  std::uint64_t ignored = 0, functions = 0;
  if (version != kVersion || table != kIndexEntry || count != kUnsigned4 ||
      ((entries & kFormat) != kSigned4 && (entries & kFormat) != kUnsigned4) ||
      !TakePointer(&from, entries & kFormat, 0, &ignored) ||
      !TakePointer(&from, count, 0, &functions) || functions > kMaxFunctions)
    return 0;
  const std::uint64_t rows = index + from.at();
  const auto target = static_cast<std::int64_t>(address - index);
  std::uint64_t first = 0, end = functions;
  Row found{0, 0}, row{};
  while (first < end) {
    const std::uint64_t middle = first + (end - first) / 2;
    if (!object(rows + middle * sizeof row, &row, sizeof row)) return 0;
    if (row.function <= target) {
      found = row;
      first = middle + 1;
    } else {
      end = middle;
    }
  }
  return first == 0 ? 0 : index + static_cast<std::uint64_t>(std::int64_t{found.entry});
}

// What DWARF expressions need of a frame (DWARF 5, 2.5).
class Expression {
 public:
  Expression(const RegisterValues& registers, const StackCopy& stack)
      : registers_(registers), stack_(stack) {}

  bool Evaluate(std::string_view bytes, std::vector<std::uint64_t> values, std::uint64_t* result) {
    values_ = std::move(values);
    ByteReader from(bytes);
    for (int i = 0; from.ok() && from.left() > 0; ++i) {
      if (i == kMaxExpressionSteps || !Step(from.Take<std::uint8_t>(), &from)) return false;
    }
    if (!from.ok() || values_.empty()) return false;
    *result = values_.back();
    return true;
  }

 private:
  enum Operation : std::uint8_t {
    kDereference = 0x06,
    kConstant1 = 0x08,
    kConstant1Signed = 0x09,
    kConstant2 = 0x0a,
    kConstant2Signed = 0x0b,
    kConstant4 = 0x0c,
    kConstant4Signed = 0x0d,
    kConstant = 0x10,
    kConstantSigned = 0x11,
    kAnd = 0x1a,
    kMinus = 0x1c,
    kPlus = 0x22,
    kPlusConstant = 0x23,
    kShiftLeft = 0x24,
    kGreaterOrEqual = 0x2a,
    kLiteral0 = 0x30,
    kLiteral31 = 0x4f,
    kRegister0 = 0x70,
    kRegister31 = 0x8f,
  };

  bool Step(std::uint8_t operation, ByteReader* from) {
    if (operation >= kLiteral0 && operation <= kLiteral31)
      return Push(std::uint64_t{operation} - kLiteral0);
    if (operation >= kRegister0 && operation <= kRegister31) {
      const std::size_t number = operation - std::size_t{kRegister0};
      const auto offset = static_cast<std::uint64_t>(from->TakeSigned());
      return number < kUnwindRegisters && Push(registers_[number] + offset);
    }
    switch (operation) {
      case kConstant1:
        return Push(from->Take<std::uint8_t>());
      case kConstant1Signed:
        return PushSigned(from->Take<std::int8_t>());
      case kConstant2:
        return Push(from->Take<std::uint16_t>());
      case kConstant2Signed:
        return PushSigned(from->Take<std::int16_t>());
      case kConstant4:
        return Push(from->Take<std::uint32_t>());
      case kConstant4Signed:
        return PushSigned(from->Take<std::int32_t>());
      case kConstant:
        return Push(from->TakeUnsigned());
      case kConstantSigned:
        return PushSigned(from->TakeSigned());
      case kPlusConstant:
        return !values_.empty() && Push(Pop() + from->TakeUnsigned());
      case kDereference:
        return Dereference();
      default:
        return Combine(operation);
    }
  }
  bool Dereference() {
    std::uint64_t value = 0;
    return !values_.empty() && stack_.Read(Pop(), &value) && Push(value);
  }
  bool Combine(std::uint8_t operation) {
    if (values_.size() < 2) return false;
    const std::uint64_t second = Pop(), first = Pop();
    switch (operation) {
      case kAnd:
        return Push(first & second);
      case kMinus:
        return Push(first - second);
      case kPlus:
        return Push(first + second);
      case kShiftLeft:
        return Push(second < 64 ? first << second : 0);
      case kGreaterOrEqual:
        return Push(static_cast<std::int64_t>(first) >= static_cast<std::int64_t>(second) ? 1 : 0);
      default:
        return false;
    }
  }
  bool Push(std::uint64_t value) {
    values_.push_back(value);
    return true;
  }
  bool PushSigned(std::int64_t value) { return Push(static_cast<std::uint64_t>(value)); }
  std::uint64_t Pop() {
    const std::uint64_t value = values_.back();
    values_.pop_back();
    return value;
  }

  const RegisterValues& registers_;
  const StackCopy& stack_;
  std::vector<std::uint64_t> values_;
};

bool Evaluate(const UnwindRow& row, const UnwindRule& rule, const RegisterValues& registers,
              const StackCopy& stack, std::vector<std::uint64_t> values, std::uint64_t* result) {
  const std::string_view bytes =
      std::string_view(row.bytes).substr(rule.from, static_cast<std::size_t>(rule.offset));
  return Expression(registers, stack).Evaluate(bytes, std::move(values), result);
}

bool FrameAddress(const UnwindRow& row, const StackCopy& stack, const RegisterValues& registers,
                  std::uint64_t* frame) {
  if (row.frame.kind == UnwindRule::Kind::kIsExpression)
    return Evaluate(row, row.frame, registers, stack, {}, frame);
  if (row.frame.kind != UnwindRule::Kind::kRegister || row.frame.from >= kUnwindRegisters)
    return false;
  *frame = registers[row.frame.from] + static_cast<std::uint64_t>(row.frame.offset);
  return true;
}

bool CallersValue(const UnwindRow& row, const UnwindRule& rule, const StackCopy& stack,
                  const RegisterValues& registers, std::uint64_t frame, std::uint64_t* value) {
  const auto offset = static_cast<std::uint64_t>(rule.offset);
  switch (rule.kind) {
    case UnwindRule::Kind::kSame:
      return true;
    case UnwindRule::Kind::kUndefined:
      *value = 0;
      return true;
    case UnwindRule::Kind::kAtOffset:
      return stack.Read(frame + offset, value);
    case UnwindRule::Kind::kIsOffset:
      *value = frame + offset;
      return true;
    case UnwindRule::Kind::kRegister:
      if (rule.from >= kUnwindRegisters) return false;
      *value = registers[rule.from] + offset;
      return true;
    case UnwindRule::Kind::kAtExpression:
      return Evaluate(row, rule, registers, stack, {frame}, value) && stack.Read(*value, value);
    case UnwindRule::Kind::kIsExpression:
      return Evaluate(row, rule, registers, stack, {frame}, value);
  }
  return false;
}

}  // namespace

std::optional<UnwindRow> FindUnwindRow(const ObjectReader& object, std::uint64_t index,
                                       std::uint64_t address) {
  const std::uint64_t place = FindEntry(object, index, address);
  Entry function, shared;
  if (place == 0 || !ReadEntry(object, place, &function)) return std::nullopt;
  ByteReader from(function.bytes);
  const auto back = from.Take<std::uint32_t>();
  Common common;
  if (back == 0 || !ReadEntry(object, function.place - back, &shared) ||
      !ParseCommon(shared, &common))
    return std::nullopt;
  UnwindRow row;
  std::uint64_t bytes = 0;
  if (!TakePointer(&from, common.encoding, function.place + from.at(), &row.function) ||
      !TakePointer(&from, common.encoding & kFormat, 0, &bytes) || address < row.function ||
      address - row.function >= bytes)
    return std::nullopt;
  if (common.has_augmentation) from.TakeBytes(from.TakeUnsigned());
  RowProgram program(common, address, &row);
  // What is common holds from the beginning, at any address.
  if (!program.Run(common.instructions, address)) return std::nullopt;
  program.KeepFirst();
  if (!program.Run(from.TakeBytes(from.left()), row.function)) return std::nullopt;
  row.bytes = program.TakeExpressions();
  row.is_signal = common.is_signal;
  return row;
}

UnwindResult UnwindFrame(const UnwindRow& row, const StackCopy& stack, RegisterValues* registers) {
  std::uint64_t frame = 0;
  if (row.registers[kReturnAddress].kind == UnwindRule::Kind::kUndefined)
    return UnwindResult::kOutermost;
  if (!FrameAddress(row, stack, *registers, &frame)) return UnwindResult::kLost;
  RegisterValues callers = *registers;
  callers[kRsp] = frame;
  for (std::size_t i = 0; i < kUnwindRegisters; ++i) {
    // Of others than the return address it does not matter yet.
    if (!CallersValue(row, row.registers[i], stack, *registers, frame, &callers[i]) &&
        i == kReturnAddress)
      return UnwindResult::kLost;
  }
  if (callers[kReturnAddress] == 0) return UnwindResult::kOutermost;
  // A caller's frame lies further out, or this would never end.
  if (callers[kRsp] <= (*registers)[kRsp]) return UnwindResult::kLost;
  *registers = callers;
  return UnwindResult::kCaller;
}

}  // namespace traceinject
