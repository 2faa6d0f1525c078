// SPDX-License-Identifier: Apache-2.0
// A file that is written as a stream and appears as a whole.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analyzer/common/result.h"

namespace traceinject {

enum class Packing : std::uint8_t { kPlain, kGzip };

class OutputFile {
 public:
  // "-" is stdout. Another file is written beside its place under another name, and takes it with
  // Close(): nobody sees half of it, and what stood there before stays until then. What is no plain
  // file (a pipe, /dev/null) is written to directly.
  static Result<OutputFile> Create(const std::string& path, Packing packing = Packing::kPlain);
  // Without Close(): nothing is left of it.
  ~OutputFile();
  OutputFile(OutputFile&&) noexcept;
  OutputFile& operator=(OutputFile&&) = delete;

  // A failure is kept until Close(), and what is written after it goes nowhere.
  void Write(std::string_view bytes);
  bool failed() const;
  // Call once, last.
  Status Close();
  // Of the file, so far.
  std::uint64_t bytes() const;

 private:
  struct State;
  explicit OutputFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace traceinject
