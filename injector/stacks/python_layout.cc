// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/python_layout.h"

#include <algorithm>
#include <cstring>

namespace traceinject {
namespace {

constexpr std::uint64_t kLongestFrame = 256;

PythonLayout LayoutBefore3_11(int minor) {
  PythonLayout layout;
  layout.minor = minor;
  layout.lines = minor < 10 ? PythonLayout::Lines::kPairs : PythonLayout::Lines::kRanges;
  layout.interpreters_head = 32;
  layout.threads_head = 8;
  layout.thread_next = 8;
  layout.thread_id = 176;
  layout.thread_frame = 24;
  layout.frame_code = 32;
  layout.frame_previous = 24;
  layout.frame_instruction = minor < 10 ? 104 : 96;
  layout.frame_state = minor < 10 ? 116 : 108;
  layout.frame_first_local = minor < 10 ? 360 : 352;
  layout.code_file = 104;
  layout.code_name = 112;
  layout.code_first_line = 40;
  layout.code_lines = 120;
  layout.code_instructions = 48;
  layout.text_ascii = 48;
  layout.text_wide = 72;
  return layout;
}

PythonLayout LayoutOf3_11() {
  PythonLayout layout;
  layout.minor = 11;
  layout.lines = PythonLayout::Lines::kLocations;
  layout.interpreters_head = 40;
  layout.threads_head = 16;
  layout.thread_next = 8;
  layout.thread_id = 152;
  layout.native_thread_id = 160;
  layout.thread_frame = 56;
  layout.cframe_frame = 8;
  layout.cframe_previous = 16;
  layout.frame_code = 32;
  layout.frame_previous = 48;
  layout.frame_instruction = 56;
  layout.frame_owner = 69;
  layout.frame_entry = 68;
  layout.frame_first_local = 72;
  layout.type_keys = 872;
  layout.code_file = 112;
  layout.code_name = 128;
  layout.code_first_line = 72;
  layout.code_lines = 136;
  layout.code_instructions = 184;
  layout.text_ascii = 48;
  layout.text_wide = 72;
  return layout;
}

PythonLayout LayoutOf3_12() {
  PythonLayout layout = LayoutOf3_11();
  layout.minor = 12;
  layout.threads_head = 72;
  layout.thread_id = 136;
  layout.native_thread_id = 144;
  layout.cframe_frame = 0;
  layout.cframe_previous = 8;
  layout.frame_code = 0;
  layout.frame_previous = 8;
  layout.frame_owner = 70;
  layout.frame_entry = PythonLayout::kNone;
  layout.type_keys = 880;
  layout.last_owner = 3;
  layout.code_first_line = 68;
  layout.code_instructions = 192;
  layout.text_ascii = 40;
  layout.text_wide = 56;
  return layout;
}

// The beginning of _PyRuntime, as numbers of 64 bits. What is not named here is not needed.
struct OffsetsOf3_13 {
  enum : std::size_t {
    kCookie = 0,
    kVersion = 1,
    kFreeThreaded = 2,
    kInterpretersHead = 5,
    kInterpreterNext = 8,
    kThreadsHead = 9,
    kThread = 19,  // size, and the others from there on
    kCount = 80
  };
};

// Places of the structures in the offsets, which grow from version to version.
struct OffsetPlaces {
  std::size_t thread, frame, code, object, tuple, bytes, text;
};

// 3.13: thread (9), frame (6), code (10), object (2), type (4), tuple (3), list (3), dict (3),
// float (2), long (3), bytes (3), text (4).
constexpr OffsetPlaces kPlacesOf3_13 = {19, 28, 34, 44, 50, 64, 67};
// 3.14: three more of the interpreter, two of frames, one of code, and sets (4).
constexpr OffsetPlaces kPlacesOf3_14 = {22, 31, 39, 50, 56, 74, 77};

// Offsets in structures, which are small: larger ones are those of another layout.
bool ArePlausible(const PythonLayout& layout, std::uint64_t frame_size) {
  const auto is_small = [](std::uint32_t offset, std::uint32_t most) { return offset <= most; };
  return frame_size <= kLongestFrame && is_small(layout.frame_code, 128) &&
         is_small(layout.frame_previous, 128) && is_small(layout.frame_instruction, 128) &&
         is_small(layout.frame_owner, 128) && is_small(layout.frame_first_local, 128) &&
         is_small(layout.thread_next, 64) && is_small(layout.thread_interpreter, 64) &&
         is_small(layout.thread_frame, 512) && is_small(layout.thread_id, 1024) &&
         is_small(layout.native_thread_id, 1024) && is_small(layout.code_instructions, 1024) &&
         is_small(layout.code_file, 512) && is_small(layout.code_name, 512) &&
         is_small(layout.code_lines, 512) && is_small(layout.code_first_line, 512) &&
         is_small(layout.object_type, 32) && is_small(layout.text_ascii, 128) &&
         is_small(layout.text_state, 64) && is_small(layout.text_length, 64) &&
         is_small(layout.bytes_data, 64) && is_small(layout.size, 64);
}

}  // namespace

std::uint32_t PythonLayout::frame_bytes() const {
  std::uint32_t bytes = std::max({frame_code, frame_previous, frame_instruction}) + 8;
  for (const std::uint32_t byte : {frame_owner, frame_state, frame_entry}) {
    if (byte != kNone) bytes = std::max(bytes, byte + 1);
  }
  return bytes;
}

std::optional<PythonLayout> LayoutOfVersion(int minor) {
  switch (minor) {
    case 8:
    case 9:
    case 10:
      return LayoutBefore3_11(minor);
    case 11:
      return LayoutOf3_11();
    case 12:
      return LayoutOf3_12();
    default:
      return std::nullopt;
  }
}

std::optional<PythonLayout> LayoutOfRuntime(const ProcessMemory& memory, std::uint64_t runtime,
                                            std::string* why) {
  using At = OffsetsOf3_13;
  std::array<std::uint64_t, At::kCount + 8> told{};
  if (!memory.Read(runtime, told.data(), sizeof told) ||
      std::memcmp(told.data(), "xdebugpy", 8) != 0) {
    *why = "the interpreter does not tell its offsets";
    return std::nullopt;
  }
  const int minor = static_cast<int>(told[At::kVersion] >> 16 & 0xFF);
  const bool free_threaded = told[At::kFreeThreaded] != 0;
  if (told[At::kVersion] >> 24 != 3 || minor < 13 || minor > 14) {
    *why = "this version of Python is not known";
    return std::nullopt;
  }
  if (minor == 14 && free_threaded) {
    // Each thread may have its own copy of the instructions.
    *why = "free-threaded Python 3.14 is not supported";
    return std::nullopt;
  }
  const OffsetPlaces at = minor == 13 ? kPlacesOf3_13 : kPlacesOf3_14;
  const auto offset = [&](std::size_t place) {
    return static_cast<std::uint32_t>(std::min<std::uint64_t>(told[place], 1 << 20));
  };
  PythonLayout layout;
  layout.minor = minor;
  layout.lines = PythonLayout::Lines::kLocations;
  layout.interpreters_head = offset(At::kInterpretersHead);
  layout.interpreter_next = offset(At::kInterpreterNext);
  layout.threads_head = offset(At::kThreadsHead);
  layout.thread_next = offset(at.thread + 2);
  layout.thread_interpreter = offset(at.thread + 3);
  layout.thread_frame = offset(at.thread + 4);
  layout.thread_id = offset(at.thread + 5);
  layout.native_thread_id = offset(at.thread + 6);
  layout.frame_previous = offset(at.frame + 1);
  layout.frame_code = offset(at.frame + 2);
  layout.frame_instruction = offset(at.frame + 3);
  layout.frame_first_local = offset(at.frame + 4);
  layout.frame_owner = offset(at.frame + 5);
  layout.last_owner = minor >= 14 ? 4 : 3;  // 3.14: the interpreter's own, and the C stack's
  if (minor >= 14) layout.code_tags = 7;
  layout.code_file = offset(at.code + 1);
  layout.code_name = offset(at.code + 3);
  layout.code_lines = offset(at.code + 4);
  layout.code_first_line = offset(at.code + 5);
  layout.code_instructions = offset(at.code + 9);
  layout.object_type = offset(at.object + 1);
  layout.size = offset(at.tuple + 2);
  layout.bytes_data = offset(at.bytes + 2);
  layout.text_state = offset(at.text + 1);
  layout.text_length = offset(at.text + 2);
  layout.text_ascii = offset(at.text + 3);
  layout.text_wide = layout.text_ascii + 16;  // the cached UTF-8 and its length come first
  if (free_threaded || minor >= 14) {
    layout.type_name = PythonLayout::kNone;  // attributes are kept otherwise
  } else {
    layout.type_keys = 880;
    layout.values_begin = 8;
  }
  if (free_threaded) layout.text_kind_shift = 8;
  if (minor >= 14) layout.text_kind_shift = 16;
  if (!ArePlausible(layout, told[at.frame])) {
    *why = "the interpreter tells offsets that cannot be";
    return std::nullopt;
  }
  return layout;
}

}  // namespace traceinject
