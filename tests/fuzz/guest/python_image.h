// SPDX-License-Identifier: Apache-2.0
// The structures of an interpreter of Python as its layout has them: threads, frames, code, texts,
// objects with attributes. An input chooses which, and what they hold.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "injector/stacks/code_object.h"
#include "injector/stacks/python_layout.h"
#include "tests/fuzz/input_bytes.h"

namespace traceinject {

class PythonImage {
 public:
  // Where a thread's id is, from what pthread_self() returns there.
  static constexpr std::int32_t kThreadIdOffset = 8;

  // In this memory, which is cleared. Its beginning is _PyRuntime.
  explicit PythonImage(std::span<std::uint64_t> memory);

  std::uint64_t runtime() const { return base_; }
  const PythonTypes& types() const { return types_; }

  // What 3.13 and 3.14 tell of their offsets, some of them changed.
  void TellOffsets(int minor, InputBytes& input);
  // All of it.
  void Build(const PythonLayout& layout, InputBytes& input);
  // Words changed to others that are likely to matter.
  void ChangeWords(InputBytes& input);

 private:
  // So many bytes that are not used yet; the beginning of the memory where there are none left.
  std::uint64_t Allocate(std::size_t bytes);
  // Passed over where it does not fit.
  void Put(std::uint64_t address, const void* from, std::size_t bytes);
  template <typename Value>
  void Put(std::uint64_t address, Value value) {
    Put(address, &value, sizeof value);
  }

  void AddTypes();
  std::uint64_t AddThread(InputBytes& input, std::uint64_t interpreter, std::uint64_t next);
  std::uint64_t AddFrames(InputBytes& input);
  std::uint64_t AddFrame(InputBytes& input, std::uint64_t previous);
  std::uint64_t AddCode(InputBytes& input);
  std::uint64_t AddText(std::uint32_t kind, std::string_view characters);
  std::uint64_t AddSomeText(InputBytes& input);
  std::uint64_t AddBytes(std::string_view content);
  std::uint64_t AddObject(InputBytes& input, bool is_module);
  std::uint64_t AddDict(std::uint64_t keys, std::uint64_t values);
  std::uint64_t AddKeys(std::span<const std::uint64_t> keys, std::span<const std::uint64_t> values);
  std::uint64_t AddValues(std::span<const std::uint64_t> values);

  std::span<std::uint64_t> memory_;
  const std::uint64_t base_;
  std::uint64_t next_ = 0;  // address of what is free
  PythonLayout layout_;
  PythonTypes types_;
  std::vector<std::uint64_t> codes_, objects_;
};

}  // namespace traceinject
