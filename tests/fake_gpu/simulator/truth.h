// SPDX-License-Identifier: Apache-2.0
// What really happened, one JSON object a line, in the file that FAKE_GPU_TRUTH names (%p: the
// process id).
//
// Every line is one write(2) with O_APPEND, at once, so that a killed process leaves its truth and
// several threads and processes may share a file. Without the variable nothing is written.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace traceinject::fake {

// Builds one line; Write() appends it to the file.
class TruthLine {
 public:
  // `type`: what the line tells: "op", "api", "sync", "nvtx", "collective", "communicator", "wait",
  // "cupti".
  explicit TruthLine(std::string_view type);
  TruthLine& Number(std::string_view key, std::int64_t value);
  TruthLine& Real(std::string_view key, double value);
  TruthLine& Text(std::string_view key, std::string_view value);
  TruthLine& Bool(std::string_view key, bool value);
  TruthLine& Triple(std::string_view key, const std::int32_t (&values)[3]);
  void Write();

 private:
  void Key(std::string_view key);
  std::string line_;
};

// Whether lines go anywhere.
bool TruthWanted();

}  // namespace traceinject::fake
