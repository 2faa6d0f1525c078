// SPDX-License-Identifier: Apache-2.0
#include "viewer/core/load/check_run.h"

#include <gtest/gtest.h>

#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"
#include "viewer/core/testing/sample_run.h"

namespace traceinject {
namespace {

TEST(CheckRun, NamesWhatIsMissing) {
  const CheckedRun checked = CheckRun(*LoadSampleRun());
  EXPECT_FALSE(checked.whole);
  for (const char* part : {"rank 0", "22 GPU operations", "20 CUDA calls", "3 NVTX ranges",
                           "1 NCCL call (", "health: bad", "max_size", "2 ranks; 1"}) {
    EXPECT_NE(checked.text.find(part), std::string::npos) << part << "\n" << checked.text;
  }
}

TEST(CheckRun, AWholeRunIsSaidToBe) {
  const TemporaryFolder folder;
  RunDbFixture file(folder / "run.db");
  file.AddLaunchedKernel({.start_ns = 100, .dur_ns = 50}, 10, 20);
  file.AddHealth("cupti", "seen", 2);
  file.Close();
  const LoadResult loaded = LoadWithRows({folder / "run.db"}, {});
  ASSERT_TRUE(loaded.ok());
  const CheckedRun checked = CheckRun(*loaded.value());
  EXPECT_TRUE(checked.whole) << checked.text;
  EXPECT_NE(checked.text.find("health: good"), std::string::npos) << checked.text;
}

}  // namespace
}  // namespace traceinject
