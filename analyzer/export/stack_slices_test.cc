// SPDX-License-Identifier: Apache-2.0
#include "analyzer/export/stack_slices.h"

#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "analyzer/model/testing/rank_builder.h"

namespace traceinject {
namespace {

using Slice = std::tuple<std::string, TimeNs, TimeNs>;

class StackSlicesTest : public testing::Test {
 protected:
  StackSlicesTest() {
    load_ = builder_.AddStack({{"main", "/w/a.py", 9}, {"load", "/w/a.py", 2}});
    read_ =
        builder_.AddStack({{"main", "/w/a.py", 9}, {"load", "/w/a.py", 2}, {"read", "/w/b.py", 3}});
    other_ = builder_.AddStack({{"main", "/w/a.py", 10}});
  }
  std::vector<Slice> Slices(TimeNs period) {
    const Rank& rank = builder_.rank();
    std::vector<Slice> found;
    for (const StackSlice& one : SlicesOfLooks(rank, LooksOfThreads(rank)[0], period))
      found.emplace_back(rank.string(rank.places[one.place].function), one.time.start,
                         one.time.end);
    return found;
  }

  RankBuilder builder_;
  std::uint32_t load_ = kNone, read_ = kNone, other_ = kNone;
};

TEST_F(StackSlicesTest, EqualFramesOfNeighborsAreOneSlice) {
  builder_.AddLook(100, load_);
  builder_.AddLook(110, read_, StackKind::kTimed, 0, 0, 2, 20);
  builder_.AddLook(141, load_);
  builder_.AddLook(150, other_);
  EXPECT_EQ(Slices(10),
            (std::vector<Slice>{
                {"main", 100, 150}, {"load", 100, 150}, {"read", 110, 141}, {"main", 150, 160}}));
}

TEST_F(StackSlicesTest, NobodyLookedForSoLong) {
  builder_.AddLook(100, load_);
  builder_.AddLook(200, load_);
  EXPECT_EQ(Slices(10),
            (std::vector<Slice>{
                {"main", 100, 110}, {"load", 100, 110}, {"main", 200, 210}, {"load", 200, 210}}));
  EXPECT_EQ(Slices(0), (std::vector<Slice>{{"main", 100, 201}, {"load", 100, 201}}));
}

TEST_F(StackSlicesTest, ALookWithoutPythonEndsAll) {
  builder_.AddLook(100, other_);
  builder_.AddLook(110, kNone);
  builder_.AddLook(120, other_);
  EXPECT_EQ(Slices(10), (std::vector<Slice>{{"main", 100, 110}, {"main", 120, 130}}));
}

}  // namespace
}  // namespace traceinject
