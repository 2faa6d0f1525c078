// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/layout/text_layout.h"

#include <fmt/format.h>

#include <iterator>

#include "analyzer/common/digit.h"
#include "analyzer/common/printable.h"
#include "analyzer/common/text.h"

namespace traceinject {
namespace {

constexpr std::size_t kTableIndent = 2, kBetweenColumns = 2;
// A text that is shorter says nothing.
constexpr std::size_t kLeastText = 12;

constexpr std::string_view kUnitWords[] = {
    "ns",  "us", "ms", "s",   "min",   "h",      "%",       "B",      "kB",
    "MB",  "GB", "TB", "KiB", "MiB",   "GiB",    "TiB",     "MB/s",   "GB/s",
    "MHz", "W",  "C",  "ppm", "TFLOP", "TFLOPS", "TFLOP/s", "columns"};

bool IsUnit(std::string_view word) {
  const std::size_t last = word.find_last_not_of(",;:.)");
  const std::string_view bare = word.substr(0, last == std::string_view::npos ? 0 : last + 1);
  return std::find(std::begin(kUnitWords), std::end(kUnitWords), bare) != std::end(kUnitWords);
}

// At the front of the text: a word, or a number with its unit.
std::string_view FirstWord(std::string_view text) {
  const std::size_t end = std::min(text.find(' '), text.size());
  if (end == 0 || end == text.size() || !IsDigit(text[end - 1])) return text.substr(0, end);
  const std::size_t next = std::min(text.find(' ', end + 1), text.size());
  return text.substr(0, IsUnit(text.substr(end + 1, next - end - 1)) ? next : end);
}

using Rows = std::vector<std::vector<std::string>>;

std::vector<std::size_t> WidthsOf(const Rows& rows) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows) {
    for (std::size_t column = 0; column < std::min(row.size(), widths.size()); ++column)
      widths[column] = std::max(widths[column], row[column].size());
  }
  return widths;
}

std::size_t TableWidth(const std::vector<std::size_t>& widths) {
  std::size_t width = kTableIndent;
  for (const std::size_t one : widths) width += one + kBetweenColumns;
  return width - kBetweenColumns;
}

// Shortens the widest texts, as far as it takes. Returns whether the table fits then.
bool FitTexts(TableText& table, std::size_t width) {
  std::vector<std::size_t> widths = WidthsOf(table.rows);
  while (TableWidth(widths) > width) {
    std::size_t widest = widths.size();
    for (std::size_t column = 0; column < widths.size(); ++column) {
      if (!table.align_right[column] && widths[column] > kLeastText &&
          (widest == widths.size() || widths[column] > widths[widest]))
        widest = column;
    }
    if (widest == widths.size()) return false;
    --widths[widest];
  }
  for (auto& row : table.rows) {
    for (std::size_t column = 0; column < row.size(); ++column)
      row[column] = ShortenMiddle(row[column], widths[column]);
  }
  return true;
}

// "rank 0 GPU 0: window 1.200 s, compute 40.1 %".
std::string RowText(const std::vector<std::string>& header, const std::vector<std::string>& row) {
  std::string text = row.front();
  for (std::size_t column = 1; column < row.size(); ++column) {
    if (row[column].empty()) continue;
    text += (column == 1 ? ": " : ", ") + header[column] + (header[column].empty() ? "" : " ") +
            row[column];
  }
  return text;
}

// Tabs are a part of what a line says.
std::string PrintableCode(std::string_view line) {
  const std::size_t tab = line.find('\t');
  if (tab == std::string_view::npos) return Printable(line);
  return Printable(line.substr(0, tab)) + "\t" + PrintableCode(line.substr(tab + 1));
}

}  // namespace

void TextPage::Heading(std::string_view title) {
  text_ += '\n';
  Sentence(Colored(title, 1), 0);
}

void TextPage::Line(std::string_view line) {
  text_ += line;
  text_ += '\n';
}

void TextPage::Sentence(std::string_view text, std::size_t indent) {
  std::string line(indent, ' ');
  std::size_t filled = indent;  // columns before the first word of this line
  while (!text.empty()) {
    const std::string_view word = FirstWord(text);
    text.remove_prefix(std::min(text.size(), word.size() + 1));
    if (line.size() > filled && line.size() + 1 + word.size() > width_) {
      Line(line);
      filled = indent + 2;
      line.assign(filled, ' ');
    }
    if (line.size() > filled) line += ' ';
    line += word;
  }
  Line(line);
}

void TextPage::Code(std::string_view lines) {
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    Line("    " + PrintableCode(line));
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
}

void TextPage::Table(const std::vector<std::vector<std::string>>& rows, std::size_t first_right,
                     std::size_t last_right) {
  if (rows.empty()) return;
  TableText table;
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    table.align_right.push_back(column >= first_right && column <= last_right);
  }
  table.rows = rows;
  if (FitTexts(table, width_)) {
    text_ += FormatTable(table, std::string(kTableIndent, ' '));
    return;
  }
  for (std::size_t row = 1; row < rows.size(); ++row) Sentence(RowText(rows.front(), rows[row]));
}

std::string TextPage::Colored(std::string_view text, int color) const {
  return color_ ? fmt::format("\033[{}m{}\033[0m", color, text) : std::string(text);
}

}  // namespace traceinject
