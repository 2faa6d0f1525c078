// SPDX-License-Identifier: Apache-2.0
// Which line of the program a stack stands for: that of the innermost frame of the program's own
// code; of machine code which function. What a library does is done for the line that called it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/model/run.h"

namespace traceinject {

using SiteKey = std::pair<std::uint32_t, std::uint32_t>;

struct CodeSite {
  // Index into Rank::places; without a frame of the program's own code the innermost one; kNone: no
  // Python frame, or SiteFrame::kModule.
  std::uint32_t place = kNone;
  std::uint32_t library = kNone;  // what that line called of a library; kNone: nothing
  bool own = false;               // the line is the program's
  std::uint32_t module = kNone;   // of SiteFrame::kModule: its name in Rank::strings; kNone: none
  std::uint32_t stack = kNone;    // that it stands for

  // Sites of one key are one row of a table.
  SiteKey key() const { return {place, module}; }
};

// Whether a file is one of an installed package, of Python's standard library, or was written by a
// compiler (torch.compile, torch.fx).
bool IsLibraryFile(std::string_view file);

// Whether code is of a library, also of machine code.
bool IsLibraryPlace(const Rank& rank, const CodePlace& place);

// Which frame of a stack is its site; kModule: the innermost call of a module.
enum class SiteFrame : std::uint8_t { kOwn, kInnermost, kModule };

class CodeSites {
 public:
  // O(stacks).
  explicit CodeSites(const Rank& rank, SiteFrame frame = SiteFrame::kOwn);

  // kNone: no Python frame.
  CodeSite Of(std::uint32_t stack) const { return stack == kNone ? CodeSite() : sites_[stack]; }

 private:
  void Find(const Rank& rank, SiteFrame frame);

  std::vector<CodeSite> sites_;  // by stack
};

// "train.py:41 in load_batch": of the file its name, unless all of it is wanted; of machine code
// "forward in train". "?" where it could not be read; empty: kNone.
std::string PlaceText(const Rank& rank, std::uint32_t place);
std::string PlaceText(std::string_view file, std::int32_t line, std::string_view function);
// "GPT.h.3.attn" -> "GPT.h.*.attn": what layers that differ in their number have in common.
std::string WithoutNumbers(std::string_view module);
// "load_batch (train.py:41)".
std::string FrameText(const Rank& rank, std::uint32_t place);
// "choice of numpy/random.py"; empty: kNone.
std::string LibraryText(const Rank& rank, std::uint32_t place);
// Of a path, what follows the folder of packages: "torch/nn/modules/linear.py"; else the name of
// the file.
std::string_view ShortFile(std::string_view file);

}  // namespace traceinject
