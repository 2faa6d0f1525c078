// SPDX-License-Identifier: Apache-2.0
// Linked as portable programs are: start.cc, newer_glibc.cc, and injector/preload/compatibility.cc
// are in it. tests/distributions.sh runs it with older glibcs.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <pthread.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <mutex>
#include <stdexcept>
#include <string>
#include <thread>

namespace traceinject {
namespace {

using std::chrono::milliseconds;
using std::chrono::steady_clock;

int g_constructor_runs = 0;
const char* g_program_name = "";

__attribute__((constructor)) void Constructor(int argc, char** argv, char**) {
  ++g_constructor_runs;
  if (argc > 0) g_program_name = argv[0];
}

struct TellsItsEnd {
  ~TellsItsEnd() { std::fputs("destroyed", stderr); }
};

// A folder that is gone after the test.
class NewerGlibc : public testing::Test {
 protected:
  NewerGlibc() {
    std::string name = std::filesystem::temp_directory_path() / "newer_glibc.XXXXXX";
    folder_ = mkdtemp(name.data());
  }
  ~NewerGlibc() override { std::filesystem::remove_all(folder_); }

  std::string MakeFile(const char* name) {
    const std::string path = folder_ + "/" + name;
    std::fclose(std::fopen(path.c_str(), "w"));
    return path;
  }

  std::string folder_;
};

timespec After(clockid_t clock, milliseconds wait) {
  timespec end;
  clock_gettime(clock, &end);
  end.tv_nsec += wait.count() * 1'000'000;
  end.tv_sec += end.tv_nsec / 1'000'000'000;
  end.tv_nsec %= 1'000'000'000;
  return end;
}

TEST(Start, RunsConstructorsOnceWithTheArguments) {
  EXPECT_EQ(g_constructor_runs, 1);
  EXPECT_NE(std::strstr(g_program_name, "newer_glibc_test"), nullptr);
}

TEST(StartDeathTest, RunsDestructors) {
  EXPECT_EXIT(
      {
        static TellsItsEnd object;
        std::exit(3);
      },
      testing::ExitedWithCode(3), "destroyed");
}

// The program has copies of the C library's objects, which the C library has to use then.
TEST(Start, SharesObjectsWithTheCLibrary) {
  setenv("TRACEINJECT_NEW_NAME", "value", 1);
  bool found = false;
  for (char** entry = environ; *entry != nullptr; ++entry)
    found = found || std::strcmp(*entry, "TRACEINJECT_NEW_NAME=value") == 0;
  EXPECT_TRUE(found);
}

TEST(Exceptions, AreCaughtInThreads) {
  std::string caught;
  std::thread thrower([&] {
    try {
      static_cast<void>(std::string().at(1));
    } catch (const std::out_of_range& error) {
      caught = error.what();
    }
  });
  thrower.join();
  EXPECT_NE(caught, "");
}

TEST_F(NewerGlibc, StatDescribesFilesAndLinks) {
  const std::string path = MakeFile("file"), link = folder_ + "/link";
  ASSERT_EQ(symlink(path.c_str(), link.c_str()), 0);
  struct stat of_path, of_link, itself, opened;
  ASSERT_EQ(stat(path.c_str(), &of_path), 0);
  ASSERT_EQ(stat(link.c_str(), &of_link), 0);
  ASSERT_EQ(lstat(link.c_str(), &itself), 0);
  EXPECT_EQ(of_path.st_ino, of_link.st_ino);
  EXPECT_TRUE(S_ISLNK(itself.st_mode));
  const int file = open(path.c_str(), O_RDONLY);
  ASSERT_EQ(fstat(file, &opened), 0);
  EXPECT_EQ(opened.st_ino, of_path.st_ino);
  close(file);
  EXPECT_EQ(stat((path + ".none").c_str(), &of_path), -1);
  EXPECT_EQ(errno, ENOENT);
}

TEST_F(NewerGlibc, StatxTellsTheSameAsStat) {
  const std::string path = MakeFile("file");
  struct stat plain;
  struct statx extended;
  ASSERT_EQ(stat(path.c_str(), &plain), 0);
  if (statx(AT_FDCWD, path.c_str(), 0, STATX_INO, &extended) != 0) {
    ASSERT_EQ(errno, ENOSYS);
    GTEST_SKIP() << "this kernel has no statx";
  }
  EXPECT_EQ(extended.stx_ino, plain.st_ino);
}

TEST_F(NewerGlibc, RenamesWithoutOverwriting) {
  const std::string from = MakeFile("from"), to = MakeFile("to");
  EXPECT_EQ(renameat2(AT_FDCWD, from.c_str(), AT_FDCWD, to.c_str(), RENAME_NOREPLACE), -1);
  if (errno == EINVAL || errno == ENOSYS)
    GTEST_SKIP() << "not on this file system: " << std::strerror(errno);
  EXPECT_EQ(errno, EEXIST);
}

TEST_F(NewerGlibc, PassesArgumentsOfFcntl) {
  const int file = open(MakeFile("file").c_str(), O_RDWR);
  EXPECT_EQ(fcntl64(file, F_SETFD, FD_CLOEXEC), 0);
  EXPECT_EQ(fcntl64(file, F_GETFD), FD_CLOEXEC);
  struct flock lock {};
  lock.l_type = F_WRLCK;
  EXPECT_EQ(fcntl64(file, F_SETLK, &lock), 0);
  close(file);
}

TEST_F(NewerGlibc, ClosesRanges) {
  const int file = open(MakeFile("file").c_str(), O_RDONLY);
  const auto last = static_cast<unsigned>(file);
  if (close_range(last, last, 0) != 0) {
    ASSERT_EQ(errno, ENOSYS);
    GTEST_SKIP() << "this kernel has no close_range";
  }
  EXPECT_EQ(fcntl(file, F_GETFD), -1);
}

TEST_F(NewerGlibc, GivesRandomBytes) {
  char first[32] = {}, second[32] = {};
  ASSERT_EQ(getentropy(first, sizeof first), 0);
  ASSERT_EQ(getrandom(second, sizeof second, 0), static_cast<ssize_t>(sizeof second));
  EXPECT_NE(std::memcmp(first, second, sizeof first), 0);
  char many[257];
  EXPECT_EQ(getentropy(many, sizeof many), -1);
  EXPECT_EQ(errno, EIO);
}

TEST_F(NewerGlibc, KnowsTheThread) {
  EXPECT_EQ(gettid(), getpid());
  pid_t other = 0;
  std::thread([&] { other = gettid(); }).join();
  EXPECT_NE(other, getpid());
}

TEST_F(NewerGlibc, WaitsForAMonotonicTime) {
  std::mutex mutex;
  std::condition_variable condition;
  std::unique_lock lock(mutex);
  const auto end = steady_clock::now() + milliseconds(20);
  EXPECT_FALSE(condition.wait_until(lock, end, [] { return false; }));
  EXPECT_GE(steady_clock::now(), end);
}

TEST_F(NewerGlibc, IsWokenBeforeTheTime) {
  std::mutex mutex;
  std::condition_variable condition;
  bool done = false;
  std::thread waker([&] {
    const std::lock_guard lock(mutex);
    done = true;
    condition.notify_one();
  });
  std::unique_lock lock(mutex);
  EXPECT_TRUE(condition.wait_until(lock, steady_clock::now() + std::chrono::hours(1),
                                   [&] { return done; }));
  lock.unlock();
  waker.join();
}

TEST_F(NewerGlibc, GivesUpOnAHeldMutex) {
  std::timed_mutex mutex;
  mutex.lock();
  std::thread([&] {
    const auto end = steady_clock::now() + milliseconds(20);
    EXPECT_FALSE(mutex.try_lock_until(end));
    EXPECT_GE(steady_clock::now(), end);
  }).join();
  mutex.unlock();
  EXPECT_TRUE(mutex.try_lock_for(milliseconds(20)));
  mutex.unlock();
}

TEST_F(NewerGlibc, JoinsOrGivesUp) {
  std::mutex held;
  held.lock();
  pthread_t thread;
  const auto wait_for_mutex = [](void* mutex) -> void* {
    const std::lock_guard lock(*static_cast<std::mutex*>(mutex));
    return mutex;
  };
  ASSERT_EQ(pthread_create(&thread, nullptr, wait_for_mutex, &held), 0);
  const timespec soon = After(CLOCK_MONOTONIC, milliseconds(20));
  EXPECT_EQ(pthread_clockjoin_np(thread, nullptr, CLOCK_MONOTONIC, &soon), ETIMEDOUT);
  held.unlock();
  const timespec late = After(CLOCK_MONOTONIC, std::chrono::minutes(10));
  void* result = nullptr;
  EXPECT_EQ(pthread_clockjoin_np(thread, &result, CLOCK_MONOTONIC, &late), 0);
  EXPECT_EQ(result, &held);
}

}  // namespace
}  // namespace traceinject
