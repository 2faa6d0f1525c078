// SPDX-License-Identifier: Apache-2.0
// Manual pages in the man(7) macros of roff.
#pragma once

#include <string>
#include <string_view>

#include "packaging/command_text.h"

namespace traceinject {

// Text for roff, in which nothing is taken for a request or an escape.
std::string RoffText(std::string_view text);

class ManPage {
 public:
  // `about`: after the name in the first line. `section`: "1" for programs, "7" for what else.
  ManPage(const std::string& name, const std::string& section, const std::string& about);

  void Section(const std::string& title);
  void Subsection(const std::string& title);
  // Empty lines part paragraphs; lines are filled.
  void Paragraphs(const std::string& text);
  // Lines as they are.
  void Lines(const std::string& text);
  // A term in bold, with what it means.
  void Term(const std::string& term, const std::string& meaning);
  // `name ARGUMENT... [OPTIONS]`
  void Usage(const CommandText& command);
  // Arguments and options, a term each.
  void Options(const CommandText& command);

  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

}  // namespace traceinject
