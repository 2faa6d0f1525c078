// SPDX-License-Identifier: Apache-2.0
// Where CPython keeps what tells of its stacks: offsets in its structures. Up to 3.12 they depend
// on the minor version alone and stand in a table here, which python_layout_test.cc holds against
// the headers that are installed; from 3.13 on the interpreter tells them itself, at the beginning
// of _PyRuntime (_Py_DebugOffsets, pycore_debug_offsets.h).
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "injector/stacks/process_memory.h"

namespace traceinject {

struct PythonLayout {
  static constexpr std::uint32_t kNone = UINT32_MAX;

  // How a frame says where it stands, and in what form its code keeps lines.
  enum class Lines {
    kPairs,     // 3.8, 3.9: offset in bytes; co_lnotab
    kRanges,    // 3.10: offset in units; co_linetable of PEP 626
    kLocations  // since 3.11: address of a unit; co_linetable of Objects/locations.md
  };

  int minor = 0;
  Lines lines = Lines::kPairs;
  // _PyRuntime, PyInterpreterState, PyThreadState
  std::uint32_t interpreters_head = 0, interpreter_next = 0, threads_head = 0;
  std::uint32_t thread_next = 0, thread_interpreter = 16, thread_id = 0;
  std::uint32_t native_thread_id = kNone;  // none before 3.11
  std::uint32_t thread_frame = 0;          // of what leads to the innermost frame
  // 3.11, 3.12: thread_frame is of a _PyCFrame, these are in it.
  std::uint32_t cframe_frame = kNone, cframe_previous = kNone;
  // _PyInterpreterFrame; before 3.11 PyFrameObject
  std::uint32_t frame_code = 0, frame_previous = 0, frame_instruction = 0;
  std::uint32_t frame_owner = kNone;    // a byte, since 3.11
  std::uint32_t frame_state = kNone;    // a byte, before 3.11: f_executing, in 3.10 f_state
  std::uint32_t frame_entry = kNone;    // a byte, 3.11: C code began here (is_entry)
  std::uint32_t frame_first_local = 0;  // its first argument, if it has one
  std::uint8_t last_owner = 2;          // of those that frame_owner can tell
  std::uint64_t code_tags = 0;          // bits of frame_code that are no address
  // PyCodeObject
  std::uint32_t code_file = 0, code_name = 0, code_first_line = 0, code_lines = 0;
  std::uint32_t code_instructions = 0;  // since 3.11 the instructions themselves
  // PyObject, PyVarObject, PyUnicodeObject, PyBytesObject
  std::uint32_t object_type = 8, size = 16;
  std::uint32_t text_length = 16, text_state = 32, text_ascii = 0, text_wide = 0;
  int text_kind_shift = 2;  // of the bits kind (3), compact (1), ascii (1) in the state
  std::uint32_t bytes_data = 32;
  // PyTypeObject, PyDictObject, PyHeapTypeObject: what attributes are found by
  // (attribute_reader.h). kNone: they are not read of this version.
  std::uint32_t type_name = 24, type_size = 32, type_dict_offset = 288;
  std::uint32_t dict_keys = 32, dict_values = 40;
  std::uint32_t type_keys = kNone;  // ht_cached_keys, since 3.11
  std::uint32_t values_begin = 0;   // of the values of a dict that shares its keys
  bool has_attributes() const { return type_name != kNone; }

  // Of frames and code objects, what of them has to be read.
  std::uint32_t frame_bytes() const;
};

// Of one that the table has (3.8 to 3.12).
std::optional<PythonLayout> LayoutOfVersion(int minor);

// As the interpreter at `runtime` (_PyRuntime) tells it, 3.13 and later. Empty: `why`.
std::optional<PythonLayout> LayoutOfRuntime(const ProcessMemory& memory, std::uint64_t runtime,
                                            std::string* why);

}  // namespace traceinject
