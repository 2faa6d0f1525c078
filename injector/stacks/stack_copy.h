// SPDX-License-Identifier: Apache-2.0
// A thread's stack as it was at a moment: a copy of its memory and of the registers that calls
// preserve. Taken by the thread itself in a few microseconds, whatever runs there: nothing of the
// program is looked at but the bytes of its stack, no lock taken, nothing allocated. What it means
// is found out later (stack_unwinder.h).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "injector/base/events.h"

namespace traceinject {

// Registers by their numbers in DWARF (System V ABI, AMD64 supplement, figure 3.36).
enum UnwindRegister : std::uint32_t {
  kRbx = 3,
  kRbp = 6,
  kRsp = 7,
  kR12 = 12,
  kR13 = 13,
  kR14 = 14,
  kR15 = 15,
  kReturnAddress = 16,  // rip
};
inline constexpr std::size_t kUnwindRegisters = 17;

// Those of NativeStackEvent, in this order.
inline constexpr std::array<UnwindRegister, NativeStackEvent::kRegisters> kCopiedRegisters = {
    kRbx, kRbp, kRsp, kR12, kR13, kR14, kR15, kReturnAddress};

// How much of a stack is copied at most: some 100 frames of usual size.
inline constexpr std::size_t kMaxStackBytes = 16 << 10;

// What of a stack a copy holds.
class StackCopy {
 public:
  StackCopy(std::uint64_t base, const char* bytes, std::size_t size)
      : base_(base), bytes_(bytes), size_(size) {}

  // False: it is not in the copy.
  bool Read(std::uint64_t address, std::uint64_t* value) const {
    if (address < base_ || address - base_ > size_ || size_ - (address - base_) < sizeof *value)
      return false;
    std::memcpy(value, bytes_ + (address - base_), sizeof *value);
    return true;
  }

 private:
  std::uint64_t base_;
  const char* bytes_;
  std::size_t size_;
};

// Whether the code here tells how; of other processors no native stacks are taken.
#ifdef __x86_64__
inline constexpr bool kCopiesStacks = true;
#else
inline constexpr bool kCopiesStacks = false;
#endif

// The calling thread's, from the caller of this on, as an event of its ring; `kind`: of
// stack_sample. Left out where the ring has other things to hold.
void EmitStackCopy(int kind, std::int64_t start_ns, std::int64_t end_ns);

}  // namespace traceinject
