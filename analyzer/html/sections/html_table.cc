// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/sections/html_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <optional>
#include <vector>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/html/charts/bars.h"
#include "analyzer/report/layout/kernel_names.h"

namespace traceinject {
namespace {

constexpr std::size_t kNameWidth = 56;
// Of a column that others stand beside.
constexpr std::size_t kShortTextWidth = 32;
// A name may be kilobytes of template arguments; pointed at, so much of it is shown.
constexpr std::size_t kTipWidth = 600;

// What the script sorts by; empty: not known, which comes last.
std::string SortKey(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return fmt::format("{}", *whole);
  if (const auto* number = std::get_if<double>(&cell)) return fmt::format("{}", *number);
  return {};
}

bool IsShortened(const TableColumn& column) {
  return column.is_name() || column.unit == Unit::kShortText;
}

// Shortened names of all rows.
std::vector<std::string> ShortNames(const Table& table, std::size_t column, std::size_t rows) {
  std::vector<std::string> names;
  for (std::size_t row = 0; row < rows; ++row)
    names.push_back(CellText(table.rows[row][column], table.columns[column].unit));
  if (table.columns[column].unit == Unit::kKernelName) return ShortKernelNames(names, kNameWidth);
  const bool is_short = table.columns[column].unit == Unit::kShortText;
  for (std::string& name : names)
    name = ShortenMiddle(name, is_short ? kShortTextWidth : kNameWidth);
  return names;
}

class Writer {
 public:
  Writer(Markup& out, const Table& table, const HtmlTableOptions& options)
      : out_(out),
        table_(table),
        options_(options),
        rows_(std::min(options.rows, table.rows.size())) {
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      if (columns_.size() == options.columns) break;
      if (!table.columns[column].is_name() && !IsShown(table, column)) continue;
      columns_.push_back(column);
      names_.push_back(IsShortened(table.columns[column]) ? ShortNames(table, column, rows_)
                                                          : std::vector<std::string>());
      if (table.columns[column].unit == Unit::kShare && !bars_) SetBars(column);
    }
  }

  void Write() {
    const std::string id = out_.NewId();
    {
      const auto scroll = out_.Open(
          "div",
          {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-labelledby", id}});
      const auto table = out_.Open("table", {{"class", "sortable"}});
      out_.Leaf("caption", options_.caption, {{"id", id}});
      Head();
      const auto body = out_.Open("tbody");
      for (std::size_t row = 0; row < rows_; ++row) Row(row);
    }
    if (table_.rows.size() > rows_) {
      const auto left = static_cast<std::int64_t>(table_.rows.size() - rows_);
      out_.Leaf("p",
                fmt::format("{} more are not shown{}", FormatCount(left),
                            options_.where_all.empty() ? "" : "; " + options_.where_all),
                {{"class", "note"}});
    }
  }

 private:
  // Of the first column of shares: full bars are the largest share, or else all would look empty.
  struct Bars {
    std::size_t column = 0;
    double most = 0;
  };
  void SetBars(std::size_t column) {
    Bars bars{column, 0};
    for (std::size_t row = 0; row < rows_; ++row) {
      if (const auto* share = std::get_if<double>(&table_.rows[row][column]))
        bars.most = std::max(bars.most, *share);
    }
    if (bars.most > 0) bars_ = bars;
  }

  void Head() {
    const auto head = out_.Open("thead");
    const auto row = out_.Open("tr");
    for (const std::size_t column : columns_) {
      const TableColumn& of = table_.columns[column];
      const bool is_order = of.name == options_.order;
      out_.Begin("th", {{"scope", "col"},
                        {"class", of.is_text() ? "text" : "num"},
                        {"data-tip", std::string(of.help)},
                        {"aria-sort", !is_order            ? "none"
                                      : options_.ascending ? "ascending"
                                                           : "descending"}});
      out_.Text(of.title);
      out_.Close("th");
    }
  }

  void Row(std::size_t row) {
    const auto open = out_.Open("tr");
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const TableColumn& of = table_.columns[columns_[i]];
      const Cell& cell = table_.rows[row][columns_[i]];
      if (IsShortened(of)) {
        Name(of.is_name() ? "name" : "short", CellText(cell, of.unit), names_[i][row]);
      } else if (of.is_text()) {
        out_.Leaf("td", CellText(cell, of.unit), {{"class", "text"}});
      } else {
        const bool has_bar = bars_ && bars_->column == columns_[i];
        const auto td = out_.Open(
            "td", {{"class", has_bar ? "num metered" : "num"}, {"data-v", SortKey(cell)}});
        const auto* share = std::get_if<double>(&cell);
        if (has_bar && share != nullptr) WriteMeter(out_, *share / bars_->most);
        out_.Text(CellText(cell, of.unit));
      }
    }
  }

  void Name(const char* mark, const std::string& whole, const std::string& shown) {
    const auto td = out_.Open("td", {{"class", mark}});
    if (whole == shown) return out_.Text(shown);
    out_.Leaf("span", shown, {{"tabindex", "0"}, {"data-tip", ShortenMiddle(whole, kTipWidth)}});
  }

  Markup& out_;
  const Table& table_;
  const HtmlTableOptions& options_;
  std::size_t rows_;
  std::optional<Bars> bars_;
  std::vector<std::size_t> columns_;             // that are shown
  std::vector<std::vector<std::string>> names_;  // of each of these, shortened; empty: no names
};

}  // namespace

void WriteHtmlTable(Markup& out, const Table& table, const HtmlTableOptions& options,
                    std::string_view empty) {
  if (table.rows.empty()) return out.Leaf("p", empty, {{"class", "note"}});
  Writer(out, table, options).Write();
}

}  // namespace traceinject
