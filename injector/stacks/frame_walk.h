// SPDX-License-Identifier: Apache-2.0
// The frames of a thread of Python, read out of memory that the thread may be changing meanwhile:
// no lock of the interpreter, no object of it touched.
//
// Nothing here allocates: it also runs on the program's threads, for their own frames.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "injector/stacks/process_memory.h"
#include "injector/stacks/python_layout.h"

namespace traceinject {

// A frame as it was read. Of one that C code put between others, only its place in the chain
// counts.
struct ChainFrame {
  std::uint64_t address, previous, code;
  std::int64_t instruction;
  std::uint64_t first_local;
  bool is_python;
  bool may_run;   // not one that ended, or has not begun
  bool is_entry;  // C code called it, or it stands for C code that called the one before it
  bool may_be_outermost;
};

inline ChainFrame DecodeFrame(const PythonLayout& layout, std::uint64_t address,
                              const char* frame) {
  constexpr std::uint8_t kOwnedByGenerator = 1, kOwnedByC = 3;
  ChainFrame words{address, 0, 0, 0, 0, true, true, true, true};
  const auto byte = [&](std::uint32_t offset) { return static_cast<std::uint8_t>(frame[offset]); };
  std::memcpy(&words.code, frame + layout.frame_code, 8);
  words.code &= ~layout.code_tags;
  std::memcpy(&words.previous, frame + layout.frame_previous, 8);
  if (layout.lines == PythonLayout::Lines::kLocations) {
    std::memcpy(&words.instruction, frame + layout.frame_instruction, 8);
    const std::uint8_t owner = byte(layout.frame_owner);
    words.is_python = owner < kOwnedByC;
    words.may_run = owner <= layout.last_owner;
    // Since 3.12 C code puts a frame of its own before the first one.
    words.is_entry = layout.frame_entry == PythonLayout::kNone ? !words.is_python
                                                               : byte(layout.frame_entry) != 0;
    words.may_be_outermost = words.is_entry && owner != kOwnedByGenerator;
  } else {
    std::int32_t last = 0;
    std::memcpy(&last, frame + layout.frame_instruction, 4);
    words.instruction = last;
    constexpr std::uint8_t kExecuting = 0, kUnwinding = 2;  // of 3.10
    const std::uint8_t state = byte(layout.frame_state);
    words.may_run = layout.lines == PythonLayout::Lines::kPairs
                        ? state != 0
                        : state == kExecuting || state == kUnwinding;
  }
  return words;
}

// The offset of the instruction in its code, in bytes; negative: it has not begun. Below -2: the
// instruction is not of this code.
inline std::int64_t OffsetOfInstruction(const PythonLayout& layout, const ChainFrame& frame) {
  constexpr std::uint64_t kUnitBytes = 2;
  // What was read may be anything: no signed arithmetic, which may overflow.
  const auto instruction = static_cast<std::uint64_t>(frame.instruction);
  switch (layout.lines) {
    case PythonLayout::Lines::kPairs:
      return frame.instruction;
    case PythonLayout::Lines::kRanges:
      return frame.instruction < 0 ? frame.instruction
                                   : static_cast<std::int64_t>(instruction * kUnitBytes);
    case PythonLayout::Lines::kLocations:
      break;
  }
  return static_cast<std::int64_t>(instruction - (frame.code + layout.code_instructions));
}

inline bool IsPlausibleAddress(std::uint64_t address) {
  constexpr std::uint64_t kFirstPage = 4096, kLast = 1ULL << 56;
  return address >= kFirstPage && address < kLast && address % 8 == 0;
}

inline bool IsPlausibleFrame(const PythonLayout& layout, const ChainFrame& frame) {
  constexpr std::int64_t kLongestCode = 1 << 28;
  if (frame.previous == frame.address || !frame.may_run) return false;
  if (frame.previous == 0 && !frame.may_be_outermost) return false;
  if (!frame.is_python) return true;
  const std::int64_t offset = OffsetOfInstruction(layout, frame);
  return IsPlausibleAddress(frame.code) && offset >= -2 && offset <= kLongestCode;
}

enum class ChainEnd {
  kOutermost,
  kCut,  // there are more than fit: those that are further out are missing
  kLost  // what was read is no frame
};

// Where the chain of a thread begins.
struct ChainTop {
  static constexpr std::uint64_t kUnknown = 1;

  std::uint64_t frame = 0;  // the innermost; 0: it runs no Python
  // Of the C code that called the interpreter last, the frame that called it. In 3.11 and 3.12 a
  // thread that is about to run has for its innermost frame what was left on its C stack, often one
  // that ended long ago: this tells it from a real one.
  std::uint64_t caller = kUnknown;
};

// From the innermost frame on. `Blocks`: of MemoryBlocks. O(frames).
template <typename Blocks>
ChainEnd ReadChain(const PythonLayout& layout, Blocks* blocks, const ChainTop& top,
                   ChainFrame* chain, std::size_t most, std::size_t* count) {
  constexpr std::size_t kLongestFrame = 160;
  std::array<char, kLongestFrame> bytes;
  const std::size_t size = layout.frame_bytes();
  *count = 0;
  if (size > kLongestFrame) return ChainEnd::kLost;
  std::uint64_t frame = top.frame;
  bool is_checked = top.caller == ChainTop::kUnknown;
  // Before 3.11 a frame is the innermost one a little before it runs, and a little after.
  bool may_skip = layout.lines != PythonLayout::Lines::kLocations;
  while (frame != 0) {
    if (*count == most) return ChainEnd::kCut;
    if (!IsPlausibleAddress(frame) || !blocks->Read(frame, bytes.data(), size))
      return ChainEnd::kLost;
    ChainFrame read = DecodeFrame(layout, frame, bytes.data());
    if (may_skip && !read.may_run && read.previous != 0) {
      may_skip = false;
      frame = read.previous;
      continue;
    }
    may_skip = false;
    if (!IsPlausibleFrame(layout, read)) return ChainEnd::kLost;
    if (!is_checked && read.is_entry && read.previous != top.caller) return ChainEnd::kLost;
    is_checked |= read.is_entry;
    if (read.is_python) blocks->Read(frame + layout.frame_first_local, &read.first_local);
    chain[(*count)++] = read;
    frame = read.previous;
  }
  return ChainEnd::kOutermost;
}

// The thread runs while its chain is read, so that what was read is of no one moment. What two
// readings have in common, from the outermost frame inwards, is: those frames were there all the
// time, and stood where they stood in the first. Returns how many of the innermost frames of
// `first` are not, and may be torn; `first_count`: all. Both end at the outermost frame, or both
// are cut. O(frames).
inline std::size_t CountUnstable(const ChainFrame* first, std::size_t first_count,
                                 const ChainFrame* second, std::size_t second_count) {
  std::size_t left = first_count, left_of_second = second_count;
  while (left > 0 && left_of_second > 0) {
    const ChainFrame& one = first[left - 1];
    const ChainFrame& other = second[left_of_second - 1];
    if (one.address != other.address || one.previous != other.previous) break;
    if (one.is_python && one.code != other.code) break;
    --left;
    --left_of_second;
    // It goes on, and what it had called has returned.
    if (one.is_python && one.instruction != other.instruction) break;
  }
  return left;
}

}  // namespace traceinject
