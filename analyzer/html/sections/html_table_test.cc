// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/sections/html_table.h"

#include <gtest/gtest.h>

#include "analyzer/html/testing/well_formed.h"

namespace traceinject {
namespace {

Table SampleTable() {
  Table table;
  table.columns = {{"name", "name", Unit::kKernelName, Shown::kAlways, "of the kernel"},
                   {"share", "share", Unit::kShare, Shown::kAlways, "of the time"},
                   {"total_ns", "total", Unit::kTime, Shown::kAlways, "time"},
                   {"bytes", "bytes", Unit::kBytes, Shown::kAlways, "nobody knows"},
                   {"hidden", "hidden", Unit::kCount, Shown::kOnRequest, "on request"}};
  const std::string long_name(200, 'k');
  table.rows = {{Cell(long_name), Cell(0.75), Cell(std::int64_t{1'500'000}), Cell(), Cell()},
                {Cell("b<1>"), Cell(0.25), Cell(), Cell(), Cell()},
                {Cell("c"), Cell(0.0), Cell(), Cell(), Cell()}};
  return table;
}

std::string TableText(const HtmlTableOptions& options, const Table& table = SampleTable()) {
  Markup out;
  out.Verbatim("<!DOCTYPE html>\n");
  {
    const auto body = out.Open("body");
    WriteHtmlTable(out, table, options);
  }
  return out.text();
}

std::vector<std::string> Keys(const ReadPage& page) {
  std::vector<std::string> keys;
  for (const PageElement& one : page.elements) {
    if (one.attributes.count("data-v") > 0) keys.push_back(one.attributes.at("data-v"));
  }
  return keys;
}

TEST(HtmlTableTest, ShowsTextAndSortsByExactNumbers) {
  const ReadPage page = Read(TableText({.caption = "Kernels", .order = "share"}));
  EXPECT_EQ(page.error, "");
  EXPECT_EQ(page.Count("th"), 3) << "neither what nobody knows nor what nobody asked for";
  EXPECT_EQ(Keys(page), (std::vector<std::string>{"0.75", "1500000", "0.25", "", "0", ""}));
  EXPECT_NE(page.text.find("1.500 ms"), std::string::npos);
  EXPECT_NE(page.text.find("75.0 %"), std::string::npos);
  std::vector<std::string> sorted;
  for (const PageElement& one : page.elements) {
    if (one.tag == "th") sorted.push_back(one.attributes.at("aria-sort"));
  }
  EXPECT_EQ(sorted, (std::vector<std::string>{"none", "descending", "none"}));
}

TEST(HtmlTableTest, LongNamesAreShortAndWholeWherePointedAt) {
  const ReadPage page = Read(TableText({}));
  EXPECT_EQ(page.text.find(std::string(60, 'k')), std::string::npos);
  const auto whole =
      std::find_if(page.elements.begin(), page.elements.end(), [](const PageElement& one) {
        const auto tip = one.attributes.find("data-tip");
        return tip != one.attributes.end() && tip->second == std::string(200, 'k');
      });
  ASSERT_NE(whole, page.elements.end());
  EXPECT_EQ(whole->attributes.at("tabindex"), "0") << "with the keyboard, too";
}

TEST(HtmlTableTest, WhatIsLeftOutIsCounted) {
  const ReadPage page = Read(TableText({.rows = 1, .columns = 2, .where_all = "see there"}));
  EXPECT_EQ(page.Count("tr"), 2);
  EXPECT_EQ(page.Count("th"), 2);
  EXPECT_NE(page.text.find("2 more are not shown; see there"), std::string::npos);
  EXPECT_NE(TableText({}, Table()).find("none"), std::string::npos);
}

}  // namespace
}  // namespace traceinject
