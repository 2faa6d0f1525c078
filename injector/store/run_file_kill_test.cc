// SPDX-License-Identifier: Apache-2.0
// A recording that is killed at any moment opens clean and has every batch that Write()
// acknowledged.
#include <signal.h>
#include <time.h>

#include <cstdint>
#include <random>

#include "injector/store/run_file.h"
#include "injector/testing/test_support.h"

namespace traceinject {
namespace {

constexpr int kRounds = 30;
constexpr std::size_t kRowsABatch = 200;

// Writes batches until it is killed, and tells the pipe the number of each that is stored.
int RecordForever(const std::string& path, RunFile::Journal journal, int acknowledge) {
  std::string why;
  auto file = RunFile::Create(path, TestHeader(journal), &why);
  if (!file) return 1;
  for (std::uint32_t number = 1;; ++number) {
    if (!file->Write(NumberedBatch(number, kRowsABatch))) return 2;
    if (write(acknowledge, &number, sizeof number) != sizeof number) return 3;
  }
}

void SleepUs(long us) {
  const timespec time{0, us * 1000};
  nanosleep(&time, nullptr);
}

class KillTest : public testing::TestWithParam<RunFile::Journal> {};

TEST_P(KillTest, EveryAcknowledgedBatchIsThere) {
  TemporaryFolder folder;
  std::mt19937 random(17);
  std::uniform_int_distribution<long> delay_us(0, 60'000);
  std::uint32_t most = 0;
  for (int round = 0; round < kRounds; ++round) {
    const std::string path = folder / ("run" + std::to_string(round) + ".db");
    int acknowledge[2];
    ASSERT_EQ(pipe(acknowledge), 0);
    const pid_t child = Fork([&] { return RecordForever(path, GetParam(), acknowledge[1]); });
    close(acknowledge[1]);
    std::uint32_t last = 0;
    ASSERT_EQ(read(acknowledge[0], &last, sizeof last), static_cast<ssize_t>(sizeof last));
    SleepUs(delay_us(random));
    kill(child, SIGKILL);
    EXPECT_EQ(Wait(child), 128 + SIGKILL);
    while (read(acknowledge[0], &last, sizeof last) == sizeof last) most = std::max(most, last);
    close(acknowledge[0]);

    ASSERT_EQ(Query(path, "PRAGMA integrity_check"), "ok");
    // At most the batch that was being acknowledged is more than we know of.
    const std::string stored = Query(path, "SELECT max(correlation) FROM kernel");
    EXPECT_TRUE(stored == std::to_string(last) || stored == std::to_string(last + 1))
        << stored << " " << last;
    EXPECT_EQ(Query(path, "SELECT count(*) FROM kernel"),
              std::to_string(std::stoul(stored) * kRowsABatch));
    EXPECT_EQ(Query(path, "SELECT count(*) FROM string"), stored);
    EXPECT_EQ(Query(path, "SELECT count(*) FROM meta WHERE key = 'closed'"), "0");
  }
  EXPECT_GT(most, 10u);
}

INSTANTIATE_TEST_SUITE_P(Journals, KillTest,
                         testing::Values(RunFile::Journal::kWriteAhead,
                                         RunFile::Journal::kTruncate),
                         JournalName);

}  // namespace
}  // namespace traceinject
