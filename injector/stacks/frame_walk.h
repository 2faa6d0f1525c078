// SPDX-License-Identifier: Apache-2.0
// The frames of a thread of Python, read out of memory that the thread may be changing meanwhile:
// no lock of the interpreter, no object of it touched. What is seen to have changed is reported so;
// what was torn and looks right may pass, so that one sample is no proof, and many are.
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

// A frame: the address of its code object, and the offset in bytes of the instruction at which it
// stands; negative: it has not begun.
struct RawFrame {
  std::uint64_t code;
  std::int64_t offset;
};

enum class WalkResult {
  kWhole,
  kCut,  // there are more than fit: those that are further out are missing
  kTorn  // it changed under our eyes, or is not what it was taken for
};

// What a frame says, once it was read.
struct FrameWords {
  std::uint64_t code = 0, previous = 0;
  std::int64_t instruction = 0;
  bool is_python = true;  // not one that C code put between others
};

inline FrameWords DecodeFrame(const PythonLayout& layout, const char* frame) {
  constexpr std::uint8_t kOwnedByC = 3;  // and above
  FrameWords words;
  std::memcpy(&words.code, frame + layout.frame_code, 8);
  words.code &= ~layout.code_tags;
  std::memcpy(&words.previous, frame + layout.frame_previous, 8);
  if (layout.lines == PythonLayout::Lines::kLocations) {
    std::memcpy(&words.instruction, frame + layout.frame_instruction, 8);
    words.is_python = static_cast<std::uint8_t>(frame[layout.frame_owner]) < kOwnedByC;
  } else {
    std::int32_t last = 0;
    std::memcpy(&last, frame + layout.frame_instruction, 4);
    words.instruction = last;
  }
  return words;
}

// The offset of the instruction in its code; below -2: it is not of this code.
inline std::int64_t OffsetOfInstruction(const PythonLayout& layout, const FrameWords& words) {
  constexpr std::int64_t kUnitBytes = 2;
  switch (layout.lines) {
    case PythonLayout::Lines::kPairs:
      return words.instruction;
    case PythonLayout::Lines::kRanges:
      return words.instruction < 0 ? words.instruction : words.instruction * kUnitBytes;
    case PythonLayout::Lines::kLocations:
      break;
  }
  return words.instruction - static_cast<std::int64_t>(words.code + layout.code_instructions);
}

inline bool IsPlausibleAddress(std::uint64_t address) {
  constexpr std::uint64_t kFirstPage = 4096, kLast = 1ULL << 56;
  return address >= kFirstPage && address < kLast && address % 8 == 0;
}

template <typename Blocks>
class FrameWalk {
 public:
  // All outlive this.
  FrameWalk(const PythonLayout* layout, const ProcessMemory* memory, Blocks* blocks)
      : layout_(layout), memory_(memory), blocks_(blocks) {}

  // From the innermost frame, at `frame`, on. O(frames).
  WalkResult Walk(std::uint64_t frame, RawFrame* frames, std::size_t most, std::size_t* count) {
    *count = 0;
    bounds_ = 0;
    const WalkResult result = Follow(frame, frames, most, count);
    // What is further out was read later: it is right if what it called is still there.
    return result == WalkResult::kTorn || !BoundsStand() ? WalkResult::kTorn : result;
  }

 private:
  static constexpr std::size_t kLongestFrame = 160, kMostBounds = 32;

  WalkResult Follow(std::uint64_t frame, RawFrame* frames, std::size_t most, std::size_t* count) {
    constexpr std::int64_t kLongestCode = 1 << 28;
    std::array<char, kLongestFrame> bytes;
    const std::size_t size = layout_->frame_bytes();
    if (size > kLongestFrame) return WalkResult::kTorn;
    // Frames of C stand between those of Python.
    for (std::size_t steps = 0; frame != 0; ++steps) {
      if (steps > 3 * most) return WalkResult::kTorn;
      const std::size_t before = blocks_->loads();
      if (!IsPlausibleAddress(frame) || !blocks_->Read(frame, bytes.data(), size))
        return WalkResult::kTorn;
      if (blocks_->loads() != before && steps != 0) NoteBound();
      const FrameWords words = DecodeFrame(*layout_, bytes.data());
      last_ = {frame, words.code, words.previous};
      if (words.is_python) {
        if (*count == most) return WalkResult::kCut;
        const std::int64_t offset = OffsetOfInstruction(*layout_, words);
        if (!IsPlausibleAddress(words.code) || offset < -2 || offset > kLongestCode)
          return WalkResult::kTorn;
        frames[(*count)++] = {words.code, offset};
      }
      if (words.previous == frame) return WalkResult::kTorn;
      frame = words.previous;
    }
    return WalkResult::kWhole;
  }

  struct Bound {
    std::uint64_t frame, code, previous;
  };

  void NoteBound() {
    if (bounds_ < kMostBounds) bound_[bounds_++] = last_;
  }

  bool BoundsStand() const {
    std::array<std::uint64_t, kMostBounds> addresses;
    std::array<char, kMostBounds * kLongestFrame> bytes;
    if (bounds_ == 0) return true;
    const std::size_t size = layout_->frame_bytes();
    for (std::size_t i = 0; i < bounds_; ++i) addresses[i] = bound_[i].frame;
    if (memory_->ReadPieces(addresses.data(), bounds_, bytes.data(), size) != bounds_) return false;
    for (std::size_t i = 0; i < bounds_; ++i) {
      const FrameWords words = DecodeFrame(*layout_, bytes.data() + i * size);
      if (words.code != bound_[i].code || words.previous != bound_[i].previous) return false;
    }
    return true;
  }

  const PythonLayout* layout_;
  const ProcessMemory* memory_;
  Blocks* blocks_;
  Bound last_{};
  std::array<Bound, kMostBounds> bound_;
  std::size_t bounds_ = 0;
};

}  // namespace traceinject
