// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/open/open_recording.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <memory>
#include <new>
#include <string_view>
#include <vector>

#include "analyzer/import/kineto/kineto_json.h"
#include "analyzer/import/open/trace_databases.h"
#include "analyzer/import/source/temporary_file.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSqliteMagic("SQLite format 3\0", 16);
constexpr std::string_view kChakraSuffix = ".et";
constexpr std::string_view kZstdMagic = "\x28\xB5\x2F\xFD";
// No recording comes near this; a hostile .zst of a few kilobytes could fill the disk.
constexpr std::uint64_t kLongestUnpacked_bytes = std::uint64_t{64} << 30;

// The header of the database file; https://www.sqlite.org/fileformat2.html#the_database_header.
using Header = std::array<char, 100>;

std::uint32_t BigEndian(const Header& header, std::size_t at, std::size_t bytes) {
  std::uint32_t value = 0;
  for (std::size_t i = 0; i < bytes; ++i)
    value = value << 8 | static_cast<unsigned char>(header[at + i]);
  return value;
}

bool IsThere(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0;
}

bool HasBytes(const std::string& path) {
  struct stat facts = {};
  return stat(path.c_str(), &facts) == 0 && facts.st_size > 0;
}

struct FileFacts {
  Header header = {};
  std::int64_t size_bytes = 0;
  std::string_view start(std::size_t bytes) const { return {header.data(), bytes}; }
};

Result<FileFacts> LookAt(const std::string& path) {
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0) {
    return Error{
        fmt::format("{}: cannot open ({}). Expected a run.db written by libtraceinject.so.", path,
                    std::strerror(errno))};
  }
  if (S_ISDIR(facts.st_mode))
    return Error{fmt::format("{}: this is a folder; expected a run.db.", path)};
  if (!S_ISREG(facts.st_mode))
    return Error{fmt::format("{}: not a regular file; copy the run.db to one.", path)};
  if (facts.st_size == 0) {
    return Error{fmt::format(
        "{}: the file is empty. Its process ended before anything was stored, or the copy failed.",
        path)};
  }
  const FileDescriptor fd(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd.valid())
    return Error{fmt::format("{}: cannot open ({}). Check that it is readable.", path,
                             std::strerror(errno))};
  FileFacts found;
  found.size_bytes = facts.st_size;
  if (pread(fd.get(), found.header.data(), found.header.size(), 0) < 0) {
    return Error{fmt::format("{}: read failed ({}).", path, std::strerror(errno))};
  }
  return found;
}

// A database shorter than its own header says. Only meaningful without a -wal, which would hold the
// missing pages.
Status CheckLength(const std::string& path, const FileFacts& facts) {
  const bool count_is_valid = BigEndian(facts.header, 24, 4) == BigEndian(facts.header, 92, 4);
  const std::uint32_t stored_size = BigEndian(facts.header, 16, 2);
  const std::int64_t page_bytes = stored_size == 1 ? 65536 : stored_size;
  const std::int64_t expected_bytes = page_bytes * BigEndian(facts.header, 28, 4);
  if (facts.size_bytes < 100 || (count_is_valid && facts.size_bytes < expected_bytes)) {
    return Error{
        fmt::format("{}: the file is truncated: it has {} bytes, its header says {}. If it was "
                    "copied, copy it again.",
                    path, facts.size_bytes, expected_bytes)};
  }
  return Done{};
}

std::string Uri(const std::string& path, std::string_view query) {
  std::string uri = "file:";
  for (const char c : path) {
    const bool special = c == '?' || c == '#' || c == '%';
    special ? static_cast<void>(uri += fmt::format("%{:02X}", static_cast<unsigned char>(c)))
            : uri.push_back(c);
  }
  return uri + std::string(query);
}

// Views and triggers of a hostile file may not call functions with side effects; waiting for a
// writer's lock is bounded.
constexpr char kGuards[] =
    "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; PRAGMA query_only = ON; PRAGMA "
    "busy_timeout = 5000;";

Result<Database> Begin(Result<Database> opened, const std::string& before_first_read = "") {
  if (!opened.ok()) return opened;
  Database& database = opened.value();
  // Closing must not checkpoint a left-over -wal.
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  sqlite3_db_config(database.handle(), SQLITE_DBCONFIG_DEFENSIVE, 1, nullptr);
  const Status ready = database.Execute(before_first_read + kGuards + "BEGIN");
  if (!ready.ok()) return Error{ready.error()};
  return opened;
}

constexpr int kReadOnly = SQLITE_OPEN_READONLY | SQLITE_OPEN_URI | SQLITE_OPEN_NOMUTEX;

Result<Database> OpenImmutable(const std::string& file, const std::string& shown_path) {
  return Begin(Database::Open(Uri(file, "?immutable=1"), kReadOnly, nullptr, shown_path));
}

Result<Database> OpenShared(const std::string& path) {
  return Begin(Database::Open(Uri(path, "?mode=ro"), kReadOnly, nullptr, path));
}

// In exclusive locking mode SQLite keeps the index of the -wal in its own memory instead of in a
// -shm file; the VFS without locks lets a read-only connection have that mode.
// https://www.sqlite.org/wal.html#noshm
Result<Database> OpenLeftOverWal(const std::string& path) {
  return Begin(Database::Open(Uri(path, "?mode=ro"), kReadOnly, "unix-none", path),
               "PRAGMA locking_mode = EXCLUSIVE;");
}

// Whether a process has the -shm of a database open: SQLite holds a shared lock on byte 128 of it
// (UNIX_SHM_DMS in os_unix.c).
bool IsBeingWritten(const std::string& path) {
  const FileDescriptor fd(open((path + "-shm").c_str(), O_RDONLY | O_CLOEXEC));
  struct flock lock = {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = 128;
  lock.l_len = 1;
  return fd.valid() && fcntl(fd.get(), F_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

// Rolls a half-written transaction back in a copy. The copy costs the size of the file.
Result<Database> OpenRolledBackCopy(const std::string& path) {
  auto copy = TemporaryFile::Create();
  if (!copy.ok()) return Error{copy.error()};
  const std::string& copied = copy.value().path();
  std::error_code error;
  fs::copy_file(path, copied, fs::copy_options::overwrite_existing, error);
  const std::string copied_journal = copied + "-journal";
  if (!error) fs::copy_file(path + "-journal", copied_journal, error);
  // Copies inherit permissions; rolling back has to write.
  constexpr auto kOwn = fs::perms::owner_read | fs::perms::owner_write;
  if (!error) fs::permissions(copied, kOwn, error);
  if (!error) fs::permissions(copied_journal, kOwn, error);
  if (error)
    return Error{fmt::format("{}: copying it to {} failed ({}).", path, copied, error.message())};
  return Begin(Database::Open(copied, SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX, nullptr, path),
               // The roll back happens with the first read, which has to come before query_only.
               "SELECT count(*) FROM sqlite_schema;");
}

Result<Database> OpenWithJournal(const std::string& path) {
  auto shared = OpenShared(path);
  if (shared.ok()) {
    // BEGIN alone reads nothing: a journal that has to be rolled back shows with the first read.
    const Status read = shared.value().Execute("SELECT count(*) FROM sqlite_schema");
    if (read.ok()) return shared;
  }
  return OpenRolledBackCopy(path);
}

Status Unpack(const std::string& path, TemporaryFile& target) {
  const FileDescriptor source(open(path.c_str(), O_RDONLY | O_CLOEXEC));
  if (!source.valid())
    return Error{fmt::format("{}: cannot open ({}).", path, std::strerror(errno))};
  const std::unique_ptr<ZSTD_DCtx, std::size_t (*)(ZSTD_DCtx*)> context(ZSTD_createDCtx(),
                                                                        ZSTD_freeDCtx);
  if (context == nullptr) throw std::bad_alloc();
  std::vector<char> packed(ZSTD_DStreamInSize()), plain(ZSTD_DStreamOutSize());
  std::size_t remaining = 0;  // what the decoder still expects; 0 at the end of a frame
  std::uint64_t total_bytes = 0;
  for (;;) {
    const ssize_t count = read(source.get(), packed.data(), packed.size());
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error{fmt::format("{}: read failed ({}).", path, std::strerror(errno))};
    if (count == 0) break;
    ZSTD_inBuffer in = {packed.data(), static_cast<std::size_t>(count), 0};
    bool full = false;
    while (in.pos < in.size || full) {
      ZSTD_outBuffer out = {plain.data(), plain.size(), 0};
      remaining = ZSTD_decompressStream(context.get(), &out, &in);
      if (ZSTD_getErrorCode(remaining) == ZSTD_error_memory_allocation) throw std::bad_alloc();
      if (ZSTD_isError(remaining)) {
        return Error{fmt::format("{}: the compressed data is damaged ({}). Copy the file again.",
                                 path, ZSTD_getErrorName(remaining))};
      }
      total_bytes += out.pos;
      if (total_bytes > kLongestUnpacked_bytes) {
        return Error{
            fmt::format("{}: decompresses to more than 64 GiB; decompress it yourself with zstd -d "
                        "if that is intended.",
                        path)};
      }
      const Status written = target.Append(plain.data(), out.pos);
      if (!written.ok()) return written;
      full = out.pos == out.size && remaining != 0;
    }
  }
  if (remaining != 0)
    return Error{fmt::format("{}: the compressed file is truncated. Copy it again.", path)};
  return Done{};
}

Result<Database> OpenPlain(const std::string& path, const FileFacts& facts) {
  if (IsThere(path + "-wal"))
    return IsBeingWritten(path) ? OpenShared(path) : OpenLeftOverWal(path);
  const Status length = CheckLength(path, facts);
  if (!length.ok()) return Error{length.error()};
  if (HasBytes(path + "-journal")) return OpenWithJournal(path);
  // An empty journal belongs to a writer on a network file system, between two transactions.
  return IsThere(path + "-journal") ? OpenShared(path) : OpenImmutable(path, path);
}

Result<Database> OpenCompressed(const std::string& path) {
  auto unpacked = TemporaryFile::Create();
  if (!unpacked.ok()) return Error{unpacked.error()};
  const Status status = Unpack(path, unpacked.value());
  if (!status.ok()) return Error{status.error()};
  const auto facts = LookAt(unpacked.value().path());
  if (!facts.ok()) return Error{fmt::format("{}: the compressed content is empty.", path)};
  if (facts.value().start(kSqliteMagic.size()) != kSqliteMagic) {
    return Error{fmt::format(
        "{}: the compressed content is not an SQLite database; expected a run.db.", path)};
  }
  const Status length = CheckLength(path, facts.value());
  if (!length.ok()) return Error{length.error()};
  return OpenImmutable(unpacked.value().path(), path);
}

}  // namespace

Result<Database> OpenDatabase(const std::string& path) {
  const auto facts = LookAt(path);
  if (!facts.ok()) return Error{facts.error()};
  if (facts.value().start(kZstdMagic.size()) == kZstdMagic) return OpenCompressed(path);
  if (facts.value().start(kSqliteMagic.size()) != kSqliteMagic) {
    if (IsKinetoJson(path)) {
      return Error{
          fmt::format("{0}: this is a PyTorch profiler trace (JSON). Most commands read it; for "
                      "this one convert it first: analyze import {0} -o run.db",
                      path)};
    }
    if (path.ends_with(kChakraSuffix)) {
      return Error{fmt::format(
          "{}: this is an execution trace of Chakra, which analyze writes and does not read: as "
          "published, such traces tell how long operations took and what they depend on, not when "
          "they ran",
          path)};
    }
    return Error{SqliteError(path, SQLITE_NOTADB, "")};
  }
  return OpenPlain(path, facts.value());
}

Status ExpectRecording(const Database& database) {
  auto marks = database.Prepare(
      "SELECT (SELECT application_id FROM pragma_application_id), "
      "(SELECT user_version FROM pragma_user_version)");
  if (!marks.ok()) return Error{marks.error()};
  const auto row = marks.value().Step();
  if (!row.ok()) return Error{row.error()};
  const std::int64_t application = marks.value().int64(0);
  const std::int64_t version = marks.value().int64(1);
  const TraceDatabase* trace = application == kApplicationId ? nullptr : FindTrace(database);
  if (trace != nullptr) {
    return Error{fmt::format(
        "{0}: this is {1}. Most commands read it; for this one convert it first: analyze import "
        "{0} -o run.db",
        database.path(), trace->source.what)};
  }
  if (application != kApplicationId) {
    return Error{
        fmt::format("{}: this is an SQLite database, but not a traceinject recording (its "
                    "application_id is {:#x}, expected {:#x}).",
                    database.path(), application, kApplicationId)};
  }
  if (version > kSchemaVersion) {
    return Error{
        fmt::format("{}: the file has schema version {}; this program reads versions up to {}. Use "
                    "the traceinject version that recorded it, or a newer one.",
                    database.path(), version, kSchemaVersion)};
  }
  if (version < 1) {
    return Error{fmt::format(
        "{}: the file has no valid schema version (found {}, expected 1 to {}): it is damaged.",
        database.path(), version, kSchemaVersion)};
  }
  return Done{};
}

Result<Database> OpenRecording(const std::string& path) {
  auto database = OpenDatabase(path);
  if (!database.ok()) return database;
  const Status ours = ExpectRecording(database.value());
  if (!ours.ok()) return Error{ours.error()};
  return database;
}

Result<Database> OpenFinished(const std::string& path, const std::string& name) {
  return OpenImmutable(path, name);
}

std::optional<Database> OpenBeside(const Database& recording) {
  const char* file = sqlite3_db_filename(recording.handle(), "main");
  if (file == nullptr || sqlite3_uri_boolean(file, "immutable", 0) == 0 || !IsThere(file))
    return std::nullopt;
  auto opened = OpenImmutable(file, recording.path());
  if (!opened.ok()) return std::nullopt;
  return std::move(opened).value();
}

}  // namespace traceinject
