// SPDX-License-Identifier: Apache-2.0
#include "injector/store/claim.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <csignal>
#include <vector>

#include "injector/testing/test_support.h"

namespace traceinject {
namespace {

std::string WithPid(const char* stem, pid_t pid, const char* extension) {
  return std::string(stem) + ".p" + std::to_string(pid) + extension;
}

// Claims in a child that then lives until it is killed or the pipe closes.
class Owner {
 public:
  explicit Owner(const std::string& path) {
    int ready[2], hold[2];
    EXPECT_EQ(pipe(ready), 0);
    EXPECT_EQ(pipe(hold), 0);
    pid_ = Fork([&] {
      close(hold[1]);
      std::string why;
      const auto claim = Claim::Take(path, &why);
      const char ok = claim ? 'y' : 'n';
      char byte;
      return write(ready[1], &ok, 1) == 1 && read(hold[0], &byte, 1) == 0 ? 0 : 1;
    });
    close(ready[1]);
    close(hold[0]);
    char ok = 'n';
    EXPECT_EQ(read(ready[0], &ok, 1), 1);
    EXPECT_EQ(ok, 'y');
    close(ready[0]);
    hold_ = hold[1];
  }
  ~Owner() {
    if (pid_ > 0) Kill();
  }
  Owner(const Owner&) = delete;
  Owner& operator=(const Owner&) = delete;

  void Kill() {
    kill(pid_, SIGKILL);
    EXPECT_EQ(Wait(pid_), 128 + SIGKILL);
    close(hold_);
    pid_ = -1;
  }

 private:
  pid_t pid_ = -1;
  int hold_ = -1;
};

TEST(ClaimTest, CreatesTheFileAndItsFolders) {
  TemporaryFolder folder;
  std::string why;
  const auto claim = Claim::Take(folder / "a/b/run.db", &why);
  ASSERT_TRUE(claim) << why;
  EXPECT_EQ(claim->path(), folder / "a/b/run.db");
  EXPECT_TRUE(claim->NameIsOurs());
  EXPECT_EQ(folder.Names(), std::set<std::string>{"a"});
  EXPECT_EQ(std::filesystem::file_size(claim->path()), 0u);
}

TEST(ClaimTest, MakesARelativePathAbsolute) {
  TemporaryFolder folder;
  const std::filesystem::path before = std::filesystem::current_path();
  std::filesystem::current_path(folder / ".");
  std::string why;
  const auto claim = Claim::Take("run.db", &why);
  std::filesystem::current_path(before);
  ASSERT_TRUE(claim) << why;
  EXPECT_TRUE(claim->NameIsOurs());
  EXPECT_EQ(claim->path().front(), '/');
}

TEST(ClaimTest, ALiveOwnerKeepsTheName) {
  TemporaryFolder folder;
  Owner owner(folder / "run.db");
  std::string why;
  const auto claim = Claim::Take(folder / "run.db", &why);
  ASSERT_TRUE(claim) << why;
  EXPECT_EQ(claim->path(), folder / WithPid("run", getpid(), ".db"));
  EXPECT_EQ(folder.Names(), (std::set<std::string>{"run.db", WithPid("run", getpid(), ".db")}));
}

TEST(ClaimTest, APidGoesBehindANameWithoutExtension) {
  TemporaryFolder folder;
  Owner owner(folder / "run");
  std::string why;
  const auto claim = Claim::Take(folder / "run", &why);
  ASSERT_TRUE(claim) << why;
  EXPECT_EQ(claim->path(), folder / WithPid("run", getpid(), ""));
}

TEST(ClaimTest, TheNameOfADeadOwnerIsFreedAndItsFilesMoveAsideTogether) {
  TemporaryFolder folder;
  {
    Owner owner(folder / "run.db");
    WriteText(folder / "run.db", "rows");
    WriteText(folder / "run.db-wal", "log");
    WriteText(folder / "run.db-shm", "index");
    owner.Kill();
  }
  std::string why;
  const auto claim = Claim::Take(folder / "run.db", &why);
  ASSERT_TRUE(claim) << why;
  EXPECT_EQ(claim->path(), folder / "run.db");
  EXPECT_EQ(folder.Names(),
            (std::set<std::string>{"run.db", "run.db.1", "run.db.1-shm", "run.db.1-wal"}));
  EXPECT_EQ(ReadText(folder / "run.db"), "");
  EXPECT_EQ(ReadText(folder / "run.db.1"), "rows");
  EXPECT_EQ(ReadText(folder / "run.db.1-wal"), "log");
  EXPECT_EQ(ReadText(folder / "run.db.1-shm"), "index");
}

TEST(ClaimTest, NothingMovedAsideEarlierIsOverwritten) {
  TemporaryFolder folder;
  WriteText(folder / "run.db", "third");
  WriteText(folder / "run.db-journal", "third journal");
  WriteText(folder / "run.db.1", "first");
  WriteText(folder / "run.db.2-wal", "lost log");
  std::string why;
  const auto claim = Claim::Take(folder / "run.db", &why);
  ASSERT_TRUE(claim) << why;
  EXPECT_EQ(claim->path(), folder / "run.db");
  EXPECT_EQ(ReadText(folder / "run.db.1"), "first");
  EXPECT_EQ(ReadText(folder / "run.db.2-wal"), "lost log");
  EXPECT_EQ(ReadText(folder / "run.db.3"), "third");
  EXPECT_EQ(ReadText(folder / "run.db.3-journal"), "third journal");
}

TEST(ClaimTest, AnInterruptedMoveIsCompleted) {
  TemporaryFolder folder;
  WriteText(folder / "run.db", "rows");
  WriteText(folder / "run.db.1-wal", "log");
  WriteText(folder / "run.db-shm", "index");
  std::filesystem::create_hard_link(folder / "run.db", folder / "run.db.1");
  std::string why;
  const auto claim = Claim::Take(folder / "run.db", &why);
  ASSERT_TRUE(claim) << why;
  EXPECT_EQ(folder.Names(),
            (std::set<std::string>{"run.db", "run.db.1", "run.db.1-shm", "run.db.1-wal"}));
  EXPECT_EQ(ReadText(folder / "run.db.1"), "rows");
}

TEST(ClaimTest, TwoClaimsOfOneProcessDoNotMeet) {
  TemporaryFolder folder;
  std::string why;
  const auto first = Claim::Take(folder / "run.db", &why);
  const auto second = Claim::Take(folder / "run.db", &why);
  const auto third = Claim::Take(folder / "run.db", &why);
  ASSERT_TRUE(first && second && third) << why;
  EXPECT_EQ(first->path(), folder / "run.db");
  EXPECT_EQ(second->path(), folder / WithPid("run", getpid(), ".db"));
  EXPECT_EQ(third->path(), folder / WithPid("run", getpid(), ".2.db"));
  // Looking at the others' files must not have dropped their locks.
  EXPECT_EQ(Wait(Fork([&] {
              std::string reason;
              const auto child = Claim::Take(folder / "run.db", &reason);
              return child && child->path() == folder / WithPid("run", getpid(), ".db") ? 0 : 1;
            })),
            0);
}

TEST(ClaimTest, AForkedChildHoldsNothing) {
  TemporaryFolder folder;
  std::string why;
  auto claim = Claim::Take(folder / "run.db", &why);
  ASSERT_TRUE(claim) << why;
  int hold[2];
  ASSERT_EQ(pipe(hold), 0);
  const pid_t child = Fork([&] {
    close(hold[1]);
    char byte;
    return read(hold[0], &byte, 1) == 0 ? 0 : 1;
  });
  claim.reset();
  claim = Claim::Take(folder / "run.db", &why);
  ASSERT_TRUE(claim) << why;
  EXPECT_EQ(claim->path(), folder / "run.db");
  EXPECT_TRUE(std::filesystem::exists(folder / "run.db.1"));
  close(hold[1]);
  EXPECT_EQ(Wait(child), 0);
  close(hold[0]);
}

TEST(ClaimTest, RetakeFindsTheLockAgainAfterItWasDropped) {
  TemporaryFolder folder;
  std::string why;
  const auto claim = Claim::Take(folder / "run.db", &why);
  ASSERT_TRUE(claim) << why;
  close(open(claim->path().c_str(), O_RDONLY | O_CLOEXEC));  // drops the lock, see fcntl(2)
  EXPECT_TRUE(claim->Retake());
  EXPECT_EQ(Wait(Fork([&] {
              std::string reason;
              const auto child = Claim::Take(folder / "run.db", &reason);
              return child && child->path() != folder / "run.db" ? 0 : 1;
            })),
            0);
}

TEST(ClaimTest, RetakeRefusesAReplacedFile) {
  TemporaryFolder folder;
  std::string why;
  const auto claim = Claim::Take(folder / "run.db", &why);
  ASSERT_TRUE(claim) << why;
  WriteText(folder / "other", "other");
  std::filesystem::rename(folder / "other", folder / "run.db");
  EXPECT_FALSE(claim->NameIsOurs());
  EXPECT_FALSE(claim->Retake());
  claim->Discard();
  EXPECT_EQ(ReadText(folder / "run.db"), "other");
}

TEST(ClaimTest, FailuresNameThePathAndTheReason) {
  TemporaryFolder folder;
  std::string why;
  WriteText(folder / "file", "");
  EXPECT_FALSE(Claim::Take(folder / "file/run.db", &why));
  EXPECT_NE(why.find(folder / "file"), std::string::npos) << why;
  EXPECT_NE(why.find("Not a directory"), std::string::npos) << why;
  EXPECT_FALSE(Claim::Take("/proc/run.db", &why));
  EXPECT_NE(why.find("/proc/run.db"), std::string::npos) << why;
  EXPECT_FALSE(Claim::Take("/dev/null", &why));
  EXPECT_NE(why.find("not a regular file"), std::string::npos) << why;
  EXPECT_FALSE(Claim::Take("", &why));
  EXPECT_FALSE(Claim::Take(folder / "", &why));
  EXPECT_NE(why.find("not a file name"), std::string::npos) << why;
}

// Many processes want one name, under which a dead recording lies. All live until all have claimed.
TEST(ClaimTest, ProcessesThatRaceEndWithFilesOfTheirOwn) {
  constexpr int kRounds = 10;
  constexpr int kProcesses = 16;
  for (int round = 0; round < kRounds; ++round) {
    TemporaryFolder folder;
    WriteText(folder / "run.db", "old rows");
    WriteText(folder / "run.db-wal", "old log");
    int start[2], ready[2], finish[2];
    ASSERT_EQ(pipe(start), 0);
    ASSERT_EQ(pipe(ready), 0);
    ASSERT_EQ(pipe(finish), 0);
    std::vector<pid_t> children;
    for (int i = 0; i < kProcesses; ++i) {
      children.push_back(Fork([&] {
        close(start[1]);
        close(finish[1]);
        char byte;
        if (read(start[0], &byte, 1) != 0) return 1;
        std::string why;
        const auto claim = Claim::Take(folder / "run.db", &why);
        if (!claim) return 2;
        const int fd = open(claim->path().c_str(), O_WRONLY | O_APPEND | O_CLOEXEC);
        const std::string mark = std::to_string(getpid());
        if (write(fd, mark.data(), mark.size()) != static_cast<ssize_t>(mark.size())) return 3;
        // Not closed: that would drop the lock.
        if (write(ready[1], "y", 1) != 1) return 4;
        return read(finish[0], &byte, 1) == 0 ? 0 : 5;
      }));
    }
    close(start[0]);
    close(finish[0]);
    close(ready[1]);
    close(start[1]);  // go
    char byte;
    int claimed = 0;
    while (claimed < kProcesses && read(ready[0], &byte, 1) == 1) ++claimed;
    close(finish[1]);
    for (const pid_t child : children) EXPECT_EQ(Wait(child), 0);
    close(ready[0]);

    EXPECT_EQ(claimed, kProcesses);
    EXPECT_EQ(ReadText(folder / "run.db.1"), "old rows");
    EXPECT_EQ(ReadText(folder / "run.db.1-wal"), "old log");
    std::set<std::string> owners;
    for (const std::string& name : folder.Names()) {
      if (name.rfind("run.db.1", 0) != 0) owners.insert(ReadText(folder / name));
    }
    std::set<std::string> expected;
    for (const pid_t child : children) expected.insert(std::to_string(child));
    EXPECT_EQ(owners, expected);
    EXPECT_EQ(folder.Names().size(), static_cast<std::size_t>(kProcesses) + 2);
  }
}

}  // namespace
}  // namespace traceinject
