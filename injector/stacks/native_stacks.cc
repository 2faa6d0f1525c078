// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/native_stacks.h"

#include <cstdio>

#include "injector/base/clock.h"
#include "machine/proc_files.h"

namespace traceinject {
namespace {

// Between looks at the mappings of a process: where code is met that is not known, and where other
// code may have taken the place of some.
constexpr std::int64_t kLeastNsBetweenLooks = 200'000'000, kMostNsBetweenLooks = 1'000'000'000;

// Without what compilers append to the parts and copies that they make of a function.
std::string WithoutSuffix(const std::string& name) {
  const std::size_t suffix = name.find('.', 1);
  return suffix == std::string::npos ? name : name.substr(0, suffix);
}

// Of a function without one: where it is.
std::string NameByPlace(const ObjectFile& object, std::uint64_t begin) {
  char number[24];
  std::snprintf(number, sizeof number, "+0x%llx", static_cast<unsigned long long>(begin));
  return object.path().substr(object.path().rfind('/') + 1) + number;
}

}  // namespace

NativeStacks::NativeStacks(const void* ours) : our_code_(reinterpret_cast<std::uint64_t>(ours)) {
  LookAtCode();
}

void NativeStacks::LookAtCode() {
  last_look_ns_ = ReadClockNs(CLOCK_MONOTONIC);
  const auto maps = ReadTextFile("/proc/self/maps");
  if (maps && !loaded_.Refresh(*maps, memory_)) codes_.clear();
  LoadedCode::Code ours;
  if (ours_ == nullptr && loaded_.Find(our_code_, &ours)) ours_ = ours.object;
}

bool NativeStacks::LookAfter(std::int64_t ns) {
  if (ReadClockNs(CLOCK_MONOTONIC) - last_look_ns_ < ns) return false;
  LookAtCode();
  return true;
}

void NativeStacks::Forget() {
  codes_.clear();
  functions_.clear();
  numbers_.clear();
  named_ = 0;
}

bool NativeStacks::Find(std::uint64_t address, LoadedCode::Code* to) {
  if (loaded_.Find(address, to)) return true;
  return LookAfter(kLeastNsBetweenLooks) && loaded_.Find(address, to);
}

std::uint32_t NativeStacks::FunctionAt(const ObjectFile* object, std::uint64_t begin) {
  const auto [known, is_new] =
      numbers_.try_emplace({object, begin}, static_cast<std::uint32_t>(functions_.size()));
  if (is_new) functions_.push_back({object, begin, {}});
  return known->second;
}

NativeStacks::Code NativeStacks::FindCode(std::uint64_t address) {
  Code code;
  LoadedCode::Code found;
  if (!Find(address, &found)) return code;
  if (found.object == nullptr) {
    code.function = kUnknown;
    return code;
  }
  if (const std::uint64_t index = found.object->unwind_index(); index != 0) {
    const ObjectFile::Access file(*found.object);
    code.row = FindUnwindRow(
        [&](std::uint64_t at, void* to, std::size_t bytes) { return file.Read(at, to, bytes); },
        index, found.address);
  }
  code.function = found.object == ours_
                      ? kOurs
                      : FunctionAt(found.object, code.row ? code.row->function : found.address);
  return code;
}

const NativeStacks::Code& NativeStacks::CodeAt(std::uint64_t address) {
  const auto known = codes_.find(address);
  if (known != codes_.end()) return known->second;
  // It may look at what is loaded, and so clear them.
  Code code = FindCode(address);
  return codes_.insert_or_assign(address, std::move(code)).first->second;
}

// Of code without unwind tables: what compilers make keeps the caller's frame pointer and the
// address to return to where the register points, unless it uses that for something else.
UnwindResult NativeStacks::FollowFramePointer(const StackCopy& stack, RegisterValues* registers) {
  const std::uint64_t frame = (*registers)[kRbp];
  std::uint64_t callers_frame = 0, address = 0;
  LoadedCode::Code code;
  if (frame % 8 != 0 || frame < (*registers)[kRsp] || !stack.Read(frame, &callers_frame) ||
      !stack.Read(frame + 8, &address) || !Find(address - 1, &code))
    return UnwindResult::kLost;
  (*registers)[kRbp] = callers_frame;
  (*registers)[kRsp] = frame + 16;
  (*registers)[kReturnAddress] = address;
  return UnwindResult::kCaller;
}

UnwindResult NativeStacks::Step(const Code& code, const StackCopy& stack,
                                RegisterValues* registers) {
  return code.row ? UnwindFrame(*code.row, stack, registers) : FollowFramePointer(stack, registers);
}

NativeStacks::Stack NativeStacks::Unwind(const NativeStackEvent& event) {
  LookAfter(kMostNsBetweenLooks);
  Stack found;
  RegisterValues registers{};
  for (std::size_t i = 0; i < kCopiedRegisters.size(); ++i)
    registers[kCopiedRegisters[i]] = event.registers[i];
  const StackCopy stack(registers[kRsp], event.stack(), event.bytes);
  // A call leads to behind it, which may be another function; a signal to what it interrupted.
  bool is_behind_call = false;
  for (std::size_t frame = 0; frame < kMaxFrames; ++frame) {
    const Code& code = CodeAt(registers[kReturnAddress] - (is_behind_call ? 1 : 0));
    if (code.function == kNowhere) break;
    if (code.function < kUnknown) found.functions.push_back(code.function);
    is_behind_call = !(code.row && code.row->is_signal);
    const UnwindResult result = Step(code, stack, &registers);
    if (result == UnwindResult::kOutermost) return found;
    if (result == UnwindResult::kLost) break;
  }
  found.is_cut = true;
  return found;
}

void NativeStacks::Name() {
  std::map<const ObjectFile*, std::map<std::uint64_t, std::uint32_t>> unnamed;
  for (; named_ < functions_.size(); ++named_) {
    const Function& function = functions_[named_];
    unnamed[function.object][function.begin] = static_cast<std::uint32_t>(named_);
  }
  for (const auto& [object, functions] : unnamed) {
    std::vector<std::uint64_t> addresses;
    for (const auto& [begin, number] : functions) addresses.push_back(begin);
    const std::vector<std::string> names = object->NamesOf(addresses);
    auto name = names.begin();
    for (const auto& [begin, number] : functions) {
      functions_[number].name = name->empty() ? NameByPlace(*object, begin) : WithoutSuffix(*name);
      ++name;
    }
  }
}

}  // namespace traceinject
