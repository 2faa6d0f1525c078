// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/charts/flame.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace traceinject {
namespace {

std::string Drawn(const std::vector<FlameBox>& boxes) {
  Markup out;
  WriteFlame(out, {"host time", {}, "main", 1e6, " per step"}, boxes);
  return out.text();
}

bool Has(const std::string& page, const std::string& text) {
  return page.find(text) != std::string::npos;
}

TEST(FlameTest, FramesBeginWhereTheirCallerOrTheOneBesideThemLeavesOff) {
  const std::string page = Drawn({{0, 10, false, "root", "r"},
                                  {1, 6, true, "a", "a"},
                                  {2, 2, true, "b", "b"},
                                  {2, 1, true, "c", "c"},
                                  {1, 3, false, "d", "d"},
                                  {2, 3, false, "e", "e"}});
  for (const char* box : {R"(class="frame" x="0%" y="0" width="100%")",
                          R"(class="frame own" x="0%" y="25" width="60%")",
                          R"(class="frame own" x="0%" y="50" width="20%")",
                          R"(class="frame own" x="20%" y="50" width="10%")",
                          R"(class="frame" x="60%" y="25" width="30%")",
                          R"(class="frame" x="60%" y="50" width="30%")"})
    EXPECT_TRUE(Has(page, box)) << box << page;
}

TEST(FlameTest, PartsThatCanBeSeenAreDrawn) {
  const std::string page = Drawn({{0,
                                   100,
                                   false,
                                   "root",
                                   "r",
                                   {{"compute", "compute", 75, ""},
                                    {"idle", "idle", 0.1, ""},
                                    {"idle-sync", "idle: sync", 24.9, ""}}}});
  EXPECT_TRUE(Has(page, R"(class="part compute" x="0%" width="75%")")) << page;
  EXPECT_FALSE(Has(page, R"(class="part idle")"));
  EXPECT_TRUE(Has(page, R"(class="part idle-sync" x="75.1%" width="24.9%")"));
}

TEST(FlameTest, ANameWithoutRoomIsOff) {
  const std::string page = Drawn({{0, 100, false, "root", "r"}, {1, 1, true, "narrow", "n"}});
  EXPECT_TRUE(Has(page, R"(class="on">root)"));
  EXPECT_TRUE(Has(page, R"(class="off">narrow)"));
}

TEST(FlameTest, NothingWithoutTime) {
  EXPECT_EQ(Drawn({}), "");
  EXPECT_EQ(Drawn({{0, 0, false, "root", "r"}}), "");
}

}  // namespace
}  // namespace traceinject
