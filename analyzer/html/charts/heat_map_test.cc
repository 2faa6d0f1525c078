// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/charts/heat_map.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "analyzer/html/testing/well_formed.h"

namespace traceinject {
namespace {

// The strokes of each shade.
std::map<std::string, std::string> Strokes(const std::vector<HeatRow>& rows) {
  Markup out;
  out.Verbatim("<!DOCTYPE html>\n");
  WriteHeatMap(out, {"a map", "of something"}, rows, "step", 1);
  const ReadPage page = Read(out.text());
  EXPECT_EQ(page.error, "");
  std::map<std::string, std::string> strokes;
  for (const PageElement& one : page.elements) {
    if (one.tag == "path") strokes[one.attributes.at("class")] = one.attributes.at("d");
  }
  return strokes;
}

using Shades = std::map<std::string, std::string>;

TEST(HeatMapTest, NeighborsOfOneShadeAreOneStroke) {
  EXPECT_EQ(Strokes({{"rank 0", {0.5, 0.5, 0.0}, ""}, {"rank 1", {-0.2, 0.03, 0.03}, ""}}),
            (Shades{{"stroke heat5", "M0 0.5h2"},
                    {"stroke heat0", "M2 0.5h1M0 1.5h1"},
                    {"stroke heat2", "M1 1.5h2"}}));
}

TEST(HeatMapTest, WhatIsNotKnownIsNotDrawn) {
  EXPECT_EQ(Strokes({{"rank 0", {NAN, 0.15}, ""}, {"rank 1", {0.015}, ""}}),
            (Shades{{"stroke heat4", "M1 0.5h1"}, {"stroke heat1", "M0 1.5h1"}}));
  EXPECT_TRUE(Strokes({}).empty());
}

TEST(HeatMapTest, ColumnsThatArePutTogetherKeepTheLargest) {
  std::vector<double> shares(16'000, 0.0);
  shares[15'950] = 0.5;
  const Shades strokes = Strokes({{"rank 0", shares, ""}});
  EXPECT_EQ(strokes.at("stroke heat5"), "M159 0.5h1");
  EXPECT_EQ(strokes.at("stroke heat0"), "M0 0.5h159");
}

}  // namespace
}  // namespace traceinject
