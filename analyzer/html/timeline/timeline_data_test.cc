// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/timeline/timeline_data.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

// Two lanes from 1,000 to 2,000 ns; the ruler begins at 400.
Excerpt SmallExcerpt() {
  Excerpt excerpt;
  excerpt.chosen.time = {1'000, 2'000};
  excerpt.origin = 400;
  excerpt.cell_ns = 8;
  excerpt.colors = {{0x2166f8ff, "matrix multiply"}};
  excerpt.looks = {{"gemm </script>", 0}, {"norm", 0}};
  ExcerptRow row;
  row.label = "stream \"7\"";
  row.lane_px = 19;
  row.lanes.resize(2);
  row.lanes[0].push_back({.time = {.start = 990, .end = 1'036, .busy = 46, .count = 1}});
  row.lanes[0].push_back(
      {.time = {.start = 1'072, .end = 1'108, .busy = 30, .count = 4}, .look = 1});
  row.lanes[1].push_back(
      {.time = {.start = 1'100, .end = 1'200, .busy = 100, .count = 1}, .wait = 35});
  excerpt.rows.push_back(row);
  excerpt.places = {std::nullopt, ExcerptPlace{{1'100, 1'200}, 0}};
  return excerpt;
}

TEST(TimelineData, PacksSpansAsGapsAndLengthsInBase36) {
  const std::string data = TimelineData(SmallExcerpt());
  EXPECT_NE(data.find(R"("lanes":["-a 1a 0,10 10 1 4 u","2s 2s 0 z"])"), std::string::npos) << data;
  EXPECT_NE(data.find(R"("start":600,"span":1000,"cell":8)"), std::string::npos) << data;
  EXPECT_NE(data.find(R"("places":[null,[100,200,0]])"), std::string::npos) << data;
}

TEST(TimelineData, HasNamesAndColors) {
  const std::string data = TimelineData(SmallExcerpt());
  EXPECT_NE(data.find(R"("label":"stream \"7\"")"), std::string::npos) << data;
  EXPECT_NE(data.find(R"(["#2166f8","#ffffff","matrix multiply"])"), std::string::npos) << data;
  EXPECT_NE(data.find(R"("looks":[["gemm </script>",0],["norm",0]])"), std::string::npos) << data;
}

TEST(TimelineData, OfWholeGpusTellsTheCategories) {
  Excerpt excerpt = SmallExcerpt();
  excerpt.rows[0].by_category = true;
  excerpt.rows[0].lanes[0][1].time.mix = {20, 10, 0};
  EXPECT_NE(TimelineData(excerpt).find("10 10 1 4 u k a 0"), std::string::npos);
}

TEST(TimelineData, CountersAreLeastAndMost) {
  Excerpt excerpt = SmallExcerpt();
  excerpt.rows[0].counter = {{1'000, 1'036, {2, 40}, 3}, {1'036, 2'000, {3, 3}, 3}};
  excerpt.rows[0].most = 41;
  EXPECT_NE(TimelineData(excerpt).find(R"("counter":"0 10 2 14,0 qs 3 3","most":41)"),
            std::string::npos)
      << TimelineData(excerpt);
}

}  // namespace
}  // namespace traceinject
