// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/record/live_report.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "analyzer/import/testing/run_db_fixture.h"
#include "analyzer/model/testing/units.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

// A step a tenth of a second, with a kernel of `busy_ns`.
void AddSteps(int first, int last, TimeNs busy_ns, RunDbFixture& file) {
  for (int step = first; step < last; ++step) {
    const TimeNs at = step * kSecond / 10;
    file.AddLaunchedKernel({.start_ns = at + 10'000, .dur_ns = busy_ns}, at, 5'000);
    file.AddStepMark({.time_ns = at + 20'000});
  }
}

// What a writer in another process did: a process does not see its own locks.
class LiveReportTest : public testing::Test {
 protected:
  // Steps commit as they go; the writer stays there until the end of the test.
  void SetUp() override {
    int ready[2];
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(done_), 0);
    writer_ = fork();
    ASSERT_GE(writer_, 0);
    if (writer_ == 0) Write(ready[1]);
    char letter = 0;
    EXPECT_EQ(read(ready[0], &letter, 1), 1);
    for (const int fd : {ready[0], ready[1], done_[0]}) close(fd);
  }
  void TearDown() override {
    close(done_[1]);
    int status = 1;
    EXPECT_EQ(waitpid(writer_, &status, 0), writer_);
    EXPECT_EQ(status, 0) << "the writer could go on while the recording was read";
  }
  void Write(int ready) {
    close(done_[1]);
    RunDbFixture file(path_, {.closed = false, .write_ahead = true});
    file.AddDevice({});
    AddSteps(0, 500, 20'000'000, file);
    AddSteps(500, 1'000, 80'000'000, file);
    file.Execute("COMMIT; BEGIN");
    char letter = 'r';
    if (write(ready, &letter, 1) != 1 || read(done_[0], &letter, 1) < 0) _exit(1);
    AddSteps(1'000, 1'010, 80'000'000, file);
    file.Execute("COMMIT; BEGIN");
    _exit(0);
  }

  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
  int done_[2] = {-1, -1};
  pid_t writer_ = -1;
};

TEST_F(LiveReportTest, TheLastSecondsOfARecordingThatGrows) {
  const auto last = ReadLiveReport({.paths = {path_}, .last_ns = 10 * kSecond, .report = {}});
  ASSERT_TRUE(last.ok()) << last.error();
  ASSERT_EQ(last.value().devices_size(), 1);
  const proto::DeviceReport& device = last.value().devices(0);
  EXPECT_NEAR(device.partition().busy_share(), 0.8, 0.01);
  EXPECT_NEAR(static_cast<double>(device.partition().wall_ns()), 10e9, 0.2e9);
  EXPECT_FALSE(last.value().sources(0).closed());
  const auto whole = ReadLiveReport({.paths = {path_}, .last_ns = 1'000 * kSecond, .report = {}});
  ASSERT_TRUE(whole.ok()) << whole.error();
  EXPECT_NEAR(whole.value().devices(0).partition().busy_share(), 0.5, 0.01);
}

TEST(LiveReport, NoRecordingYet) {
  const TemporaryFolder folder;
  EXPECT_FALSE(ReadLiveReport({.paths = {folder / "run.db"}, .report = {}}).ok());
}

}  // namespace
}  // namespace traceinject
