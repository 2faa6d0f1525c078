// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/open_recording.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>
#include <zstd.h>

#include <cstdlib>
#include <iterator>
#include <map>

#include "analyzer/import/testing/run_db_fixture.h"
#include "machine/testing/temporary_folder.h"
#include "machine/testing/text.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

// Names and contents of all files in a folder.
std::map<std::string, std::string> Snapshot(const fs::path& folder) {
  std::map<std::string, std::string> files;
  for (const auto& entry : fs::directory_iterator(folder))
    files[entry.path().filename()] = ReadText(entry.path());
  return files;
}

std::int64_t CountKernels(const Database& database) {
  auto rows = database.Prepare("SELECT count(*) FROM kernel");
  if (!rows.ok()) return -1;
  const auto row = rows.value().Step();
  return row.ok() ? rows.value().int64(0) : -1;
}

// While it lives, a folder that we may read but not write to, nor the files in it. Root may write
// anywhere, so root becomes nobody.
class ReadOnlyFolder {
 public:
  explicit ReadOnlyFolder(const fs::path& folder) : folder_(folder) {
    constexpr auto kRead = fs::perms::owner_read | fs::perms::group_read | fs::perms::others_read;
    constexpr auto kEnter = fs::perms::owner_exec | fs::perms::group_exec | fs::perms::others_exec;
    for (const auto& entry : fs::directory_iterator(folder)) fs::permissions(entry.path(), kRead);
    fs::permissions(folder, kRead | kEnter);
    constexpr uid_t kNobody = 65534;
    if (geteuid() == 0) is_nobody_ = seteuid(kNobody) == 0;
  }
  ~ReadOnlyFolder() {
    if (is_nobody_ && seteuid(0) != 0) std::abort();
    fs::permissions(folder_, fs::perms::owner_all);
    for (const auto& entry : fs::directory_iterator(folder_)) {
      fs::permissions(entry.path(), fs::perms::owner_read | fs::perms::owner_write);
    }
  }

 private:
  fs::path folder_;
  bool is_nobody_ = false;
};

void Compress(const std::string& from, const std::string& to) {
  const std::string plain = ReadText(from);
  std::string packed(ZSTD_compressBound(plain.size()), '\0');
  packed.resize(ZSTD_compress(packed.data(), packed.size(), plain.data(), plain.size(), 3));
  WriteText(to, packed);
}

class OpenRecordingTest : public testing::Test {
 protected:
  // A recording of 100 kernels.
  RunDbFixture Build(const RunDbFixture::Options& options = {}) {
    RunDbFixture file(path_, options);
    for (int i = 0; i < 100; ++i) file.AddKernel({.start_ns = i * 10, .dur_ns = 5});
    return file;
  }
  std::string ErrorFor(const std::string& path) {
    const auto database = OpenRecording(path);
    return database.ok() ? "opened" : database.error();
  }
  // Opens, counts, closes; the folder has to stay as it was, whether we may write to it or not.
  void ExpectReadableUnchanged(const std::string& path, std::int64_t kernels) {
    const auto before = Snapshot(folder_.path());
    ExpectReadable(path, kernels);
    EXPECT_EQ(Snapshot(folder_.path()), before);
    {
      const ReadOnlyFolder nobody_may_write(folder_.path());
      ExpectReadable(path, kernels);
    }
    EXPECT_EQ(Snapshot(folder_.path()), before) << "in a read-only folder";
  }
  static void ExpectReadable(const std::string& path, std::int64_t kernels) {
    const auto database = OpenRecording(path);
    ASSERT_TRUE(database.ok()) << database.error();
    EXPECT_EQ(CountKernels(database.value()), kernels);
    EXPECT_FALSE(database.value().Execute("DELETE FROM kernel").ok());
  }
  TemporaryFolder folder_;
  std::string path_ = folder_ / "run.db";
};

TEST_F(OpenRecordingTest, FinishedFile) {
  Build().Close();
  ExpectReadableUnchanged(path_, 100);
}

TEST_F(OpenRecordingTest, FinishedFileWhoseHeaderSaysWal) {
  // Copied without its (empty) -wal: plain SQLite would want to create one.
  Build().Close();
  {
    ASSERT_TRUE(Database::Open(path_, SQLITE_OPEN_READWRITE, nullptr, path_)
                    .value()
                    .Execute("PRAGMA journal_mode = WAL")
                    .ok());
  }
  fs::remove(path_ + "-wal");
  fs::remove(path_ + "-shm");
  ExpectReadableUnchanged(path_, 100);
}

TEST_F(OpenRecordingTest, LeftOverWalIsReadAndNotTouched) {
  Build({.closed = false, .write_ahead = true}).Kill();
  ASSERT_GT(fs::file_size(path_ + "-wal"), 0u);
  ExpectReadableUnchanged(path_, 100);
  // The -shm of the killed process may be there or not.
  fs::remove(path_ + "-shm");
  ExpectReadableUnchanged(path_, 100);
}

TEST_F(OpenRecordingTest, EmptyOrTornWal) {
  Build({.write_ahead = true}).Kill();
  const std::string wal = ReadText(path_ + "-wal");
  // A torn end loses the transaction it belongs to and nothing else; here the only one, so there is
  // no schema.
  WriteText(path_ + "-wal", wal.substr(0, wal.size() - 100));
  EXPECT_NE(ErrorFor(path_), "");
  fs::remove(path_ + "-wal");
  fs::remove(path_ + "-shm");
  Build().Close();
  WriteText(path_ + "-wal", "");
  ExpectReadableUnchanged(path_, 100);
}

TEST_F(OpenRecordingTest, FollowsALiveWriter) {
  // The writer is another process, since a process does not see its own locks. It says when it is
  // ready and ends when told.
  int ready[2], done[2];
  ASSERT_EQ(pipe(ready), 0);
  ASSERT_EQ(pipe(done), 0);
  const pid_t writer = fork();
  ASSERT_GE(writer, 0);
  if (writer == 0) {
    close(done[1]);
    RunDbFixture file(path_, {.closed = false, .write_ahead = true});
    file.AddKernel({.start_ns = 0, .dur_ns = 5});
    file.Execute("COMMIT; BEGIN");
    file.AddKernel({.start_ns = 10, .dur_ns = 5});  // not committed yet
    char letter = 'r';
    if (write(ready[1], &letter, 1) != 1 || read(done[0], &letter, 1) < 0) _exit(1);
    _exit(0);
  }
  char letter = 0;
  ASSERT_EQ(read(ready[0], &letter, 1), 1);
  {
    const auto database = OpenRecording(path_);
    ASSERT_TRUE(database.ok()) << database.error();
    EXPECT_EQ(CountKernels(database.value()), 1);
  }
  EXPECT_TRUE(fs::exists(path_ + "-wal"));
  close(done[1]);
  int status = 0;
  ASSERT_EQ(waitpid(writer, &status, 0), writer);
  EXPECT_EQ(status, 0);
  for (const int fd : {ready[0], ready[1], done[0]}) close(fd);
}

TEST_F(OpenRecordingTest, HotRollbackJournalIsRolledBackInACopy) {
  {
    RunDbFixture file = Build();
    file.Execute("COMMIT; PRAGMA cache_size = 1; BEGIN");
    // With one page of cache, changes reach the file before the commit.
    for (int i = 0; i < 2000; ++i) file.AddKernel({.start_ns = i, .dur_ns = 1});
    ASSERT_GT(fs::file_size(path_ + "-journal"), 0u);
    fs::copy_file(path_, folder_ / "killed.db");
    fs::copy_file(path_ + "-journal", folder_ / "killed.db-journal");
  }
  fs::remove(path_);
  ExpectReadableUnchanged(folder_ / "killed.db", 100);
}

TEST_F(OpenRecordingTest, CompressedFile) {
  Build().Close();
  Compress(path_, folder_ / "run.db.zst");
  fs::remove(path_);
  ExpectReadableUnchanged(folder_ / "run.db.zst", 100);
  // The name does not matter.
  fs::rename(folder_ / "run.db.zst", folder_ / "copy");
  ExpectReadableUnchanged(folder_ / "copy", 100);
}

TEST_F(OpenRecordingTest, DamagedCompressedFiles) {
  Build().Close();
  const std::string packed_path = folder_ / "run.db.zst";
  Compress(path_, packed_path);
  const std::string packed = ReadText(packed_path);
  WriteText(packed_path, packed.substr(0, packed.size() / 2));
  EXPECT_NE(ErrorFor(packed_path).find("truncated"), std::string::npos) << ErrorFor(packed_path);
  WriteText(packed_path, packed.substr(0, 8) + std::string(200, 'x'));
  EXPECT_NE(ErrorFor(packed_path).find("damaged"), std::string::npos) << ErrorFor(packed_path);
  WriteText(path_, "no database");
  Compress(path_, packed_path);
  EXPECT_NE(ErrorFor(packed_path).find("not an SQLite database"), std::string::npos)
      << ErrorFor(packed_path);
  WriteText(path_, "");
  Compress(path_, packed_path);
  EXPECT_NE(ErrorFor(packed_path).find("empty"), std::string::npos) << ErrorFor(packed_path);
}

TEST_F(OpenRecordingTest, OddNames) {
  Build().Close();
  const std::string odd = folder_ / "a b?mode=rw#100%25'\u00e4.db";
  fs::rename(path_, odd);
  ExpectReadableUnchanged(odd, 100);
}

TEST_F(OpenRecordingTest, SentencesForWhatIsNoRecording) {
  const auto expect = [&](const std::string& path, const std::string& part) {
    const std::string error = ErrorFor(path);
    EXPECT_TRUE(error.starts_with(path + ": ")) << error;
    EXPECT_NE(error.find(part), std::string::npos) << error;
  };
  expect(folder_ / "nowhere.db", "No such file");
  expect(folder_.path().string(), "this is a folder");
  expect("/dev/null", "not a regular file");
  WriteText(path_, "");
  expect(path_, "the file is empty");
  WriteText(path_, "x");
  expect(path_, "not an SQLite database");
  WriteText(path_, "just some text that is longer than a header of a database is");
  expect(path_, "not an SQLite database");
  WriteText(path_, "{\"traceEvents\": []}");
  expect(path_, "PyTorch profiler trace");
  fs::remove(path_);
  WriteText(folder_ / "trace.0.et",
            "\x07\n\x05"
            "1.0.0");
  expect(folder_ / "trace.0.et", "an execution trace of Chakra");
  {
    ASSERT_TRUE(Database::Open(path_, SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE, nullptr, path_)
                    .value()
                    .Execute("CREATE TABLE t (x)")
                    .ok());
  }
  expect(path_, "not a traceinject recording");
}

TEST_F(OpenRecordingTest, NewerVersionIsRefusedByNamingBoth) {
  RunDbFixture file = Build();
  file.Execute("PRAGMA user_version = 9");
  file.Close();
  const std::string error = ErrorFor(path_);
  EXPECT_NE(error.find("schema version 9"), std::string::npos) << error;
  EXPECT_NE(error.find("up to " + std::to_string(kSchemaVersion)), std::string::npos) << error;
}

TEST_F(OpenRecordingTest, TruncatedFile) {
  Build().Close();
  const std::string bytes = ReadText(path_);
  for (const std::size_t length :
       {std::size_t{20}, std::size_t{100}, std::size_t{4096}, bytes.size() - 1}) {
    WriteText(path_, bytes.substr(0, length));
    EXPECT_NE(ErrorFor(path_).find("truncated"), std::string::npos)
        << length << ": " << ErrorFor(path_);
  }
}

}  // namespace
}  // namespace traceinject
