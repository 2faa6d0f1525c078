// SPDX-License-Identifier: Apache-2.0
#include "analyzer/report/tables/table.h"

#include <gtest/gtest.h>

#include <sstream>

#include "analyzer/report/tables/full_tables.h"

namespace traceinject {
namespace {

struct Fruit {
  const char* name;
  std::optional<std::int64_t> eaten_ns;
  double share;
  std::int64_t number;
};

constexpr ColumnOf<Fruit> kFruitColumns[] = {
    {{"name", "fruit", Unit::kName, Shown::kAlways, "what it is"},
     [](const Fruit& fruit) { return Cell(fruit.name); }},
    {{"share", "share", Unit::kShare, Shown::kAlways, "of all"},
     [](const Fruit& fruit) { return Cell(fruit.share); }},
    {{"eaten_ns", "eaten", Unit::kTime, Shown::kIfItFits, "in this time"},
     [](const Fruit& fruit) {
       return CellIf(fruit.eaten_ns.has_value(), fruit.eaten_ns.value_or(0));
     }},
    {{"number", "number", Unit::kOrdinal, Shown::kOnRequest, "in the list"},
     [](const Fruit& fruit) { return Cell(fruit.number); }},
};

Table Fruits() {
  const std::vector<Fruit> fruits = {
      {"pear", 1500, 0.25, 3}, {"apple", std::nullopt, 0.5, 1}, {"cherry", 2'500'000, 0.25, 2}};
  return TableOf<Fruit>(kFruitColumns, fruits);
}

std::vector<std::string> Names(const Table& table) {
  std::vector<std::string> names;
  for (const auto& row : table.rows) names.push_back(std::get<std::string>(row[0]));
  return names;
}

using Words = std::vector<std::string>;

TEST(TableTest, ClassesOfKernelsHaveTitlesInText) {
  EXPECT_EQ(CellText(Cell("gemm"), Unit::kKernelClass), "matrix multiply");
  EXPECT_EQ(CellText(Cell("of a later version"), Unit::kKernelClass), "of a later version");
}

TEST(TableTest, AmountsSortLargestFirstAndTheUnknownLast) {
  Table table = Fruits();
  SortTable(table, *FindColumn(table.columns, "eaten_ns"), false);
  EXPECT_EQ(Names(table), (Words{"cherry", "pear", "apple"}));
  SortTable(table, *FindColumn(table.columns, "eaten_ns"), true);
  EXPECT_EQ(Names(table), (Words{"pear", "cherry", "apple"}));
  // Of equal shares the order before stays.
  SortTable(table, *FindColumn(table.columns, "share"), false);
  EXPECT_EQ(Names(table), (Words{"apple", "pear", "cherry"}));
}

TEST(TableTest, NamesAndOrdinalsSortSmallestFirst) {
  Table table = Fruits();
  SortTable(table, *FindColumn(table.columns, "name"), false);
  EXPECT_EQ(Names(table), (Words{"apple", "cherry", "pear"}));
  SortTable(table, *FindColumn(table.columns, "number"), true);
  EXPECT_EQ(Names(table), (Words{"pear", "cherry", "apple"}));
  EXPECT_FALSE(FindColumn(table.columns, "weight"));
}

TEST(TableTest, FilterAndColumns) {
  Table table = Fruits();
  FilterTable(table, [](const std::string& text) { return text.find('p') != std::string::npos; });
  EXPECT_EQ(Names(table), (Words{"pear", "apple"}));
  const std::size_t chosen[] = {3, 0};
  ChooseColumns(table, chosen);
  ASSERT_EQ(table.columns.size(), 2u);
  EXPECT_EQ(table.columns[0].name, "number");
  EXPECT_EQ(table.rows[0][0], Cell(std::int64_t{3}));
  EXPECT_EQ(table.rows[0][1], Cell("pear"));
}

TEST(TableTest, TextWithTheNameLast) {
  TextPage page(false);
  EXPECT_EQ(WriteTable(Fruits(), {}, page), Words{"number"});
  EXPECT_EQ(page.text(),
            "   share               eaten  fruit\n"
            "  25.0 %  ##......  1.500 us  pear\n"
            "  50.0 %  ####....         -  apple\n"
            "  25.0 %  ##......  2.500 ms  cherry\n");
}

TEST(TableTest, WhatDoesNotFitIsLeftOutAndSaid) {
  TextPage page(false);
  EXPECT_EQ(WriteTable(Fruits(), {.width = 20}, page), (Words{"eaten_ns", "number"}));
  EXPECT_EQ(page.text(),
            "   share  fruit\n"
            "  25.0 %  pear\n"
            "  50.0 %  apple\n"
            "  25.0 %  cherry\n");
}

// At every width as many columns as fit with the least of their texts, and no line is longer.
TEST(TableTest, ShortTextsGiveWayBeforeOtherColumnsDo) {
  const std::string function = "Optimizer.profile_hook_step.<locals>.wrapper",
                    file = "/opt/venv/lib/python3.12/site-packages/torch/optim/optimizer.py";
  const Table table{{{"idle_ns", "idle", Unit::kTime, Shown::kAlways, ""},
                     {"cause", "cause", Unit::kText, Shown::kIfItFits, ""},
                     {"function", "function", Unit::kShortText, Shown::kAlways, ""},
                     {"line", "line", Unit::kOrdinal, Shown::kAlways, ""},
                     {"file", "file", Unit::kName, Shown::kAlways, ""}},
                    {{std::int64_t{1'500'000}, "python", function, std::int64_t{41}, file},
                     {std::int64_t{500}, "sync", "f", std::int64_t{7}, "a.py"}}};
  const auto written = [&](std::size_t width, Words* dropped) {
    TextPage page(false);
    *dropped = WriteTable(table, {.width = width}, page);
    return page.text();
  };
  Words dropped;
  for (std::size_t width = 68; width <= 160; ++width) {
    const std::string text = written(width, &dropped);
    EXPECT_EQ(dropped, Words()) << width;
    for (std::size_t at = 0, end = 0; at < text.size(); at = end + 1) {
      end = text.find('\n', at);
      EXPECT_LE(end - at, width) << text;
    }
  }
  EXPECT_NE(written(160, &dropped).find(function), std::string::npos);
  EXPECT_NE(written(160, &dropped).find(file), std::string::npos);
  const std::string narrow = written(68, &dropped);
  EXPECT_NE(narrow.find("  Optimi"), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("rapper  "), std::string::npos) << narrow;
  EXPECT_NE(narrow.find("timizer.py\n"), std::string::npos) << narrow;
  written(60, &dropped);
  EXPECT_EQ(dropped, Words{"cause"});
}

TEST(TableTest, ColumnsOfWhichNothingIsKnownAreLeftOut) {
  const std::vector<Fruit> fruits = {{"apple", std::nullopt, 0.5, 1}};
  TextPage page(false);
  EXPECT_EQ(WriteTable(TableOf<Fruit>(kFruitColumns, fruits), {}, page),
            (Words{"eaten_ns", "number"}));
  EXPECT_EQ(page.text(),
            "   share            fruit\n"
            "  50.0 %  ####....  apple\n");
}

TEST(TableTest, ColumnsInWhichRowsDoNotDifferAreLeftOut) {
  Table table = Fruits();
  table.columns[*FindColumn(table.columns, "share")].shown = Shown::kIfRowsDiffer;
  TextPage several(false), one(false);
  EXPECT_EQ(WriteTable(table, {}, several), Words{"number"});
  table.rows.resize(1);
  EXPECT_EQ(WriteTable(table, {}, one), (Words{"share", "number"}));
}

TEST(TableTest, ColumnsAskedForAreAllShown) {
  TextPage page(false);
  EXPECT_TRUE(WriteTable(Fruits(), {.width = 20, .all_columns = true}, page).empty());
  EXPECT_NE(page.text().find("number"), std::string::npos);
}

TEST(TableTest, HowUnitsAreWritten) {
  const auto written = [](Unit unit, Cell cell) {
    Table table{{{"column", "column", unit, Shown::kAlways, ""}}, {{std::move(cell)}}};
    TextPage page(false);
    WriteTable(table, {.all_columns = true}, page);
    const std::string text = page.text().substr(page.text().find('\n') + 1);
    return text.substr(text.find_first_not_of(' '), text.size() - text.find_first_not_of(' ') - 1);
  };
  EXPECT_EQ(written(Unit::kMoment, std::int64_t{12'731'234'567}), "12.731235s");
  EXPECT_EQ(written(Unit::kTime, 1234.4), "1.234 us");
  EXPECT_EQ(written(Unit::kCount, std::int64_t{12'345}), "12,345");
  EXPECT_EQ(written(Unit::kBytes, std::int64_t{2'500'000}), "2.500 MB");
  EXPECT_EQ(written(Unit::kGbPerS, 351.104), "351.10");
  EXPECT_EQ(written(Unit::kOrdinal, std::int64_t{4'000'123}), "4000123");
  EXPECT_EQ(written(Unit::kNumber, 55.2249), "55.22");
  EXPECT_EQ(written(Unit::kNumber, 12'345.6), "12,346");
  EXPECT_EQ(written(Unit::kShare, Cell()), "-");
}

TEST(TableTest, LongNamesFillTheWidthAndNoMore) {
  const std::string name(500, 'x');
  const std::vector<Fruit> fruits = {{name.c_str(), 1, 1, 1}};
  TextPage page(false);
  WriteTable(TableOf<Fruit>(kFruitColumns, fruits), {.width = 80}, page);
  std::istringstream lines(page.text());
  std::size_t widest = 0;
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, line.size());
  EXPECT_EQ(widest, 80u);
}

// What help, options and files are made of.
TEST(TableTest, EveryColumnHasAHelpAndANameOfItsOwn) {
  for (const auto& columns : {KernelColumns(), GapColumns(), StepColumns(), NvtxColumns(),
                              CommColumns(), AllocationColumns(), MemorySampleColumns(),
                              DataStepColumns(), DataLoaderColumns(), DataWorkerColumns()}) {
    std::size_t names = 0;
    for (std::size_t i = 0; i < columns.size(); ++i) {
      EXPECT_EQ(FindColumn(columns, columns[i].name), i) << columns[i].name;
      EXPECT_FALSE(columns[i].help.empty()) << columns[i].name;
      EXPECT_FALSE(columns[i].title.empty()) << columns[i].name;
      names += columns[i].is_name();
      const bool time = columns[i].unit == Unit::kTime || columns[i].unit == Unit::kMoment;
      EXPECT_EQ(columns[i].name.ends_with("_ns"), time) << columns[i].name;
      EXPECT_EQ(columns[i].name.ends_with("bytes"), columns[i].unit == Unit::kBytes);
    }
    EXPECT_LE(names, 1u);
  }
}

}  // namespace
}  // namespace traceinject
