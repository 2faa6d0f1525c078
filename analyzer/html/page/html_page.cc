// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/page/html_page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>

#include "analyzer/common/units.h"

namespace traceinject {
namespace {

void WriteLeftOut(Markup& out, std::size_t count, const char* what) {
  out.Leaf("p",
           fmt::format("{} more {} are not shown; analyze report --format json has them",
                       FormatCount(static_cast<std::int64_t>(count)), what),
           {{"class", "note"}});
}

}  // namespace

HtmlPage::~HtmlPage() {
  EndList();
  if (sentences_ > kMaxSentences) WriteLeftOut(out_, sentences_ - kMaxSentences, "sentences");
}

void HtmlPage::EndList() {
  if (!in_list_) return;
  out_.Close("li");
  out_.Close("ul");
  in_list_ = false;
}

void HtmlPage::Heading(std::string_view title) {
  EndList();
  title_ = title;
  out_.Leaf(heading_, title);
}

void HtmlPage::Sentence(std::string_view text, std::size_t indent) {
  if (text.empty() || ++sentences_ > kMaxSentences) return;
  constexpr std::string_view kItem = "- ";
  if (text.starts_with(kItem)) {
    if (in_list_)
      out_.Close("li");
    else
      out_.Begin("ul", {{"class", "findings"}});
    in_list_ = true;
    item_indent_ = indent;
    out_.Begin("li");
    out_.Leaf("p", text.substr(kItem.size()));
    return;
  }
  if (in_list_ && indent <= item_indent_) EndList();
  // Sources stand in brackets.
  const bool is_source = text.front() == '[' && text.back() == ']';
  out_.Leaf("p", is_source ? text.substr(1, text.size() - 2) : text,
            {{"class", is_source    ? "source"
                       : indent > 2 ? "more"
                                    : "sentence"}});
}

void HtmlPage::Code(std::string_view lines) {
  const auto block = out_.Open("pre", {{"class", "scroll"}, {"tabindex", "0"}});
  while (!lines.empty()) {
    const std::string_view line = lines.substr(0, lines.find('\n'));
    out_.Text(line);
    out_.Verbatim("\n");
    lines.remove_prefix(std::min(lines.size(), line.size() + 1));
  }
}

void HtmlPage::Table(const std::vector<std::vector<std::string>>& rows, std::size_t first_right,
                     std::size_t last_right) {
  if (rows.size() < 2) return;
  EndList();
  const auto mark = [&](std::size_t column) {
    return std::string(column >= first_right && column <= last_right ? "num" : "text");
  };
  const std::string id = out_.NewId();
  if (rows.size() - 1 > kMaxRows) WriteLeftOut(out_, rows.size() - 1 - kMaxRows, "rows");
  const auto scroll = out_.Open(
      "div", {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-labelledby", id}});
  const auto table = out_.Open("table");
  out_.Leaf("caption", title_, {{"id", id}, {"class", "unseen"}});
  {
    const auto head = out_.Open("thead");
    const auto row = out_.Open("tr");
    for (std::size_t column = 0; column < rows.front().size(); ++column)
      out_.Leaf("th", rows.front()[column], {{"scope", "col"}, {"class", mark(column)}});
  }
  const auto body = out_.Open("tbody");
  for (std::size_t i = 1; i < std::min(rows.size(), kMaxRows + 1); ++i) {
    const bool is_sum = rows[i].front() == "sum";
    const auto row = out_.Open("tr", {{"class", is_sum ? "sum" : "row"}});
    for (std::size_t column = 0; column < rows[i].size(); ++column) {
      if (column == 0)
        out_.Leaf("th", rows[i][0], {{"scope", "row"}, {"class", mark(0)}});
      else
        out_.Leaf("td", rows[i][column], {{"class", mark(column)}});
    }
  }
}

}  // namespace traceinject
