// SPDX-License-Identifier: Apache-2.0
// How a report is laid out: headings, sentences, tables; and such a page as text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace traceinject {

// Where nothing says how wide the output is.
inline constexpr std::size_t kTextWidth = 100;
// Narrower than this, indented sentences would be one word a line; wider, no eye finds the next.
inline constexpr std::size_t kMinTextWidth = 60, kMaxTextWidth = 250;

// What the sections of a report are written to, whatever it looks like there.
class ReportPage {
 public:
  virtual ~ReportPage() = default;

  virtual void Heading(std::string_view title) = 0;
  // As it is: it is laid out already.
  virtual void Line(std::string_view line) = 0;
  // Further in belongs to the sentence above; one that begins with "- " is an item of a list.
  virtual void Sentence(std::string_view text, std::size_t indent = 2) = 0;
  // Lines of a program or a diff, each with its end, none of them broken.
  virtual void Code(std::string_view lines) = 0;
  // The first row is the header; columns from `first_right` to `last_right` are aligned right.
  virtual void Table(const std::vector<std::vector<std::string>>& rows, std::size_t first_right,
                     std::size_t last_right) = 0;
  // Colored where colors are on. color: an ANSI number, such as 31 for red.
  virtual std::string Colored(std::string_view text, int color) const = 0;
};

class TextPage : public ReportPage {
 public:
  // width: columns that all fits into but words and lines that are wider themselves; at least
  // kMinTextWidth.
  explicit TextPage(bool color, std::size_t width = kTextWidth)
      : color_(color), width_(std::max(width, kMinTextWidth)) {}

  // An empty line and a title.
  void Heading(std::string_view title) override;
  // With a line end.
  void Line(std::string_view line) override;
  // As it is: lines with their ends.
  void Text(std::string_view text) { text_ += text; }
  // Broken at spaces, but not between a number and its unit; following lines are indented by two
  // more than the first. Words longer than the line stay whole.
  void Sentence(std::string_view text, std::size_t indent = 2) override;
  // All indented alike, which patch takes.
  void Code(std::string_view lines) override;
  // Texts are shortened where it is too wide; if that is not enough, each row is a sentence.
  void Table(const std::vector<std::vector<std::string>>& rows, std::size_t first_right,
             std::size_t last_right) override;
  std::string Colored(std::string_view text, int color) const override;

  const std::string& text() const { return text_; }

 private:
  bool color_;
  std::size_t width_;
  std::string text_;
};

}  // namespace traceinject
