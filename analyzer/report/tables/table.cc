// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/tables/table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "analyzer/common/text.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/kernel_names.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

constexpr std::size_t kIndent = 2, kBetween = 2;
// The name gets this much before further columns get any.
constexpr std::size_t kRoomForName = 40;
// Where there are short texts, these and the name get so much.
constexpr std::size_t kRoomForShortText = 16, kRoomForNameBeside = 24;
constexpr std::size_t kBarWidth = 8;

double AsNumber(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  return std::get<double>(cell);
}

std::string NumberText(const Cell& cell, Unit unit) {
  const double number = AsNumber(cell);
  const auto* exact = std::get_if<std::int64_t>(&cell);
  const std::int64_t whole = exact != nullptr ? *exact : std::llround(number);
  switch (unit) {
    case Unit::kMoment:
      return fmt::format("{:.6f}s", number / 1e9);
    case Unit::kTime:
      return FormatTime(whole);
    case Unit::kCount:
      return exact != nullptr ? FormatCount(whole) : fmt::format("{:.2f}", number);
    case Unit::kBytes:
      return FormatBytes(whole);
    case Unit::kShare:
      return fmt::format("{:.1f} %", 100 * number);
    case Unit::kGbPerS:
      return fmt::format("{:.2f}", number);
    case Unit::kNumber:
      return std::abs(number) >= 1000 ? FormatCount(std::llround(number))
                                      : fmt::format("{:.4g}", number);
    default:
      return fmt::format("{}", whole);
  }
}

// A column of the text: its title, then a line for each row.
struct TextColumn {
  TableColumn column;
  std::vector<std::string> lines;

  std::size_t width() const {
    std::size_t widest = 0;
    for (const std::string& line : lines) widest = std::max(widest, line.size());
    return widest;
  }
};

TextColumn TextOf(const Table& table, std::size_t column) {
  TextColumn text{table.columns[column], {std::string(table.columns[column].title)}};
  for (const auto& row : table.rows) text.lines.push_back(CellText(row[column], text.column.unit));
  return text;
}

void Shorten(TextColumn& names, std::size_t width) {
  if (names.column.unit == Unit::kKernelName) {
    const std::string title = names.lines.front();
    names.lines.erase(names.lines.begin());
    names.lines = ShortKernelNames(names.lines, width);
    names.lines.insert(names.lines.begin(), title);
    return;
  }
  for (std::string& line : names.lines) line = ShortenMiddle(line, width);
}

std::string Bar(double share) {
  const auto filled = static_cast<std::size_t>(
      std::lround(std::clamp(share, 0.0, 1.0) * static_cast<double>(kBarWidth)));
  return std::string(filled, '#') + std::string(kBarWidth - filled, '.');
}

// Of the first column of shares.
std::optional<TextColumn> Bars(const Table& table) {
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (table.columns[column].unit != Unit::kShare) continue;
    TextColumn bars{{"", "", Unit::kText, Shown::kIfItFits, ""}, {""}};
    for (const auto& row : table.rows) {
      const bool known = !std::holds_alternative<std::monostate>(row[column]);
      bars.lines.push_back(known ? Bar(AsNumber(row[column])) : "");
    }
    return bars;
  }
  return std::nullopt;
}

// Chooses what the text shows.
class Layout {
 public:
  Layout(const Table& table, const TableTextOptions& options) : options_(options) {
    for (std::size_t column = 0; column < table.columns.size(); ++column) {
      if (table.columns[column].is_name())
        name_ = TextOf(table, column);
      else if (IsShown(table, column, options))
        others_.push_back(TextOf(table, column));
    }
  }

  std::vector<std::string> DropWhatDoesNotFit() {
    std::vector<std::string> dropped;
    for (std::size_t i = others_.size(); i-- > 0 && Needs() > options_.width;) {
      if (options_.all_columns || others_[i].column.shown == Shown::kAlways) continue;
      dropped.insert(dropped.begin(), std::string(others_[i].column.name));
      others_.erase(others_.begin() + static_cast<std::ptrdiff_t>(i));
    }
    return dropped;
  }

  // Beside the shares, where there is room.
  void AddBars(std::optional<TextColumn> bars) {
    if (!bars || options_.all_columns) return;
    const auto share = std::find_if(others_.begin(), others_.end(), [](const TextColumn& one) {
      return one.column.unit == Unit::kShare;
    });
    if (share == others_.end() || Needs() + kBarWidth + kBetween > options_.width) return;
    others_.insert(share + 1, *std::move(bars));
  }

  // What is left is for the short texts first, each in turn, as long as the name has half of it.
  void ShortenNames() {
    const std::size_t needs = Needs();
    std::size_t left = options_.width > needs ? options_.width - needs : 0;
    std::size_t for_name = NameNeeds() + left / 2;
    if (name_ && name_->width() < for_name) for_name = name_->width();
    left -= std::min(left, for_name - std::min(for_name, NameNeeds()));
    for (TextColumn& one : others_) {
      if (one.column.unit != Unit::kShortText) continue;
      const std::size_t least = NeedsOf(one), most = least + left;
      left -= std::min(one.width(), most) - least;
      if (one.width() > most) Shorten(one, most);
    }
    if (name_ && name_->width() > for_name + left) Shorten(*name_, for_name + left);
  }

  std::string Text() const {
    std::vector<const TextColumn*> all;
    for (const TextColumn& one : others_) all.push_back(&one);
    if (name_) all.push_back(&*name_);
    if (all.empty()) return "";
    TableText text;
    for (const TextColumn* one : all) text.align_right.push_back(!one->column.is_text());
    for (std::size_t line = 0; line < all.front()->lines.size(); ++line) {
      auto& row = text.rows.emplace_back();
      for (const TextColumn* one : all) row.push_back(one->lines[line]);
    }
    return FormatTable(text, std::string(kIndent, ' '));
  }

 private:
  static std::size_t NeedsOf(const TextColumn& other) {
    return other.column.unit == Unit::kShortText ? std::min(other.width(), kRoomForShortText)
                                                 : other.width();
  }
  std::size_t Needs() const {
    std::size_t needs = kIndent + NameNeeds();
    for (const TextColumn& one : others_) needs += NeedsOf(one) + kBetween;
    return needs;
  }
  std::size_t NameNeeds() const {
    if (!name_) return 0;
    const bool is_beside = std::any_of(others_.begin(), others_.end(), [](const TextColumn& one) {
      return one.column.unit == Unit::kShortText;
    });
    return std::min(name_->width(), is_beside ? kRoomForNameBeside : kRoomForName);
  }

  const TableTextOptions& options_;
  std::vector<TextColumn> others_;
  std::optional<TextColumn> name_;
};

bool SmallestFirst(const TableColumn& column) {
  return column.is_text() || column.unit == Unit::kOrdinal || column.unit == Unit::kMoment;
}

// Of known cells of one column.
bool Less(const Cell& a, const Cell& b) {
  const auto *text_a = std::get_if<std::string>(&a), *text_b = std::get_if<std::string>(&b);
  if (text_a != nullptr && text_b != nullptr) return *text_a < *text_b;
  const auto *whole_a = std::get_if<std::int64_t>(&a), *whole_b = std::get_if<std::int64_t>(&b);
  if (whole_a != nullptr && whole_b != nullptr) return *whole_a < *whole_b;
  if (text_a != nullptr || text_b != nullptr) return text_a == nullptr;
  return AsNumber(a) < AsNumber(b);
}

}  // namespace

std::optional<std::size_t> FindColumn(std::span<const TableColumn> columns, std::string_view name) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (columns[i].name == name || columns[i].title == name) return i;
  }
  return std::nullopt;
}

void SortTable(Table& table, std::size_t column, bool reversed) {
  const bool ascending = SmallestFirst(table.columns[column]) != reversed;
  std::stable_sort(table.rows.begin(), table.rows.end(), [&](const auto& a, const auto& b) {
    const bool a_known = a[column].index() != 0, b_known = b[column].index() != 0;
    if (!a_known || !b_known) return a_known && !b_known;
    return ascending ? Less(a[column], b[column]) : Less(b[column], a[column]);
  });
}

void FilterTable(Table& table, const std::function<bool(const std::string&)>& matches) {
  std::erase_if(table.rows, [&](const std::vector<Cell>& row) {
    return std::none_of(row.begin(), row.end(), [&](const Cell& cell) {
      const auto* text = std::get_if<std::string>(&cell);
      return text != nullptr && matches(*text);
    });
  });
}

void ChooseColumns(Table& table, std::span<const std::size_t> columns) {
  Table chosen;
  for (const std::size_t column : columns) chosen.columns.push_back(table.columns[column]);
  for (const auto& row : table.rows) {
    auto& cells = chosen.rows.emplace_back();
    for (const std::size_t column : columns) cells.push_back(row[column]);
  }
  table = std::move(chosen);
}

std::vector<std::string> WriteTable(const Table& table, const TableTextOptions& options,
                                    TextPage& page) {
  if (table.rows.empty()) return {};
  Layout layout(table, options);
  std::vector<std::string> dropped = layout.DropWhatDoesNotFit();
  layout.AddBars(Bars(table));
  layout.ShortenNames();
  page.Text(layout.Text());
  for (std::size_t column = 0; column < table.columns.size(); ++column) {
    if (!table.columns[column].is_name() && !IsShown(table, column, options))
      dropped.emplace_back(table.columns[column].name);
  }
  return dropped;
}

std::string CellText(const Cell& cell, Unit unit) {
  if (std::holds_alternative<std::monostate>(cell)) return "-";
  const auto* text = std::get_if<std::string>(&cell);
  if (text == nullptr) return NumberText(cell, unit);
  return unit == Unit::kKernelClass ? KernelClassText(*text) : *text;
}

bool IsShown(const Table& table, std::size_t column, const TableTextOptions& options) {
  if (options.all_columns) return true;
  const auto any_row = [&](auto is) {
    return std::any_of(table.rows.begin(), table.rows.end(),
                       [&](const auto& row) { return is(row[column]); });
  };
  switch (table.columns[column].shown) {
    case Shown::kOnRequest:
      return false;
    case Shown::kIfRowsDiffer:
      return any_row([&](const Cell& cell) { return cell != table.rows.front()[column]; });
    default:
      return any_row(
          [](const Cell& cell) { return !std::holds_alternative<std::monostate>(cell); });
  }
}

std::string ColumnHelp(std::span<const TableColumn> columns) {
  std::string text;
  for (const TableColumn& column : columns)
    text += fmt::format("  {:<26}{}\n", column.name, column.help);
  return text;
}

}  // namespace traceinject
