// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/timeline/evidence_place.h"

#include <gtest/gtest.h>

#include "analyzer/model/testing/units.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

class EvidencePlaceTest : public testing::Test {
 protected:
  // Times from the first GPU operation on, at 900 us.
  std::optional<Measure> Place(TimeNs start, TimeNs end) {
    evidence_.set_start_ns(start - 900 * kUs);
    evidence_.set_end_ns(end - 900 * kUs);
    return PlaceOnTimeline(loaded_->run, loaded_->rows, evidence_);
  }
  const Row& RowOf(const Measure& place) const { return loaded_->rows.rows[place.row]; }

  std::unique_ptr<const LoadedRun> loaded_ = LoadSampleRun();
  proto::Evidence evidence_;
};

TEST_F(EvidencePlaceTest, AGpuIsItsSummary) {
  evidence_.set_source(0);
  evidence_.set_device(0);
  const auto place = Place(1'000 * kUs, 1'200 * kUs);
  ASSERT_TRUE(place.has_value());
  EXPECT_EQ(RowOf(*place).kind, RowKind::kDevice);
  EXPECT_EQ(place->start, 1'000 * kUs);
  EXPECT_EQ(place->end, 1'200 * kUs);
}

TEST_F(EvidencePlaceTest, OfAThreadTheRowWithTheVeryEventIsTaken) {
  evidence_.set_source(0);
  evidence_.set_thread(4242);
  EXPECT_EQ(RowOf(*Place(1'500 * kUs, 1'520 * kUs)).kind, RowKind::kCollectives);
  EXPECT_EQ(RowOf(*Place(900 * kUs, 1'900 * kUs)).kind, RowKind::kNvtx);
  EXPECT_EQ(RowOf(*Place(910 * kUs, 915 * kUs)).kind, RowKind::kCalls);
  EXPECT_EQ(RowOf(*Place(911 * kUs, 3'333 * kUs)).kind, RowKind::kCalls);
}

TEST_F(EvidencePlaceTest, UnknownPlacesAreNowhere) {
  EXPECT_FALSE(PlaceOnTimeline(loaded_->run, loaded_->rows, evidence_)) << "no place at all";
  evidence_.set_source(0);
  evidence_.set_device(3);
  EXPECT_FALSE(Place(1'000 * kUs, 1'200 * kUs));
  evidence_.set_source(7);
  evidence_.set_device(0);
  EXPECT_FALSE(Place(1'000 * kUs, 1'200 * kUs));
  evidence_.set_source(0);
  evidence_.set_thread(1);
  EXPECT_FALSE(Place(1'000 * kUs, 1'200 * kUs));
}

TEST(RanksInVerdict, AreThoseOfItsEvidenceAndItsPlace) {
  traceinject::Run run;
  run.ranks.resize(6);
  for (int rank = 0; rank < 6; ++rank) run.ranks[static_cast<std::size_t>(rank)].rank = 10 + rank;
  proto::Verdict verdict;
  EXPECT_EQ(RanksIn(run, verdict), (std::set<std::uint32_t>{0})) << "something is to be seen";
  verdict.add_evidence()->set_text("of nobody");
  verdict.add_evidence()->set_source(4);
  verdict.set_place("rank 12");
  EXPECT_EQ(RanksIn(run, verdict), (std::set<std::uint32_t>{2, 4}));
}

}  // namespace
}  // namespace traceinject
