// SPDX-License-Identifier: Apache-2.0
#include "injector/base/guarded_io.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

#include <cerrno>
#include <cstring>
#include <vector>

#include "injector/testing/test_support.h"

namespace traceinject {
namespace {

constexpr int kHighest = 256;  // above every descriptor that the test program opens

// What os.closerange() does, and then files of the program under all the numbers that became free.
// Everything here runs in forked children: the parent's own descriptors stay.
std::vector<int> CloseAllAndReuse(const std::string& victim) {
  for (int fd = 3; fd < kHighest; ++fd) close(fd);
  std::vector<int> victims;
  for (int i = 0; i < 12; ++i) {
    victims.push_back(
        open((victim + std::to_string(i)).c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
    if (write(victims.back(), "weights", 7) != 7) return {};
  }
  return victims;
}

// A new file often has the inode number of one that was just removed; its time of birth differs
// once the kernel's coarse clock passed the present: newer kernels stamp some files with the exact
// time, and the next ones with no earlier one.
void WaitForAnotherTimestamp() {
  timespec begin, now;
  clock_gettime(CLOCK_REALTIME, &begin);
  do {
    usleep(1000);
    clock_gettime(CLOCK_REALTIME_COARSE, &now);
  } while (now.tv_sec < begin.tv_sec ||
           (now.tv_sec == begin.tv_sec && now.tv_nsec <= begin.tv_nsec));
}

// The victims still are open and have their content.
bool Untouched(const std::string& victim, const std::vector<int>& victims) {
  for (std::size_t i = 0; i < victims.size(); ++i) {
    if (fcntl(victims[i], F_GETFD) < 0 || ReadText(victim + std::to_string(i)) != "weights")
      return false;
  }
  return !victims.empty();
}

TEST(GuardedIoTest, InstallsOnceAndForAll) {
  EXPECT_TRUE(InstallGuardedIo());
  EXPECT_TRUE(InstallGuardedIo());
}

TEST(GuardedIoTest, OpensCloseOnExecAndAboveTheStandardDescriptors) {
  EXPECT_EQ(Wait(Fork([] {
              close(0);
              close(1);
              const int fd = GuardedOpen("/dev/null", O_RDWR, 0);
              const bool moved = fd > 2 && (fcntl(fd, F_GETFD) & FD_CLOEXEC) != 0;
              const bool left_free = fcntl(0, F_GETFD) < 0 && fcntl(1, F_GETFD) < 0;
              return moved && left_free && GuardedIsOurs(fd) && GuardedClose(fd) == 0 ? 0 : 1;
            })),
            0);
}

TEST(GuardedIoTest, TellsAForeignFileUnderOurNumber) {
  TemporaryFolder folder;
  const int fd = GuardedOpen((folder / "ours").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  EXPECT_TRUE(GuardedIsOurs(fd));
  EXPECT_FALSE(DescriptorsLost());
  const int foreign = open((folder / "theirs").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(dup2(foreign, fd), fd);
  EXPECT_FALSE(GuardedIsOurs(fd));
  EXPECT_TRUE(DescriptorsLost());
  EXPECT_EQ(GuardedClose(fd), 0);
  EXPECT_GE(fcntl(fd, F_GETFD), 0);  // still open: it is the program's
  EXPECT_FALSE(DescriptorsLost());
  close(fd);
  close(foreign);
}

TEST(GuardedIoTest, ANewFileWithTheInodeOfARemovedOneIsForeign) {
  TemporaryFolder folder;
  const int fd = GuardedOpen((folder / "ours").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(fd, 0);
  WaitForAnotherTimestamp();
  close(fd);
  std::filesystem::remove(folder / "ours");
  const int foreign = open((folder / "theirs").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  ASSERT_EQ(foreign, fd);
  EXPECT_FALSE(GuardedIsOurs(fd));
  EXPECT_EQ(GuardedClose(fd), 0);
  EXPECT_EQ(close(foreign), 0);
}

TEST(GuardedIoTest, ANumberThatWasLostIsNotHandedOutAgainWhileItsOwnerBelievesInIt) {
  TemporaryFolder folder;
  const int lost = GuardedOpen((folder / "a").c_str(), O_RDWR | O_CREAT, 0600);
  ASSERT_GE(lost, 0);
  close(lost);
  const int fresh = GuardedOpen((folder / "b").c_str(), O_RDWR | O_CREAT, 0600);
  EXPECT_NE(fresh, lost);
  EXPECT_EQ(GuardedClose(lost), 0);
  EXPECT_TRUE(GuardedIsOurs(fresh));
  EXPECT_EQ(GuardedClose(fresh), 0);
}

TEST(GuardedIoTest, RefusesDescriptorsItDoesNotKnow) {
  ASSERT_TRUE(InstallGuardedIo());
  sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
  using Write = ssize_t (*)(int, const void*, size_t, off_t);
  const auto pwrite_call = reinterpret_cast<Write>(vfs->xGetSystemCall(vfs, "pwrite64"));
  errno = 0;
  EXPECT_EQ(pwrite_call(1, "x", 1, 0), -1);
  EXPECT_EQ(errno, EBADF);
}

// Every system call of this SQLite that takes a descriptor is one of ours: a call that a newer
// SQLite adds shows up here.
TEST(GuardedIoTest, KnowsAllSystemCallsOfThisSqlite) {
  ASSERT_TRUE(InstallGuardedIo());
  const std::set<std::string> guarded = {"open",     "close",  "fstat",   "ftruncate", "fcntl",
                                         "read",     "pread",  "pread64", "write",     "pwrite",
                                         "pwrite64", "fchmod", "fchown",  "mmap"};
  const std::set<std::string> by_path_or_none = {
      "access",  "getcwd", "stat",   "unlink",      "openDirectory", "mkdir", "rmdir",
      "geteuid", "munmap", "mremap", "getpagesize", "readlink",      "lstat"};
  sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
  const char* name = nullptr;
  while ((name = vfs->xNextSystemCall(vfs, name)) != nullptr) {
    EXPECT_EQ(guarded.count(name) + by_path_or_none.count(name), 1u) << name;
  }
}

class ClosedDescriptorsTest : public testing::TestWithParam<RunFile::Journal> {};

TEST_P(ClosedDescriptorsTest, TheRecordingGoesOnAndTheProgramsFilesAreUntouched) {
  TemporaryFolder folder;
  const std::string path = folder / "run.db";
  const std::string victim = folder / "checkpoint";
  const int code = Wait(Fork([&] {
    std::string why;
    auto file = RunFile::Create(path, TestHeader(GetParam()), &why);
    if (!file || !file->Write(NumberedBatch(1, 1000))) return 1;
    const std::vector<int> victims = CloseAllAndReuse(victim);
    if (!file->Write(NumberedBatch(2, 1000))) return 2;
    if (file->reopened() != 1) return 3;
    if (!file->Write(NumberedBatch(3, 1000)) || file->reopened() != 1) return 4;
    if (!Untouched(victim, victims)) return 5;
    // The claim was taken again, too.
    if (Wait(Fork([&] {
          std::string reason;
          const auto other = RunFile::Create(path, TestHeader(), &reason);
          return other && other->path() != path ? 0 : 1;
        })) != 0) {
      return 6;
    }
    if (!file->Finish(99) || !Untouched(victim, victims)) return 7;
    return 0;
  }));
  ASSERT_EQ(code, 0);
  EXPECT_EQ(Query(path, "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(Query(path, "SELECT correlation, count(*) FROM kernel GROUP BY 1"),
            "1|1000\n2|1000\n3|1000");
  EXPECT_EQ(Query(path, "SELECT value FROM meta WHERE key = 'closed'"), "1");
  EXPECT_FALSE(std::filesystem::exists(path + "-wal"));
}

// Lost at any of the calls inside a transaction: nothing is stored twice, nothing is lost.
TEST_P(ClosedDescriptorsTest, LosingThemInTheMiddleOfATransactionLosesNothing) {
  TemporaryFolder folder;
  // Rows reach the disk in the middle of a transaction once the page cache is full; the commit hook
  // runs just before the end.
  const std::string path = folder / "run.db";
  const std::string victim = folder / "checkpoint";
  const int code = Wait(Fork([&] {
    std::string why;
    auto file = RunFile::Create(path, TestHeader(GetParam()), &why);
    if (!file || !file->Write(NumberedBatch(1, 1000))) return 1;
    // Replaces SQLite's write once more: the third write of the transaction finds the descriptors
    // gone.
    static ssize_t (*guarded_write)(int, const void*, size_t, off_t);
    static int writes_left;
    static std::string victim_path;
    static std::vector<int> victims;
    sqlite3_vfs* vfs = sqlite3_vfs_find("unix");
    guarded_write = reinterpret_cast<decltype(guarded_write)>(vfs->xGetSystemCall(vfs, "pwrite64"));
    victim_path = victim;
    ssize_t (*closing_write)(int, const void*, size_t, off_t) = [](int fd, const void* data,
                                                                   size_t bytes, off_t offset) {
      if (writes_left-- == 0) victims = CloseAllAndReuse(victim_path);
      return guarded_write(fd, data, bytes, offset);
    };
    vfs->xSetSystemCall(vfs, "pwrite64", reinterpret_cast<sqlite3_syscall_ptr>(closing_write));
    for (std::uint32_t number = 2; number < 12; ++number) {
      writes_left = static_cast<int>(number) - 2;
      if (!file->Write(NumberedBatch(number, 1000))) return 2;
      if (!Untouched(victim, victims)) return 3;
      if (file->reopened() != static_cast<int>(number) - 1) return 4;
    }
    return file->Finish(99) ? 0 : 5;
  }));
  ASSERT_EQ(code, 0);
  EXPECT_EQ(Query(path, "PRAGMA integrity_check"), "ok");
  EXPECT_EQ(Query(path,
                  "SELECT count(*), count(DISTINCT correlation), min(n), max(n) FROM "
                  "(SELECT correlation, count(*) AS n FROM kernel GROUP BY 1)"),
            "11|11|1000|1000");
}

TEST_P(ClosedDescriptorsTest, ARecordingThatWasRemovedIsNotMadeAnew) {
  TemporaryFolder folder;
  const std::string path = folder / "run.db";
  const int code = Wait(Fork([&] {
    std::string why;
    auto file = RunFile::Create(path, TestHeader(GetParam()), &why);
    if (!file || !file->Write(NumberedBatch(1, 10))) return 1;
    WaitForAnotherTimestamp();
    std::filesystem::remove(path);
    const std::vector<int> victims = CloseAllAndReuse(folder / "checkpoint");
    if (file->Write(NumberedBatch(2, 10)) || file->Write(NumberedBatch(2, 10))) return 2;
    if (file->last_error().find("removed") == std::string::npos) return 3;
    if (file->reopened() != 0 || std::filesystem::exists(path)) return 4;
    if (file->Finish(99)) return 5;
    return Untouched(folder / "checkpoint", victims) ? 0 : 6;
  }));
  EXPECT_EQ(code, 0);
}

INSTANTIATE_TEST_SUITE_P(Journals, ClosedDescriptorsTest,
                         testing::Values(RunFile::Journal::kWriteAhead,
                                         RunFile::Journal::kTruncate),
                         JournalName);

}  // namespace
}  // namespace traceinject
