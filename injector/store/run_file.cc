// SPDX-License-Identifier: Apache-2.0
#include "injector/store/run_file.h"

#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <exception>
#include <mutex>
#include <optional>
#include <utility>

#include "injector/base/clock.h"
#include "injector/base/guarded_io.h"
#include "injector/store/claim.h"
#include "injector/store/row_writer.h"
#include "machine/file_system.h"
#include "schemas/run_db_sql.h"
#include "schemas/views_sql.h"

namespace traceinject {
namespace {

// A reader that follows a recording with a rollback journal holds us up for as long as its query
// runs.
constexpr int kBusyTimeoutMs = 2000;
// At the end of the process there is less time: enough for one that looks at the last seconds now
// and then. A reader that is still there keeps the -wal, nothing is lost.
constexpr int kFinishBusyTimeoutMs = 400;
constexpr int kFinishPauseMs = 10;

// synchronous = NORMAL: a crash of the machine leaves a file that is sound. What is copied from the
// log into the database is synced before the log is written over: some three times in kLogBytes.
// With OFF most files were damaged or empty (tests/endurance/power_loss.py). What is
// committed survives the death of the process in every mode. page_size: 16 KiB would be 6 % faster
// than 4 KiB at full speed and rows take the same 27 bytes (run_file_bench, November 2025), but a
// flush that adds a few rows writes whole pages, and the smallest recording would be 0.43 MB
// instead of 0.12.
constexpr char kConnectionSetup[] =
    "PRAGMA page_size = 4096;"
    "PRAGMA synchronous = NORMAL;"
    "PRAGMA temp_store = MEMORY;";
constexpr char kNoSyncs[] = "PRAGMA synchronous = OFF";
// How much of its end the file lacks after a crash of the machine: the log is synced when the last
// time was so long ago. Where that takes long, as beside a checkpoint of the training on the same
// disk, the writer does so for a small share of its time, lest its queues overflow.
constexpr std::int64_t kSyncEveryNs = 1'000'000'000;
constexpr std::int64_t kMostSyncingShare = 20;
// Where the last sync took longer, the program that ends does not wait for those of its end: only a
// crash of the machine before the disk is done would do harm.
constexpr std::int64_t kSlowSyncNs = 250'000'000;
// Fewer checkpoints write the last pages of tables less often.
constexpr std::int64_t kLogBytes = 16'384'000;

// The first column of the first row as text; empty on an error.
std::string QueryText(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  std::string text;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW && sqlite3_column_text(statement, 0) != nullptr) {
    text = reinterpret_cast<const char*>(sqlite3_column_text(statement, 0));
  }
  sqlite3_finalize(statement);
  return text;
}

bool Execute(sqlite3* db, const char* sql) {
  return sqlite3_exec(db, sql, nullptr, nullptr, nullptr) == SQLITE_OK;
}

// 0 if it cannot be told.
std::int64_t QueryNumber(sqlite3* db, const char* sql) {
  sqlite3_stmt* statement = nullptr;
  std::int64_t number = 0;
  if (sqlite3_prepare_v2(db, sql, -1, &statement, nullptr) == SQLITE_OK &&
      sqlite3_step(statement) == SQLITE_ROW) {
    number = sqlite3_column_int64(statement, 0);
  }
  sqlite3_finalize(statement);
  return number;
}

// Pages that hold something; what rows left free is used again.
std::int64_t UsedBytes(sqlite3* db) {
  return (QueryNumber(db, "PRAGMA page_count") - QueryNumber(db, "PRAGMA freelist_count")) *
         QueryNumber(db, "PRAGMA page_size");
}

bool StepOnce(sqlite3_stmt* statement) {
  const bool done = sqlite3_step(statement) == SQLITE_DONE;
  return sqlite3_finalize(statement) == SQLITE_OK && done;
}

bool InsertMetaText(sqlite3* db, const char* key, const std::string& value) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, "INSERT INTO meta(key, value) VALUES(?, ?)", -1, &statement, nullptr);
  sqlite3_bind_text(statement, 1, key, -1, SQLITE_STATIC);
  sqlite3_bind_text64(statement, 2, value.data(), value.size(), SQLITE_STATIC, SQLITE_UTF8);
  return StepOnce(statement);
}

// `sql` has one parameter.
bool ExecuteWith(sqlite3* db, const char* sql, std::int64_t value) {
  sqlite3_stmt* statement = nullptr;
  sqlite3_prepare_v2(db, sql, -1, &statement, nullptr);
  sqlite3_bind_int64(statement, 1, value);
  return StepOnce(statement);
}

std::int64_t FileBytes(const std::string& path) {
  struct stat file;
  return stat(path.c_str(), &file) == 0 ? static_cast<std::int64_t>(file.st_size) : 0;
}

// The -wal that SQLite has open, or a journal; null: none.
sqlite3_file* OpenLog(sqlite3* db) {
  sqlite3_file* log = nullptr;
  if (db == nullptr ||
      sqlite3_file_control(db, "main", SQLITE_FCNTL_JOURNAL_POINTER, &log) != SQLITE_OK ||
      log == nullptr || log->pMethods == nullptr)
    return nullptr;
  return log;
}

// Without its name; -1 if there is none.
std::int64_t LogBytes(sqlite3* db) {
  sqlite3_file* log = OpenLog(db);
  sqlite3_int64 bytes = 0;
  return log != nullptr && log->pMethods->xFileSize(log, &bytes) == SQLITE_OK ? bytes : -1;
}

}  // namespace

struct RunFile::State {
  std::string path;
  Journal journal = Journal::kWriteAhead;
  std::unique_ptr<Claim> claim;
  sqlite3* db = nullptr;
  RowWriter writer;
  std::int64_t base_ns = 0, start = 0;  // of the header; the recording's own beginning
  std::optional<KeepLastRoom> room;     // with slices
  std::optional<Slices> slices;
  std::size_t dropping = 0;       // slices, by the transaction that runs
  KeptIds kept;                   // found by it
  Removed removed;                // by those that were committed
  bool has_log = false;           // write-ahead, else a journal
  bool cannot_sync = false;       // the file system refused, and is not asked again
  std::int64_t next_sync_ns = 0;  // of the log, monotonic
  bool syncs_slowly = false;      // the last time
  int reopened = 0;
  bool lost = false;    // descriptors were lost, and no new connection is there yet
  bool over = false;    // finished: nothing more is written
  bool closed = false;  // SQLite and the claim are let go
  std::string last_error;
  int last_code = SQLITE_OK;  // primary result code of the last failure
  State* next_abandoned = nullptr;

  bool Fail(const char* what) {
    const int code = db == nullptr ? SQLITE_CANTOPEN : sqlite3_extended_errcode(db);
    cannot_sync = cannot_sync || code == SQLITE_IOERR_FSYNC || code == SQLITE_IOERR_DIR_FSYNC;
    last_code = code & 0xff;
    last_error = path + ": " + what + ": " + (db == nullptr ? "not open" : sqlite3_errmsg(db));
    return false;
  }

  bool FailText(const char* sentence) {
    last_code = SQLITE_ERROR;
    last_error = path + ": " + sentence;
    return false;
  }

  bool SetJournal();
  bool Open();
  bool Begin(const Header& header);
  void Close();
  bool Reopen();
  bool CreateSchema(const Header& header);
  bool LeaveOneFile();
  bool Prepare() { return writer.Prepare(db) || Fail("cannot prepare the recording"); }

  bool SetLogSize();
  void SyncLog();
  Slices::Moment Now() const { return {NowNs() - base_ns, ReadClockNs(CLOCK_MONOTONIC)}; }
  bool MakeRoom(std::int64_t bytes);
  void RoomIsMade(const Batch& batch);

  template <typename Body>
  bool RunTransaction(const Body& body);
  template <typename Body>
  bool Transact(const Body& body);
};

bool RunFile::State::SetJournal() {
  if (journal == Journal::kWriteAhead) {
    // An empty file has nothing that a journal would have to bring back, and be synced for.
    if (claim->bytes() == 0) Execute(db, "PRAGMA journal_mode = MEMORY");
    has_log = QueryText(db, "PRAGMA journal_mode = WAL") == "wal";
    if (has_log) return true;
  }
  // Also where the log's shared memory cannot be had. Each transaction would have to be synced
  // several times, which on a network file system takes long.
  Execute(db, kNoSyncs);
  return QueryText(db, "PRAGMA journal_mode = TRUNCATE") == "truncate" ||
         Fail("cannot set the journal mode");
}

bool RunFile::State::Open() {
  // One connection on one thread: no mutex. The file exists, its claim made it.
  constexpr int kFlags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX | SQLITE_OPEN_PRIVATECACHE;
  if (sqlite3_open_v2(path.c_str(), &db, kFlags, "unix") != SQLITE_OK)
    return Fail("cannot open the recording");
  sqlite3_busy_timeout(db, kBusyTimeoutMs);
  // Closing must not write: it is what we do when descriptors are lost.
  sqlite3_db_config(db, SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1, nullptr);
  if (!Execute(db, kConnectionSetup) || !SetLogSize() || (cannot_sync && !Execute(db, kNoSyncs)))
    return Fail("cannot set up the recording");
  return SetJournal();
}

// journal_size_limit: a log that had to hold more is cut back.
bool RunFile::State::SetLogSize() {
  const std::int64_t log_bytes = room ? room->log_bytes : kLogBytes;
  const std::string checkpoint = "PRAGMA wal_autocheckpoint = " + std::to_string(log_bytes / 4096);
  if (!Execute(db, checkpoint.c_str())) return false;
  if (!room) return true;
  const std::string limit =
      "PRAGMA journal_size_limit = " + std::to_string(room->log_bytes + room->transaction_bytes);
  return Execute(db, limit.c_str());
}

// If that fails, what is committed is as safe as before.
void RunFile::State::SyncLog() {
  const std::int64_t begin = ReadClockNs(CLOCK_MONOTONIC);
  sqlite3_file* log = has_log && !cannot_sync ? OpenLog(db) : nullptr;
  if (log == nullptr || begin < next_sync_ns) return;
  log->pMethods->xSync(log, SQLITE_SYNC_NORMAL | SQLITE_SYNC_DATAONLY);
  const std::int64_t end = ReadClockNs(CLOCK_MONOTONIC);
  next_sync_ns = end + std::max(kSyncEveryNs, kMostSyncingShare * (end - begin));
  syncs_slowly = end - begin > kSlowSyncNs;
}

// Removes the oldest slices until `bytes` fit in, inside a transaction.
bool RunFile::State::MakeRoom(std::int64_t bytes) {
  writer.BeginRemoving();
  dropping = 0;
  kept = {};
  if (!slices) return true;
  const std::int64_t now = ReadClockNs(CLOCK_MONOTONIC);
  const std::deque<Slices::Slice>& old = slices->closed();
  while (dropping < old.size() &&
         (slices->TooOld(old[dropping], now) || UsedBytes(db) + bytes > room->database_bytes)) {
    const Slices::Slice& oldest = old[dropping];
    // Those of the slices before stay or go with this one.
    kept = {};
    if (!writer.RemoveThrough(db, oldest.bounds, oldest.end.time, &kept)) return false;
    ++dropping;
  }
  if (dropping == 0) return true;
  const std::string gap =
      "INSERT OR REPLACE INTO capture_gap(rowid, start, dur, proc, reason) VALUES(0, " +
      std::to_string(start) + ", " +
      std::to_string(std::max<std::int64_t>(old[dropping - 1].end.time - start, 0)) +
      ", 1, 'keep_last')";
  return Execute(db, gap.c_str()) && writer.StoreRemoved();
}

// The transaction with `batch` is committed.
void RunFile::State::RoomIsMade(const Batch& batch) {
  if (!slices) return;
  if (dropping > 0) {
    removed.flush = slices->closed()[dropping - 1].flush;
    removed.kept = std::move(kept);
    slices->Drop(dropping);
  }
  slices->Add(EstimatedBytes(batch), writer.bounds(), batch.flush, Now());
}

void RunFile::State::Close() {
  writer.Finalize();
  sqlite3_close(db);
  db = nullptr;
}

// Closing drops the claim's lock, and opening can (see guarded_io.h): it is taken between them and
// again afterwards.
bool RunFile::State::Reopen() {
  lost = lost || DescriptorsLost();
  Close();
  if (!claim->Retake())
    return FailText("another process took over this recording: no longer writing to it");
  // A commit that failed on the old connection may have taken place all the same.
  if (!Open() || !Prepare() || !RunTransaction([&] { return writer.RemoveUnknown(db); })) {
    Close();
    return false;
  }
  claim->Retake();
  if (std::exchange(lost, false)) ++reopened;
  return true;
}

bool RunFile::State::CreateSchema(const Header& header) {
  Batch first;
  first.process.push_back(header.process);
  return RunTransaction([&] {
    return Execute(db, k_run_db_sql) && Execute(db, k_views_sql) &&
           ExecuteWith(db, "INSERT INTO meta(key, value) VALUES('base_ns', ?)", header.base_ns) &&
           InsertMetaText(db, "tool_version", header.tool_version) &&
           InsertMetaText(db, "run_id", header.process.run_id) && writer.Prepare(db) &&
           writer.Insert(first);
  });
}

bool RunFile::State::Begin(const Header& header) {
  if (Open() && CreateSchema(header)) return true;
  if (!cannot_sync) return false;
  Close();
  return claim->Retake() && Open() && CreateSchema(header);
}

template <typename Body>
bool RunFile::State::RunTransaction(const Body& body) {
  if (sqlite3_get_autocommit(db) == 0) Execute(db, "ROLLBACK");  // left by an exception
  if (Execute(db, "BEGIN IMMEDIATE") && body() && Execute(db, "COMMIT")) return true;
  Fail("cannot write to the recording");
  if (sqlite3_get_autocommit(db) == 0) Execute(db, "ROLLBACK");
  return false;
}

// Runs `body` in a transaction, on a new connection if the present one lost its descriptors or
// fails with an I/O error.
template <typename Body>
bool RunFile::State::Transact(const Body& body) {
  if (!claim->NameIsOurs()) {
    return FailText("the recording was removed, renamed or replaced: no longer writing to it");
  }
  if (db == nullptr || DescriptorsLost()) {
    if (!Reopen()) return false;
  } else {
    claim->LockAgain();  // the program may have read the file itself, which drops the lock
  }
  if (RunTransaction(body)) return true;
  if (last_code != SQLITE_IOERR && !DescriptorsLost()) return false;
  return Reopen() && RunTransaction(body);
}

// journal_mode leaves WAL only after it copied the log into the database, and refuses while a
// reader is there.
bool RunFile::State::LeaveOneFile() {
  sqlite3_busy_timeout(db, kFinishBusyTimeoutMs);
  if (syncs_slowly) Execute(db, kNoSyncs);
  // After it the log is empty and nothing has to be synced any more: whatever comes to the disk of
  // the change of mode, the file is sound.
  if (QueryText(db, "PRAGMA wal_checkpoint(TRUNCATE)") == "0") Execute(db, kNoSyncs);
  // SQLite does not wait for readers here, whatever its timeout.
  for (int waited_ms = 0; waited_ms < kFinishBusyTimeoutMs; waited_ms += kFinishPauseMs) {
    if (QueryText(db, "PRAGMA journal_mode = DELETE") == "delete") return true;
    usleep(kFinishPauseMs * 1000);
  }
  return Fail("a reader has the recording open: a -wal file stays next to it");
}

RunFile::RunFile(std::unique_ptr<State> state) : state_(std::move(state)) {}

std::unique_ptr<RunFile> RunFile::Create(const std::string& wanted_path, const Header& header,
                                         std::string* why) {
  try {
    if (!InstallGuardedIo()) {
      *why = wanted_path + ": SQLite refused the guarded system calls";
      return nullptr;
    }
    auto state = std::make_unique<State>();
    state->claim = Claim::Take(wanted_path, why);
    if (!state->claim) return nullptr;
    state->path = state->claim->path();
    state->journal = header.journal;
    state->base_ns = header.base_ns;
    state->start = header.process.start;
    if (header.keep_last) {
      state->room.emplace(*header.keep_last);
      state->slices.emplace(*header.keep_last, state->room->database_bytes);
    }
    if (state->journal == Journal::kByFileSystem) {
      state->journal = OnNetworkFileSystem(state->path) ? Journal::kTruncate : Journal::kWriteAhead;
    }
    if (!state->Begin(header)) {
      *why = state->last_error;
      state->Close();
      state->claim->Discard();
      return nullptr;
    }
    state->next_sync_ns = ReadClockNs(CLOCK_MONOTONIC) + kSyncEveryNs;
    state->claim->Retake();
    return std::unique_ptr<RunFile>(new RunFile(std::move(state)));
  } catch (const std::exception&) {
    *why = "out of memory";  // short enough to need none
  }
  return nullptr;
}

// A recording that was not finished stays as it is until the process ends: kept in a list, so that
// leak checkers see it is wanted.
RunFile::~RunFile() {
  if (state_->closed) return;
  static std::mutex mutex;
  static State* abandoned = nullptr;
  std::lock_guard lock(mutex);
  state_->next_abandoned = abandoned;
  abandoned = state_.release();
}

bool RunFile::Write(const Batch& batch) {
  State& state = *state_;
  if (state.over) return false;
  try {
    const std::int64_t bytes = state.slices ? EstimatedBytes(batch) : 0;
    const bool written =
        state.Transact([&] { return state.MakeRoom(bytes) && state.writer.Insert(batch); });
    if (!written) return false;
    state.writer.Committed(batch);
    state.RoomIsMade(batch);
    state.SyncLog();
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

RunFile::Removed RunFile::TakeRemoved() { return std::exchange(state_->removed, {}); }

bool RunFile::Finish(std::int64_t end) {
  State& state = *state_;
  if (state.over) return false;
  state.over = true;
  try {
    const bool ended = state.Transact([&] {
      return ExecuteWith(state.db, "UPDATE process SET end = ?", end) &&
             ExecuteWith(state.db, "INSERT OR REPLACE INTO meta(key, value) VALUES('closed', ?)",
                         1);
    });
    const bool single = ended && state.LeaveOneFile();
    state.Close();
    state.claim.reset();
    state.closed = true;
    return single;
  } catch (const std::exception&) {
    return false;
  }
}

const std::string& RunFile::path() const { return state_->path; }

std::int64_t RunFile::bytes() const {
  try {
    const std::int64_t database = state_->claim ? state_->claim->bytes() : -1;
    const std::int64_t log = LogBytes(state_->db);
    return (database < 0 ? FileBytes(state_->path) : database) +
           (log < 0 ? FileBytes(state_->path + "-wal") : log);
  } catch (const std::exception&) {
    return 0;
  }
}

int RunFile::reopened() const { return state_->reopened; }

const std::string& RunFile::last_error() const { return state_->last_error; }

}  // namespace traceinject
