// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace traceinject {

// The last line of the terminal on stderr, kept for us while another program writes to the lines
// above it, which scroll without it. Nothing where stderr is no terminal.
class StatusLine {
 public:
  explicit StatusLine(bool wanted);
  ~StatusLine() { Release(); }
  StatusLine(const StatusLine&) = delete;
  StatusLine& operator=(const StatusLine&) = delete;

  // Whether anything will be seen.
  bool active() const { return active_; }
  void Show(const std::string& text);
  // Gives the line back.
  void Release();

 private:
  bool Reserve();

  bool active_;
  std::size_t rows_ = 0;  // of the terminal, as last seen; 0: the line is not ours
};

}  // namespace traceinject
