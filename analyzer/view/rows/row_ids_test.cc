// SPDX-License-Identifier: Apache-2.0
#include "analyzer/view/rows/row_ids.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "viewer/core/testing/random_run.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

std::vector<std::string> Ids(const RowModel& model) {
  std::vector<std::string> ids;
  for (const Row& row : model.rows) ids.push_back(row.id);
  return ids;
}

TEST(RowIds, SayWhatWasRecorded) {
  const std::vector<std::string> ids = Ids(LoadSampleRun()->rows);
  for (const char* id :
       {"rank 0", "rank 0/GPU 0", "rank 0/GPU 0/stream 7 of context 1", "rank 0/host",
        "rank 0/thread 4242/NVTX", "rank 0/thread 4242/CUDA calls"}) {
    EXPECT_EQ(std::count(ids.begin(), ids.end(), id), 1) << id;
  }
}

TEST(RowIds, NoTwoAreAlike) {
  const RandomRun random(1);
  traceinject::Run run = random.run;
  run.ranks[1].rank = run.ranks[0].rank;  // as a launcher's child may say
  const std::vector<std::string> ids = Ids(BuildRows(run));
  EXPECT_EQ(std::set<std::string>(ids.begin(), ids.end()).size(), ids.size());
}

TEST(RowIds, WithoutARankTheyTellTheProcess) {
  traceinject::Run run = LoadSampleRun()->run;
  run.ranks[0].rank.reset();
  run.ranks[0].process.host = "a\033b";
  const std::vector<std::string> ids = Ids(BuildRows(run));
  const std::string process = "process " + std::to_string(run.ranks[0].process.pid) + " on a b";
  EXPECT_EQ(ids[0], process);
  EXPECT_EQ(ids[1].find(process + "/"), 0U);
}

}  // namespace
}  // namespace traceinject
