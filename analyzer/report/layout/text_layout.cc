// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/layout/text_layout.h"

#include <fmt/format.h>

#include "analyzer/common/text.h"

namespace traceinject {

void TextPage::Heading(std::string_view title) {
  text_ += '\n';
  text_ += color_ ? fmt::format("\033[1m{}\033[0m", title) : std::string(title);
  text_ += '\n';
}

void TextPage::Line(std::string_view line) {
  text_ += line;
  text_ += '\n';
}

void TextPage::Sentence(std::string_view text, std::size_t indent) {
  std::string line(indent, ' ');
  std::size_t filled = indent;  // columns before the first word of this line
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
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

void TextPage::Table(const std::vector<std::vector<std::string>>& rows, std::size_t first_right,
                     std::size_t last_right) {
  if (rows.empty()) return;
  TableText table;
  for (std::size_t column = 0; column < rows.front().size(); ++column) {
    table.align_right.push_back(column >= first_right && column <= last_right);
  }
  table.rows = rows;
  text_ += FormatTable(table, "  ");
}

std::string TextPage::Colored(std::string_view text, int color) const {
  return color_ ? fmt::format("\033[{}m{}\033[0m", color, text) : std::string(text);
}

}  // namespace traceinject
