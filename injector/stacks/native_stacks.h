// SPDX-License-Identifier: Apache-2.0
// What copies of stacks tell: which functions of the program's machine code called one another.
// The writer thread's own.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "injector/base/events.h"
#include "injector/stacks/loaded_code.h"
#include "injector/stacks/stack_copy.h"
#include "injector/stacks/unwind_row.h"

namespace traceinject {

class NativeStacks {
 public:
  static constexpr std::size_t kMaxFrames = 64;
  // What is known of instructions; beyond it wants to be forgotten.
  static constexpr std::size_t kMaxCodes = 20'000;

  // `ours`: code of this library, whose frames are on no stack.
  explicit NativeStacks(const void* ours);

  // Looks at what is loaded: that there is something new is known. Else it is done now and then.
  void LookAtCode();

  struct Stack {
    // The innermost first, without this library's, and those of code that no file has.
    std::vector<std::uint32_t> functions;
    bool is_cut = false;  // outer ones are missing
  };
  Stack Unwind(const NativeStackEvent& event);

  struct Function {
    const ObjectFile* object = nullptr;
    std::uint64_t begin = 0;  // there; of one whose extent is not known an instruction
    std::string name;         // as the linker knows it; empty: Name() was not called
  };
  const Function& function(std::uint32_t number) const { return functions_[number]; }
  // Finds the names of those that were met. O(symbols) for each object with some.
  void Name();

  bool IsFull() const { return codes_.size() > kMaxCodes; }
  // Numbers of functions are no longer valid.
  void Forget();

 private:
  // For the number of a function: of code of no file, of this library; there is no code.
  static constexpr std::uint32_t kUnknown = UINT32_MAX - 2, kOurs = UINT32_MAX - 1,
                                 kNowhere = UINT32_MAX;

  // An instruction of the program.
  struct Code {
    std::uint32_t function = kNowhere;
    std::optional<UnwindRow> row;
  };
  const Code& CodeAt(std::uint64_t address);
  Code FindCode(std::uint64_t address);
  bool Find(std::uint64_t address, LoadedCode::Code* to);
  // False: the last look is not so long ago.
  bool LookAfter(std::int64_t ns);
  UnwindResult Step(const Code& code, const StackCopy& stack, RegisterValues* registers);
  UnwindResult FollowFramePointer(const StackCopy& stack, RegisterValues* registers);
  std::uint32_t FunctionAt(const ObjectFile* object, std::uint64_t begin);

  const ProcessMemory memory_;
  LoadedCode loaded_;
  const std::uint64_t our_code_;
  const ObjectFile* ours_ = nullptr;
  std::int64_t last_look_ns_ = 0;
  std::unordered_map<std::uint64_t, Code> codes_;  // by address
  std::vector<Function> functions_;
  std::map<std::pair<const ObjectFile*, std::uint64_t>, std::uint32_t> numbers_;
  std::size_t named_ = 0;  // functions up to here have names
};

}  // namespace traceinject
