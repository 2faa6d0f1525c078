// SPDX-License-Identifier: Apache-2.0
// How the frame of a function leads to its caller's, at one instruction: what the compiler wrote
// down for exceptions (.eh_frame, System V ABI and DWARF 5, 6.4). It may be missing, or be
// anything.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>

#include "injector/stacks/stack_copy.h"

namespace traceinject {

// Where the caller's value of a register is.
struct UnwindRule {
  enum class Kind : std::uint8_t {
    kSame,          // in the register: the function does not touch it
    kUndefined,     // nowhere; of the return address: there is no caller
    kAtOffset,      // in memory, at an offset from the frame's address (CFA)
    kIsOffset,      // it is the frame's address and an offset
    kRegister,      // in another register, and an offset
    kAtExpression,  // in memory, where an expression says
    kIsExpression   // it is what an expression says
  };
  Kind kind = Kind::kSame;
  std::uint32_t from = 0;   // the register; of an expression where it begins in UnwindRow::bytes
  std::int64_t offset = 0;  // of an expression how long it is
};

struct UnwindRow {
  UnwindRule frame;  // the frame's address: kRegister or kIsExpression
  std::array<UnwindRule, kUnwindRegisters> registers;
  std::string bytes;           // of expressions
  std::uint64_t function = 0;  // where the function begins
  bool is_signal = false;      // of what a signal handler returns to: no call led there
};

// Reads bytes of an object at its own addresses. False: not all of them are there.
using ObjectReader = std::function<bool(std::uint64_t address, void* to, std::size_t bytes)>;

// The row of the instruction at `address`; `index`: where .eh_frame_hdr is. Empty: none is known,
// or what is there is no such table. O(log functions).
std::optional<UnwindRow> FindUnwindRow(const ObjectReader& object, std::uint64_t index,
                                       std::uint64_t address);

using RegisterValues = std::array<std::uint64_t, kUnwindRegisters>;

enum class UnwindResult {
  kCaller,
  kOutermost,  // it has no caller
  kLost        // the copy of the stack does not hold it, or what was found cannot be
};

// From a frame's registers to its caller's; otherwise they stay.
UnwindResult UnwindFrame(const UnwindRow& row, const StackCopy& stack, RegisterValues* registers);

}  // namespace traceinject
