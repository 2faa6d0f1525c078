// SPDX-License-Identifier: Apache-2.0
// The sections of the text report as HTML: the same sentences and tables, in paragraphs, lists and
// table elements. A page holds so much and no more, whatever the run: what is left out is counted.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "analyzer/html/page/markup.h"
#include "analyzer/report/layout/text_layout.h"

namespace traceinject {

class HtmlPage : public ReportPage {
 public:
  // heading: the element of headings, below that of the section they are in.
  explicit HtmlPage(Markup& out, std::string heading = "h3")
      : out_(out), heading_(std::move(heading)) {}
  ~HtmlPage() override;
  HtmlPage(const HtmlPage&) = delete;
  HtmlPage& operator=(const HtmlPage&) = delete;

  void Heading(std::string_view title) override;
  void Line(std::string_view line) override { Sentence(line); }
  void Sentence(std::string_view text, std::size_t indent = 2) override;
  void Code(std::string_view lines) override;
  void Table(const std::vector<std::vector<std::string>>& rows, std::size_t first_right,
             std::size_t last_right) override;
  // Grades and warnings are told in words, too.
  std::string Colored(std::string_view text, int) const override { return std::string(text); }

  static constexpr std::size_t kMaxSentences = 300, kMaxRows = 200;  // rows of each table

 private:
  void EndList();

  Markup& out_;
  std::string heading_;
  std::string title_;  // of the last heading: what a table below it is called
  std::size_t sentences_ = 0;
  bool in_list_ = false;
  std::size_t item_indent_ = 0;
};

}  // namespace traceinject
