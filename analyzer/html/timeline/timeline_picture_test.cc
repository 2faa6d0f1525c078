// SPDX-License-Identifier: Apache-2.0
#include "analyzer/html/timeline/timeline_picture.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

// A row that is busy in the first half, by a tenth in the last quarter.
Excerpt HalfBusy() {
  Excerpt excerpt;
  excerpt.chosen.time = {0, 1'024};
  excerpt.colors = {{0x2166f8ff, ""}, {0x20793dff, ""}};
  excerpt.looks = {{"gemm", 0}, {"norm", 1}};
  ExcerptRow row;
  row.label = "stream 7 <b>";
  row.lane_px = 19;
  row.lanes.resize(1);
  row.lanes[0].push_back({.time = {.start = 0, .end = 512, .busy = 512, .count = 1}});
  row.lanes[0].push_back({.time = {.start = 768, .end = 1'024, .busy = 26, .count = 9}, .look = 1});
  excerpt.rows.push_back(row);
  return excerpt;
}

std::string Picture(const Excerpt& excerpt, std::size_t max_bytes) {
  Markup out;
  WriteTimelinePicture(out, excerpt, max_bytes);
  return out.text();
}

TEST(TimelinePicture, IsAsHighAsTheShareOfBusyTime) {
  const std::string picture = Picture(HalfBusy(), 10'000);
  EXPECT_NE(picture.find("stream 7 &lt;b&gt;"), std::string::npos) << picture;
  EXPECT_NE(picture.find(R"(fill="#2166f8" d="M0 0h512v18h-512z")"), std::string::npos) << picture;
  EXPECT_NE(picture.find(R"(fill="#20793d" d="M768 14h256v4h-256z")"), std::string::npos)
      << picture;
}

TEST(TimelinePicture, IsCoarserWhereBytesAreFew) {
  Excerpt excerpt = HalfBusy();
  excerpt.rows[0].lanes[0].clear();
  for (TimeNs time = 0; time < 1'024; time += 2)
    excerpt.rows[0].lanes[0].push_back(
        {.time = {.start = time, .end = time + 1, .busy = 1, .count = 1}});
  const std::string fine = Picture(excerpt, 100'000), coarse = Picture(excerpt, 4'000);
  EXPECT_GT(fine.size(), 5'000u);
  EXPECT_LE(coarse.size(), 4'100u);
  EXPECT_NE(coarse.find("h512v9h-512"), std::string::npos) << "half busy all over: " << coarse;
}

}  // namespace
}  // namespace traceinject
