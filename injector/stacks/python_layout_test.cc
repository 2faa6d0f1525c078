// SPDX-License-Identifier: Apache-2.0
#include "injector/stacks/python_layout.h"

#include <glob.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "injector/testing/test_support.h"

namespace traceinject {
namespace {

// Prints where the structures of the Python whose headers it is compiled with have their fields.
constexpr char kProgram[] = R"c(
#define Py_BUILD_CORE 1
#include <Python.h>
#include <stddef.h>
#include <stdio.h>
#include <frameobject.h>
#include "internal/pycore_pystate.h"
#if PY_VERSION_HEX >= 0x03090000
#include "internal/pycore_interp.h"
#include "internal/pycore_runtime.h"
#endif
#if PY_VERSION_HEX >= 0x030B0000
#include "internal/pycore_frame.h"
#include "internal/pycore_code.h"
#endif
#define P(name, value) printf("%s %zu\n", name, (size_t)(value))
int main(void) {
  P("interpreters_head", offsetof(_PyRuntimeState, interpreters.head));
  P("interpreter_next", offsetof(PyInterpreterState, next));
#if PY_VERSION_HEX >= 0x030B0000
  P("threads_head", offsetof(PyInterpreterState, threads.head));
#else
  P("threads_head", offsetof(PyInterpreterState, tstate_head));
#endif
  P("thread_next", offsetof(PyThreadState, next));
  P("thread_id", offsetof(PyThreadState, thread_id));
#if PY_VERSION_HEX >= 0x030B0000
  P("native_thread_id", offsetof(PyThreadState, native_thread_id));
#endif
#if PY_VERSION_HEX >= 0x030D0000
  P("thread_frame", offsetof(PyThreadState, current_frame));
#elif PY_VERSION_HEX >= 0x030B0000
  P("thread_frame", offsetof(PyThreadState, cframe));
  P("cframe_frame", offsetof(_PyCFrame, current_frame));
  P("cframe_previous", offsetof(_PyCFrame, previous));
#else
  P("thread_frame", offsetof(PyThreadState, frame));
#endif
#if PY_VERSION_HEX >= 0x030D0000
  P("frame_code", offsetof(struct _PyInterpreterFrame, f_executable));
  P("frame_instruction", offsetof(struct _PyInterpreterFrame, instr_ptr));
#elif PY_VERSION_HEX >= 0x030B0000
  P("frame_code", offsetof(struct _PyInterpreterFrame, f_code));
  P("frame_instruction", offsetof(struct _PyInterpreterFrame, prev_instr));
#else
  P("frame_code", offsetof(PyFrameObject, f_code));
  P("frame_instruction", offsetof(PyFrameObject, f_lasti));
  P("frame_previous", offsetof(PyFrameObject, f_back));
#endif
#if PY_VERSION_HEX >= 0x030B0000
  P("frame_previous", offsetof(struct _PyInterpreterFrame, previous));
  P("frame_owner", offsetof(struct _PyInterpreterFrame, owner));
#endif
#if PY_VERSION_HEX < 0x030A0000
  P("frame_state", offsetof(PyFrameObject, f_executing));
#elif PY_VERSION_HEX < 0x030B0000
  P("frame_state", offsetof(PyFrameObject, f_state));
#elif PY_VERSION_HEX < 0x030C0000
  P("frame_entry", offsetof(struct _PyInterpreterFrame, is_entry));
#endif
  P("thread_interpreter", offsetof(PyThreadState, interp));
  P("code_file", offsetof(PyCodeObject, co_filename));
#if PY_VERSION_HEX >= 0x030B0000
  P("code_name", offsetof(PyCodeObject, co_qualname));
#else
  P("code_name", offsetof(PyCodeObject, co_name));
#endif
  P("code_first_line", offsetof(PyCodeObject, co_firstlineno));
#if PY_VERSION_HEX >= 0x030A0000
  P("code_lines", offsetof(PyCodeObject, co_linetable));
#else
  P("code_lines", offsetof(PyCodeObject, co_lnotab));
#endif
#if PY_VERSION_HEX >= 0x030B0000
  P("code_instructions", offsetof(PyCodeObject, co_code_adaptive));
#else
  P("code_instructions", offsetof(PyCodeObject, co_code));
#endif
  P("object_type", offsetof(PyObject, ob_type));
  P("size", offsetof(PyVarObject, ob_size));
  P("text_length", offsetof(PyASCIIObject, length));
  P("text_state", offsetof(PyASCIIObject, state));
  P("text_ascii", sizeof(PyASCIIObject));
  P("text_wide", sizeof(PyCompactUnicodeObject));
  P("bytes_data", offsetof(PyBytesObject, ob_sval));
  P("type_name", offsetof(PyTypeObject, tp_name));
  P("type_size", offsetof(PyTypeObject, tp_basicsize));
  P("type_dict_offset", offsetof(PyTypeObject, tp_dictoffset));
  P("dict_keys", offsetof(PyDictObject, ma_keys));
  P("dict_values", offsetof(PyDictObject, ma_values));
#if PY_VERSION_HEX >= 0x030B0000
  P("type_keys", offsetof(PyHeapTypeObject, ht_cached_keys));
  P("frame_first_local", offsetof(struct _PyInterpreterFrame, localsplus));
#else
  P("frame_first_local", offsetof(PyFrameObject, f_localsplus));
#endif
  return 0;
}
)c";

std::vector<std::string> Matching(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

std::map<std::string, std::uint32_t> FieldsOf(const PythonLayout& layout) {
  std::map<std::string, std::uint32_t> fields;
#define TRACEINJECT_FIELD(name) fields[#name] = layout.name
  TRACEINJECT_FIELD(interpreters_head);
  TRACEINJECT_FIELD(interpreter_next);
  TRACEINJECT_FIELD(threads_head);
  TRACEINJECT_FIELD(thread_next);
  TRACEINJECT_FIELD(thread_id);
  TRACEINJECT_FIELD(native_thread_id);
  TRACEINJECT_FIELD(thread_frame);
  TRACEINJECT_FIELD(cframe_frame);
  TRACEINJECT_FIELD(cframe_previous);
  TRACEINJECT_FIELD(frame_code);
  TRACEINJECT_FIELD(frame_previous);
  TRACEINJECT_FIELD(frame_instruction);
  TRACEINJECT_FIELD(frame_owner);
  TRACEINJECT_FIELD(frame_state);
  TRACEINJECT_FIELD(frame_entry);
  TRACEINJECT_FIELD(code_file);
  TRACEINJECT_FIELD(code_name);
  TRACEINJECT_FIELD(code_first_line);
  TRACEINJECT_FIELD(code_lines);
  TRACEINJECT_FIELD(code_instructions);
  TRACEINJECT_FIELD(object_type);
  TRACEINJECT_FIELD(size);
  TRACEINJECT_FIELD(text_length);
  TRACEINJECT_FIELD(text_state);
  TRACEINJECT_FIELD(text_ascii);
  TRACEINJECT_FIELD(text_wide);
  TRACEINJECT_FIELD(bytes_data);
  TRACEINJECT_FIELD(type_name);
  TRACEINJECT_FIELD(type_size);
  TRACEINJECT_FIELD(type_dict_offset);
  TRACEINJECT_FIELD(dict_keys);
  TRACEINJECT_FIELD(dict_values);
  TRACEINJECT_FIELD(type_keys);
  TRACEINJECT_FIELD(frame_first_local);
  TRACEINJECT_FIELD(thread_interpreter);
#undef TRACEINJECT_FIELD
  return fields;
}

int MinorOf(const std::string& headers) {
  return std::stoi(headers.substr(headers.rfind("python3.") + 8));
}

// Of all headers that are installed here, 3.8 to 3.12.
TEST(PythonLayoutTest, TheTableIsThatOfTheHeaders) {
  const TemporaryFolder folder;
  std::ofstream(folder / "offsets.c") << kProgram;
  const char* home = getenv("HOME");
  std::vector<std::string> all = Matching("/usr/include/python3.*");
  for (const std::string& headers :
       Matching(std::string(home == nullptr ? "" : home) + "/.pyenv/versions/*/include/python3.*"))
    all.push_back(headers);
  int compared = 0;
  for (const std::string& headers : all) {
    const auto layout = LayoutOfVersion(MinorOf(headers));
    if (!layout) continue;
    SCOPED_TRACE(headers);
    const std::string program = folder / "offsets", output = folder / "offsets.txt";
    const std::string build = "cc -w -I" + headers + " -I" + headers + "/internal -o " + program +
                              " " + (folder / "offsets.c") + " 2>/dev/null && " + program + " > " +
                              output;
    if (system(build.c_str()) != 0) continue;  // no compiler, or headers that are not complete
    const auto fields = FieldsOf(*layout);
    std::ifstream lines(output);
    std::string name;
    for (std::uint32_t offset = 0; lines >> name >> offset;)
      EXPECT_EQ(fields.at(name), offset) << name;
    ++compared;
  }
  if (compared == 0) GTEST_SKIP() << "no headers of Python";
}

TEST(PythonLayoutTest, OtherVersionsAreNotInTheTable) {
  EXPECT_FALSE(LayoutOfVersion(7));
  EXPECT_FALSE(LayoutOfVersion(13)) << "it tells its offsets itself";
}

TEST(PythonLayoutTest, WhatTellsNoOffsetsIsNoRuntime) {
  const std::array<char, 1024> memory{};
  std::string why;
  EXPECT_FALSE(
      LayoutOfRuntime(ProcessMemory(), reinterpret_cast<std::uint64_t>(memory.data()), &why));
  EXPECT_NE(why, "");
  EXPECT_FALSE(LayoutOfRuntime(ProcessMemory(), 8, &why));
}

}  // namespace
}  // namespace traceinject
