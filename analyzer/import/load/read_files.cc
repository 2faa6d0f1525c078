// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/load/read_files.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <thread>

#include "analyzer/common/start_thread.h"
#include "analyzer/import/kineto/kineto_json.h"
#include "analyzer/import/load/assume_world.h"
#include "analyzer/import/load/find_place.h"
#include "analyzer/import/open/open_recording.h"
#include "analyzer/import/open/trace_databases.h"
#include "analyzer/import/run_db/read_run_db.h"
#include "analyzer/import/source/timeline_file.h"
#include "machine/available_resources.h"

namespace traceinject {
namespace {

class FileReader {
 public:
  FileReader(std::size_t files, const ReadOptions& options,
             const std::function<void(std::size_t, ReadProgress&)>& read)
      : options_(options),
        read_(read),
        threads_(options.threads != 0 ? options.threads : CountAvailableProcessors()) {
    const std::size_t each = std::max<std::size_t>(1, threads_ / std::max<std::size_t>(files, 1));
    for (std::size_t i = 0; i < files; ++i) {
      files_.push_back(std::make_unique<File>());
      files_.back()->progress.threads = static_cast<unsigned>(each);
    }
  }

  void Run() {
    const std::vector<std::jthread> threads = Start(std::min<std::size_t>(threads_, files_.size()));
    if (threads.empty()) Work();
    std::unique_lock lock(mutex_);
    while (!changed_.wait_for(lock, std::chrono::milliseconds(100), [&] { return IsDone(); })) {
      if (IsStopped(options_.stop)) {
        for (const auto& file : files_) file->progress.stop = true;
      }
      if (!options_.on_progress) continue;
      lock.unlock();
      options_.on_progress(Progress());
      lock.lock();
    }
    if (options_.on_progress) options_.on_progress(Progress());
  }

 private:
  struct File {
    ReadProgress progress;
    std::atomic<bool> done{false};
  };

  std::uint64_t Need(std::size_t file) const {
    return file < options_.needs.size() ? options_.needs[file] : 0;
  }

  bool IsDone() const { return running_ == 0 && next_ == files_.size(); }

  // As many as can be started.
  std::vector<std::jthread> Start(std::size_t wanted) {
    std::vector<std::jthread> threads;
    while (threads.size() < wanted) {
      auto thread = StartThread([this] { Work(); });
      if (!thread) break;
      threads.push_back(*std::move(thread));
    }
    return threads;
  }

  void Work() {
    std::unique_lock lock(mutex_);
    ++running_;
    while (next_ < files_.size()) {
      const std::size_t index = next_++;
      changed_.wait(lock, [&] {
        return options_.most_bytes == 0 || held_ == 0 || held_ + Need(index) <= options_.most_bytes;
      });
      held_ += Need(index);
      lock.unlock();
      if (!IsStopped(options_.stop)) read_(index, files_[index]->progress);
      files_[index]->done = true;
      lock.lock();
      held_ -= Need(index);
      changed_.notify_all();
    }
    --running_;
    changed_.notify_all();
  }

  LoadProgress Progress() const {
    LoadProgress progress;
    progress.files = files_.size();
    double shares = 0;
    for (const auto& file : files_) {
      const std::uint64_t rows = file->progress.rows, total = file->progress.rows_total;
      progress.rows += rows;
      if (file->done) {
        ++progress.files_done;
        shares += 1;
      } else if (total > 0) {
        // What comes after the last row, sorting and joining, takes about a fifth of the time.
        shares += 0.8 * std::min(1.0, static_cast<double>(rows) / static_cast<double>(total));
      }
    }
    progress.share = shares / static_cast<double>(files_.size());
    return progress;
  }

  const ReadOptions& options_;
  const std::function<void(std::size_t, ReadProgress&)>& read_;
  const unsigned threads_;
  std::vector<std::unique_ptr<File>> files_;
  std::mutex mutex_;  // of what follows
  std::condition_variable changed_;
  std::size_t next_ = 0, running_ = 0;
  std::uint64_t held_ = 0;  // bytes that the files being read need
};

Error IsForRanks(const std::string& path) {
  return Error{fmt::format(
      "{}: this is a timeline of a job's operations, without GPU work: use analyze ranks", path)};
}

Result<RecordedFile> ReadDatabase(const TraceDatabase& trace, const Database& database,
                                  ReadProgress& progress, Repairs repairs) {
  Result<RecordedFile> file = trace.read(database, progress, repairs);
  if (file.ok()) AssumeWorld(file.value().ranks);
  return file;
}

}  // namespace

Result<RecordedFile> ReadRecording(const std::string& path, ReadProgress& progress,
                                   const ReadPart& part) {
  try {
    if (IsTimeline(path)) return IsForRanks(path);
    // As a whole: a trace lists all host operators first, and its GPU operations by buffer. In the
    // public ones half of the file is read before the first tenth of the GPU's time is complete.
    if (IsKinetoJson(path)) return ReadKinetoJson(path, progress);
    const auto database = OpenDatabase(path);
    if (!database.ok()) return Error{database.error()};
    const Status ours = ExpectRecording(database.value());
    if (ours.ok()) {
      Result<RecordedFile> file = ReadRunDb(database.value(), progress, part);
      if (!file.ok()) return file;
      std::for_each(file.value().ranks.begin(), file.value().ranks.end(), FindPlaceByCommunicator);
      return file;
    }
    if (const TraceDatabase* trace = FindTrace(database.value()))
      return ReadDatabase(*trace, database.value(), progress, Repairs::kDone);
    return Error{ours.error()};
  } catch (const std::bad_alloc&) {
    return Error{fmt::format(
        "{}: not enough memory to load it. Use a machine with more memory, or analyze fewer ranks.",
        path)};
  }
}

bool IsTrace(const std::string& path) {
  if (IsKinetoJson(path)) return true;
  const auto database = OpenDatabase(path);
  return database.ok() && !ExpectRecording(database.value()).ok() &&
         FindTrace(database.value()) != nullptr;
}

Result<RecordedFile> ReadTrace(const std::string& path, ReadProgress& progress) {
  try {
    if (IsTimeline(path)) return IsForRanks(path);
    if (IsKinetoJson(path)) return ReadKinetoJson(path, progress, Repairs::kLeftOut);
    const auto database = OpenDatabase(path);
    if (!database.ok()) return Error{database.error()};
    const Status ours = ExpectRecording(database.value());
    const TraceDatabase* trace = ours.ok() ? nullptr : FindTrace(database.value());
    if (trace != nullptr)
      return ReadDatabase(*trace, database.value(), progress, Repairs::kLeftOut);
    if (!ours.ok()) return Error{ours.error()};
    return Error{fmt::format("{}: this is already a recording: analyze reads it directly", path)};
  } catch (const std::bad_alloc&) {
    return Error{fmt::format("{}: not enough memory to load it", path)};
  }
}

Error NoneCouldBeRead(const std::vector<std::string>& errors) {
  if (errors.size() == 1) return Error{errors.front()};
  return Error{fmt::format("{}\n(and {} more file{}: none could be read)", errors.front(),
                           errors.size() - 1, errors.size() == 2 ? "" : "s")};
}

void ReadFiles(std::size_t files, const ReadOptions& options,
               const std::function<void(std::size_t, ReadProgress&)>& read) {
  if (files > 0) FileReader(files, options, read).Run();
}

}  // namespace traceinject
