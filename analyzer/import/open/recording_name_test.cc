// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/recording_name.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

TEST(RecordingNameTest, TellsRankAndProcess) {
  const struct {
    const char* name;
    const char* stem;
    bool of_rank, of_process;
  } kCases[] = {
      {"run.db", "run", false, false},
      {"run.db.zst", "run", false, false},
      {"run.rank00003.db", "run", true, false},
      {"run.rank00003.db.zst", "run", true, false},
      {"run.p123.db", "run", false, true},
      {"big.run.rank00003.p123.db", "big.run", true, true},
      {"run.rank00003.db.node1.p7.1.spool", "run", true, false},
      {"run.rank.db", "run.rank", false, false},
      {"run.prod.db", "run.prod", false, false},
      {"run.p.db", "run.p", false, false},
      {".p5.db", ".p5", false, false},
      {"epoch12.db", "epoch12", false, false},
      {"12.db", "12", false, false},
      {"trace.json", "trace.json", false, false},
      {"a.dbx", "a.dbx", false, false},
      {".db", ".db", false, false},
  };
  for (const auto& one : kCases) {
    const RecordingName name = ParseRecordingName(one.name);
    EXPECT_EQ(name.stem, one.stem) << one.name;
    EXPECT_EQ(name.of_rank, one.of_rank) << one.name;
    EXPECT_EQ(name.of_process, one.of_process) << one.name;
  }
}

}  // namespace
}  // namespace traceinject
