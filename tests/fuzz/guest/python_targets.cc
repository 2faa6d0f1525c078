// SPDX-License-Identifier: Apache-2.0
#include "tests/fuzz/guest/python_targets.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "injector/stacks/attribute_reader.h"
#include "injector/stacks/code_lines.h"
#include "injector/stacks/module_names.h"
#include "injector/stacks/python_process.h"
#include "tests/fuzz/guest/python_image.h"
#include "tests/fuzz/input_bytes.h"

namespace traceinject {
namespace {

constexpr std::size_t kWords = 2048;
// Of the frames of a thread, which may be many and the same.
constexpr std::size_t kLooked = 32, kNamed = 4;
alignas(4096) std::array<std::uint64_t, kWords> g_memory;

// What a code object leads to.
std::string WrongCode(const PythonProcess& python, std::size_t frame) {
  const CodeWords& code = python.code(frame);
  code.Check();
  for (const std::uint64_t text : {code.file, code.name}) {
    const auto read = ReadText(python.memory(), python.layout(), python.types(), text);
    if (read && read->size() > 4 * kMaxText) return "a text that was not clipped\n";
  }
  const auto table = ReadBytes(python.memory(), python.layout(), python.types(), code.lines);
  if (!table) return {};
  const std::int64_t line =
      LineOfInstruction(python.layout().lines, *table, code.first_line, python.frame(frame).offset);
  return line < 0 ? "a line before the first one\n" : "";
}

// What the first arguments of all frames are called by those that called them.
void ReadNames(const PythonProcess& python) {
  if (!python.layout().has_attributes()) return;
  const AttributeReader reader(python.memory(), python.layout(), python.types());
  ModuleNames names;
  for (std::size_t i = 0; i < std::min(python.count(), kNamed); ++i) {
    const std::uint64_t caller = i + 1 < python.count() ? python.frame(i + 1).first_local : 0;
    names.Of(reader, 1, caller, python.frame(i).first_local);
  }
}

std::string WrongInterpreter(const PythonLayout& layout, const PythonTypes& types,
                             std::uint64_t runtime, std::int32_t tid_offset) {
  const auto python =
      std::make_unique<PythonProcess>(ProcessMemory(), layout, types, runtime, tid_offset);
  std::vector<PythonThread> threads;
  python->ReadThreads(&threads);
  threads.push_back({runtime, 1});
  if (threads.size() > PythonProcess::kMaxThreads + 1) return "more threads than may be\n";
  for (const PythonThread& thread : threads) {
    if (python->ReadStack(thread) == StackResult::kTorn) continue;
    if (python->count() > PythonProcess::kMaxFrames) return "more frames than may be\n";
    for (std::size_t i = 0; i < std::min(python->count(), kLooked); ++i) {
      const std::string wrong = WrongCode(*python, i);
      if (!wrong.empty()) return wrong;
    }
    ReadNames(*python);
  }
  return {};
}

}  // namespace

// Words whose highest byte is kPointer point to where their lowest two bytes say in this memory.
std::string FuzzPythonMemory(std::string_view input) {
  constexpr std::uint64_t kPointer = 0xA5;
  const auto base = reinterpret_cast<std::uint64_t>(g_memory.data());
  InputBytes bytes(input);
  const int minor = 8 + bytes.Byte() % 7;
  const auto offset = static_cast<std::int32_t>(bytes.Byte()) - 1;
  const std::string_view image = bytes.Rest().substr(0, sizeof g_memory);
  g_memory.fill(0);
  std::memcpy(g_memory.data(), image.data(), image.size());
  for (std::uint64_t& word : g_memory)
    if (word >> 56 == kPointer) word = base + (word & 0xFFFF) % sizeof g_memory;
  std::string why;
  const auto layout =
      minor < 13 ? LayoutOfVersion(minor) : LayoutOfRuntime(ProcessMemory(), base, &why);
  if (!layout) return why.empty() ? "refused without a reason\n" : "";
  const PythonTypes types{base + 64, base + 72, base + 80};
  const std::string wrong = WrongInterpreter(*layout, types, base, offset);
  if (!wrong.empty()) return wrong;
  for (const auto form :
       {PythonLayout::Lines::kPairs, PythonLayout::Lines::kRanges, PythonLayout::Lines::kLocations})
    if (LineOfInstruction(form, image, 1, offset) < 0) return "a line before the first one\n";
  return {};
}

std::string FuzzPythonObjects(std::string_view input) {
  static constexpr const char* kVersions[] = {"3.8.20 (default)", "3.9.2 (main)", "3.10.12",
                                              "3.11.2 (main, ", "3.12.3", "3.13.0rc1", "3.14.0",
                                              // That are not read.
                                              "3.7.3", "3.15.0a1", "2.7.18", "3.", ""};
  static const char* version = nullptr;
  static const std::int32_t own_offset = FindThreadIdOffset();
  InputBytes bytes(input);
  const std::uint8_t flags = bytes.Byte();
  const std::size_t choice = flags % std::size(kVersions);
  version = kVersions[choice];
  PythonImage image(g_memory);
  if (choice >= 5) image.TellOffsets(choice < 7 ? 8 + static_cast<int>(choice) : flags, bytes);
  PythonSymbols symbols;
  symbols.runtime = image.runtime();
  symbols.Py_GetVersion = [] { return version; };
  std::string why;
  const auto layout = FindPythonLayout(symbols, &why);
  if (!layout) return why.empty() ? "refused without a reason\n" : "";
  const std::int32_t offset = bytes.Byte() % 4 == 3 ? own_offset : PythonImage::kThreadIdOffset;
  image.Build(*layout, bytes);
  image.ChangeWords(bytes);
  return WrongInterpreter(*layout, image.types(), image.runtime(), offset);
}

}  // namespace traceinject
