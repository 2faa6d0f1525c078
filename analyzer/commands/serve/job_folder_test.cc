// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/job_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"

namespace traceinject {
namespace {

class JobFolderTest : public testing::Test {
 protected:
  std::string Path(const std::string& name) const { return folder_ / name; }
  void Record(const std::string& name, const std::string& run_id,
              const std::string& rows = "") const {
    std::filesystem::create_directories(std::filesystem::path(Path(name)).parent_path());
    RunDbFixture fixture(Path(name), {.run_id = run_id});
    if (!rows.empty()) fixture.Execute(rows);
    fixture.Close();
  }
  // "name: file file", with the names of the files alone.
  std::vector<std::string> Find() {
    std::vector<std::string> found;
    for (const JobFiles& job : jobs_.Find()) {
      std::string text = job.name + ":";
      for (const std::string& path : job.paths)
        text += " " + std::filesystem::path(path).filename().string();
      found.push_back(text);
    }
    return found;
  }
  using Jobs = std::vector<std::string>;

  TemporaryFolder folder_;
  JobFolder jobs_{Path("results")};
};

TEST_F(JobFolderTest, JobsComeAndGo) {
  EXPECT_EQ(Find(), Jobs{});
  Record("results/a.db", "1");
  EXPECT_EQ(Find(), Jobs{"a: a.db"});
  Record("results/b/run.db", "2");
  EXPECT_EQ(Find(), (Jobs{"a: a.db", "b: run.db"}));
  std::filesystem::remove(Path("results/a.db"));
  EXPECT_EQ(Find(), Jobs{"b: run.db"});
}

TEST_F(JobFolderTest, RanksAreOneJob) {
  Record("results/vision/try2/run.rank00000.db", "1");
  Record("results/vision/try2/run.rank00001.db", "1");
  Record("results/big.rank00000.db", "2");
  Record("results/big.rank00001.p77.db", "2");
  EXPECT_EQ(Find(), (Jobs{"big: big.rank00000.db big.rank00001.p77.db",
                          "vision/try2: run.rank00000.db run.rank00001.db"}));
}

TEST_F(JobFolderTest, RecordingsOfOneRunAreOneJobWhateverTheyAreCalled) {
  Record("results/x/node1-5.db", "1");
  Record("results/x/node2-6.db", "1");
  Record("results/x/other.db", "2");
  Record("results/x/nameless1.db", "");
  Record("results/x/nameless2.db", "");
  EXPECT_EQ(Find(), (Jobs{"x: node1-5.db node2-6.db", "x/nameless1: nameless1.db",
                          "x/nameless2: nameless2.db", "x/other: other.db"}));
}

// Where a launcher tells no ranks, each process is a run of its own by what it knows.
TEST_F(JobFolderTest, RecordingsThatShareACommunicatorAreOneJob) {
  const auto communicator = [](int hash, int rank, int size) {
    return "INSERT INTO communicator(id, proc, hash, size, rank) VALUES (1, 1, " +
           std::to_string(hash) + ", " + std::to_string(size) + ", " + std::to_string(rank) + ")";
  };
  Record("results/x/run.db", "1", communicator(77, 0, 2));
  Record("results/x/run.p12.db", "2", communicator(77, 1, 2));
  Record("results/x/run.p13.db", "3", communicator(78, 0, 1));
  Record("results/x/run.p14.db", "4", communicator(78, 0, 1));
  EXPECT_EQ(Find(),
            (Jobs{"x: run.db run.p12.db", "x/run.p13: run.p13.db", "x/run.p14: run.p14.db"}));
}

TEST_F(JobFolderTest, NoTwoJobsHaveOneName) {
  Record("results/a.db", "1");
  Record("results/a/run.db", "2");
  Record("results/a/1.db", "3");
  Record("results/a/2.db", "3");
  EXPECT_EQ(Find(), (Jobs{"a: a.db", "a/1: 1.db 2.db", "a/run: run.db"}));
}

TEST_F(JobFolderTest, NothingElseIsAJob) {
  Record("results/.hidden/run.db", "1");
  Record("elsewhere/run.db", "2");
  std::filesystem::create_directories(Path("results/empty"));
  std::filesystem::create_directory_symlink(Path("elsewhere"), Path("results/link"));
  std::ofstream(Path("results/run.db.1")) << "moved aside";
  std::ofstream(Path("results/run.json")) << "{}";
  EXPECT_EQ(Find(), Jobs{});
  // What is no recording is a job that cannot be read.
  std::ofstream(Path("results/broken.db")) << "not a database";
  std::ofstream(Path("results/broken2.db")) << "not a database";
  EXPECT_EQ(Find(), (Jobs{"broken: broken.db", "broken2: broken2.db"}));
}

TEST_F(JobFolderTest, RecordingsInTheirSpoolAreFound) {
  std::filesystem::create_directories(Path("results/a"));
  Record("spool/run.rank00000.db.node1.p7.1", "1");
  for (const char* file : {"run.rank00000.db.node1.p7.1", "run.rank00001.db.node2.p8.1"})
    std::ofstream(Path("results/a/") + file + ".spool")
        << "node1:" << Path("spool/") << file << "\n";
  EXPECT_EQ(Find(), Jobs{"a: run.rank00000.db.node1.p7.1"});
}

}  // namespace
}  // namespace traceinject
