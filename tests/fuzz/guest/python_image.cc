// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/guest/python_image.h"

#include <pthread.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace traceinject {
namespace {

constexpr std::size_t kToldWords = 88;  // at the beginning of _PyRuntime, since 3.13
constexpr std::size_t kObjectBytes = 48;

// Where 3.13 and 3.14 tell of what (python_layout.cc).
struct ToldAt {
  std::size_t thread, frame, code, object, tuple, bytes, text;
};
constexpr ToldAt kToldBy3_13 = {19, 28, 34, 44, 50, 64, 67};
constexpr ToldAt kToldBy3_14 = {22, 31, 39, 50, 56, 74, 77};

// A word that may stand for anything that is kept in one.
std::uint64_t SomeWord(InputBytes& input, std::uint64_t own, std::uint64_t base,
                       std::size_t bytes) {
  switch (input.Below(8)) {
    case 0:
      return 0;
    case 1:
      return ~std::uint64_t{0};
    case 2:
      return std::uint64_t{1} << input.Byte() % 64;
    case 3:
      return own;
    case 4:
      return base + input.Number(2) % bytes;
    case 5:
      return base + input.Number(2) % bytes / 8 * 8;
    case 6:
      return input.Number(2);
    default:
      return input.Number(8);
  }
}

}  // namespace

PythonImage::PythonImage(std::span<std::uint64_t> memory)
    : memory_(memory), base_(reinterpret_cast<std::uint64_t>(memory.data())) {
  std::ranges::fill(memory_, 0);
  next_ = base_ + (kToldWords + 4) * 8;
}

std::uint64_t PythonImage::Allocate(std::size_t bytes) {
  const std::size_t aligned = (bytes + 7) / 8 * 8;
  if (next_ - base_ + aligned > memory_.size_bytes()) return base_;
  return std::exchange(next_, next_ + aligned);
}

void PythonImage::Put(std::uint64_t address, const void* from, std::size_t bytes) {
  const std::uint64_t offset = address - base_;
  if (offset > memory_.size_bytes() || bytes > memory_.size_bytes() - offset) return;
  std::memcpy(reinterpret_cast<char*>(memory_.data()) + offset, from, bytes);
}

void PythonImage::TellOffsets(int minor, InputBytes& input) {
  const PythonLayout like = *LayoutOfVersion(12);
  const ToldAt at = minor == 13 ? kToldBy3_13 : kToldBy3_14;
  std::array<std::uint64_t, kToldWords> told{};
  std::memcpy(told.data(), "xdebugpy", 8);
  const std::uint8_t flags = input.Byte();
  told[1] = std::uint64_t{3} << 24 | static_cast<std::uint64_t>(minor) << 16 | 0x1f0;
  told[2] = flags % 4 == 3 ? 1 : 0;
  told[5] = kToldWords * 8;
  told[8] = like.interpreter_next;
  told[9] = like.threads_head;
  const std::uint64_t thread[] = {like.thread_next, like.thread_interpreter, like.thread_frame,
                                  like.thread_id, like.native_thread_id};
  std::ranges::copy(thread, told.begin() + static_cast<std::ptrdiff_t>(at.thread) + 2);
  const std::uint64_t frame[] = {88,
                                 like.frame_previous,
                                 like.frame_code,
                                 like.frame_instruction,
                                 like.frame_first_local,
                                 like.frame_owner};
  std::ranges::copy(frame, told.begin() + static_cast<std::ptrdiff_t>(at.frame));
  told[at.code + 1] = like.code_file;
  told[at.code + 3] = like.code_name;
  told[at.code + 4] = like.code_lines;
  told[at.code + 5] = like.code_first_line;
  told[at.code + 9] = like.code_instructions;
  told[at.object + 1] = like.object_type;
  told[at.tuple + 2] = like.size;
  told[at.bytes + 2] = like.bytes_data;
  told[at.text + 1] = like.text_state;
  told[at.text + 2] = like.text_length;
  told[at.text + 3] = like.text_ascii;
  for (int changes = flags / 4 % 4; changes > 0; --changes) {
    std::uint64_t& word = told[input.Below(kToldWords)];
    word = SomeWord(input, word, 0, 512);
  }
  Put(base_, told.data(), sizeof told);
}

void PythonImage::AddTypes() {
  for (std::uint64_t* type : {&types_.code, &types_.text, &types_.bytes}) *type = Allocate(8);
}

void PythonImage::Build(const PythonLayout& layout, InputBytes& input) {
  layout_ = layout;
  AddTypes();
  std::uint64_t interpreter = 0;
  for (int count = input.Byte() % 2; count >= 0; --count) {
    const std::uint64_t next = interpreter;
    interpreter = Allocate(std::max(layout.threads_head, layout.interpreter_next) + 8);
    std::uint64_t thread = 0;
    for (int threads = input.Byte() % 4; threads > 0; --threads)
      thread = AddThread(input, interpreter, thread);
    Put(interpreter + layout.interpreter_next, next);
    Put(interpreter + layout.threads_head, thread);
  }
  Put(base_ + layout.interpreters_head, interpreter);
}

std::uint64_t PythonImage::AddThread(InputBytes& input, std::uint64_t interpreter,
                                     std::uint64_t next) {
  const std::uint8_t flags = input.Byte();
  std::uint64_t top = AddFrames(input);
  if (layout_.cframe_frame != PythonLayout::kNone) {
    // C code called the interpreter, before that other C code, from the outermost frame or none.
    const std::uint64_t outer = Allocate(24), inner = Allocate(24);
    Put(inner + layout_.cframe_frame, top);
    Put(inner + layout_.cframe_previous, outer);
    if ((flags & 1) != 0) Put(outer + layout_.cframe_frame, top);
    top = inner;
  }
  const bool has_native = layout_.native_thread_id != PythonLayout::kNone;
  const std::uint32_t last =
      std::max({layout_.thread_next, layout_.thread_interpreter, layout_.thread_id,
                layout_.thread_frame, has_native ? layout_.native_thread_id : 0});
  const std::uint64_t state = Allocate(last + 8);
  Put(state + layout_.thread_next, next);
  Put(state + layout_.thread_interpreter, interpreter);
  const std::int64_t tid = flags / 2 % 8;
  if (has_native) Put(state + layout_.native_thread_id, tid);
  if ((flags & 16) != 0) {
    Put(state + layout_.thread_id, static_cast<std::uint64_t>(pthread_self()));
  } else {
    const std::uint64_t thread = Allocate(16);
    Put(thread + kThreadIdOffset, static_cast<std::int32_t>(tid));
    Put(state + layout_.thread_id, thread);
  }
  Put(state + layout_.thread_frame, top);
  return state;
}

std::uint64_t PythonImage::AddFrames(InputBytes& input) {
  const std::uint8_t shape = input.Byte();
  std::uint64_t first = 0, frame = 0;
  for (int count = shape % 8; count > 0; --count) {
    frame = AddFrame(input, frame);
    if (first == 0) first = frame;
  }
  // More of them than can be.
  if (shape >= 240 && first != 0) Put(first + layout_.frame_previous, frame);
  return frame;
}

std::uint64_t PythonImage::AddFrame(InputBytes& input, std::uint64_t previous) {
  const std::uint8_t flags = input.Byte();
  const std::uint64_t frame =
      Allocate(std::max(layout_.frame_bytes(), layout_.frame_first_local + 8));
  const std::uint64_t code =
      (flags & 1) != 0 && !codes_.empty() ? codes_[input.Below(codes_.size())] : AddCode(input);
  const std::uint64_t object = (flags & 2) != 0 && !objects_.empty()
                                   ? objects_[input.Below(objects_.size())]
                                   : AddObject(input, (flags & 4) == 0);
  const std::int64_t offset = input.Byte() - std::int64_t{2};
  Put(frame + layout_.frame_code, code | (layout_.code_tags & flags));
  Put(frame + layout_.frame_previous, previous);
  Put(frame + layout_.frame_first_local, object);
  if (layout_.lines == PythonLayout::Lines::kLocations) {
    Put(frame + layout_.frame_instruction,
        static_cast<std::int64_t>(code + layout_.code_instructions) + offset);
    // The outermost frame is the C code's, or the one that it entered.
    const bool is_outermost = previous == 0 && flags < 240;
    std::uint8_t owner = flags / 16 % 4 == 3 ? 1 : 0;
    if (is_outermost && layout_.frame_entry == PythonLayout::kNone) owner = 3;
    if (flags >= 250) owner = flags - 248;
    Put(frame + layout_.frame_owner, owner);
    if (layout_.frame_entry != PythonLayout::kNone)
      Put(frame + layout_.frame_entry, static_cast<std::uint8_t>(is_outermost ? 1 : flags / 8 % 2));
  } else {
    Put(frame + layout_.frame_instruction, static_cast<std::int32_t>(offset));
    const bool runs = flags < 224;
    const bool counts = layout_.lines == PythonLayout::Lines::kPairs;
    Put(frame + layout_.frame_state, static_cast<std::uint8_t>(runs == counts ? 1 : 0));
  }
  return frame;
}

std::uint64_t PythonImage::AddCode(InputBytes& input) {
  const std::uint64_t code = Allocate(CodeBytes(layout_));
  Put(code + layout_.object_type, types_.code);
  Put(code + layout_.code_file, AddSomeText(input));
  Put(code + layout_.code_name, AddSomeText(input));
  Put(code + layout_.code_first_line, static_cast<std::int32_t>(input.Number(2)));
  Put(code + layout_.size, static_cast<std::int64_t>(input.Byte()));
  Put(code + layout_.code_lines, AddBytes(input.Take(input.Byte() % 64)));
  codes_.push_back(code);
  return code;
}

// `kind`: bytes of a character; 0: one of ASCII.
std::uint64_t PythonImage::AddText(std::uint32_t kind, std::string_view characters) {
  constexpr std::uint32_t kCompact = 8, kAscii = 16;
  const std::uint32_t begin = kind == 0 ? layout_.text_ascii : layout_.text_wide;
  const std::uint64_t text = Allocate(begin + characters.size() + 1);
  const std::uint32_t bytes = std::max(kind, 1U);
  Put(text + layout_.object_type, types_.text);
  Put(text + layout_.text_length, static_cast<std::int64_t>(characters.size() / bytes));
  Put(text + layout_.text_state, (bytes | kCompact | (kind == 0 ? kAscii : 0))
                                     << layout_.text_kind_shift);
  Put(text + begin, characters.data(), characters.size());
  return text;
}

std::uint64_t PythonImage::AddSomeText(InputBytes& input) {
  static constexpr std::uint32_t kKinds[] = {0, 1, 2, 4, 0, 0, 0, 3};
  const std::uint8_t choice = input.Byte();
  return AddText(kKinds[choice % 8], input.Take(choice / 8));
}

std::uint64_t PythonImage::AddBytes(std::string_view content) {
  const std::uint64_t bytes = Allocate(layout_.bytes_data + content.size() + 1);
  Put(bytes + layout_.object_type, types_.bytes);
  Put(bytes + layout_.size, static_cast<std::int64_t>(content.size()));
  Put(bytes + layout_.bytes_data, content.data(), content.size());
  return bytes;
}

// One that has attributes, in one of the ways in which versions keep them. A module has parts:
// those objects that there are.
std::uint64_t PythonImage::AddObject(InputBytes& input, bool is_module) {
  if (!layout_.has_attributes()) return Allocate(kObjectBytes);
  constexpr std::uint64_t kBefore = 32;  // of what the interpreter keeps in front of it
  const std::uint8_t flags = input.Byte();
  const bool is_managed = layout_.type_keys != PythonLayout::kNone && (flags & 1) == 0;
  const std::uint64_t object = Allocate(kBefore + kObjectBytes + 64) + kBefore;
  const std::uint64_t type =
      Allocate(std::max(layout_.type_dict_offset, is_managed ? layout_.type_keys : 0) + 8);
  std::vector<std::uint64_t> names, parts;
  for (const std::uint64_t part : objects_) {
    if (parts.size() == 4) break;
    names.push_back(AddSomeText(input));
    parts.push_back(part);
  }
  const std::uint64_t dict = AddDict(AddKeys(names, parts), 0);
  const std::uint64_t keys[] = {AddText(0, "training"), AddText(0, is_module ? "_modules" : "_a")};
  const std::uint64_t values[] = {type, dict};
  const std::uint64_t table = AddKeys(keys, values);
  const std::uint64_t name = AddBytes("Linear") + layout_.bytes_data;
  Put(object + layout_.object_type, type);
  Put(type + layout_.type_name, name);
  Put(type + layout_.type_size, std::uint64_t{kObjectBytes});
  if (!is_managed) {
    Put(type + layout_.type_dict_offset, std::int64_t{16});
    Put(object + 16, AddDict(table, (flags & 2) != 0 ? AddValues(values) : 0));
  } else {
    Put(type + layout_.type_dict_offset, std::int64_t{-1});
    Put(type + layout_.type_keys, table);
    // 3.11: beside the dict; 3.12: in its place, with a mark; 3.13: behind the object.
    if ((flags & 2) != 0) {
      Put(object - 24, AddDict(table, 0));
    } else if (layout_.minor == 11) {
      Put(object - 32, AddValues(values));
    } else if (layout_.minor == 12) {
      Put(object - 24, AddValues(values) - 1);
    } else {
      Put(object + kObjectBytes + layout_.values_begin, values, sizeof values);
    }
  }
  objects_.push_back(object);
  return object;
}

// `values`: 0: they are beside the keys.
std::uint64_t PythonImage::AddDict(std::uint64_t keys, std::uint64_t values) {
  const std::uint64_t dict = Allocate(layout_.dict_values + 8);
  Put(dict + layout_.dict_keys, keys);
  Put(dict + layout_.dict_values, values == 0 ? 0 : values - layout_.values_begin);
  return dict;
}

// A PyDictKeysObject with eight indices of a byte, and entries with or without hashes.
std::uint64_t PythonImage::AddKeys(std::span<const std::uint64_t> keys,
                                   std::span<const std::uint64_t> values) {
  const bool is_new = layout_.lines == PythonLayout::Lines::kLocations;
  const bool has_hash = !is_new || keys.size() % 2 == 1;
  const std::size_t indices = is_new ? 32 : 40, entry_bytes = has_hash ? 24 : 16;
  const std::uint64_t table = Allocate(indices + 8 + keys.size() * entry_bytes);
  if (is_new) {
    Put(table + 9, std::uint8_t{3});
    Put(table + 10, static_cast<std::uint8_t>(has_hash ? 0 : 1));
    Put(table + 24, static_cast<std::uint64_t>(keys.size()));
  } else {
    Put(table + 8, std::uint64_t{8});
    Put(table + 32, static_cast<std::uint64_t>(keys.size()));
  }
  for (std::size_t i = 0; i < keys.size(); ++i) {
    const std::uint64_t entry = table + indices + 8 + i * entry_bytes + (has_hash ? 8 : 0);
    Put(entry, keys[i]);
    Put(entry + 8, values[i]);
  }
  return table;
}

std::uint64_t PythonImage::AddValues(std::span<const std::uint64_t> values) {
  const std::uint64_t table = Allocate(values.size_bytes());
  Put(table, values.data(), values.size_bytes());
  return table;
}

void PythonImage::ChangeWords(InputBytes& input) {
  const std::size_t used = (next_ - base_) / 8;
  for (int changes = input.Byte() % 16; changes > 0; --changes) {
    std::uint64_t& word = memory_[input.Below(used)];
    word = SomeWord(input, reinterpret_cast<std::uint64_t>(&word), base_, used * 8);
  }
}

}  // namespace traceinject
