// SPDX-License-Identifier: Apache-2.0
#include "analyzer/convert/import_run.h"

#include <fmt/format.h>

#include <deque>
#include <filesystem>
#include <iterator>
#include <mutex>
#include <optional>
#include <set>
#include <string_view>
#include <system_error>
#include <utility>

#include "analyzer/convert/write_run_db.h"
#include "analyzer/import/load/read_files.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/merge/new_run_db.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

// A file that is whole, but for its name.
struct WrittenFile {
  NewRunDb file;
  int rank = -1;
};

// The reader names the file in front of each note, which the new file has a name of its own for.
std::vector<std::string> WithoutPath(std::vector<std::string> notes, const std::string& path) {
  const std::string prefix = path + ": ";
  for (std::string& note : notes) {
    if (note.starts_with(prefix)) note.erase(0, prefix.size());
  }
  return notes;
}

class Importer {
 public:
  Importer(std::vector<std::string> paths, const ImportOptions& options)
      : paths_(std::move(paths)),
        options_(options),
        written_(paths_.size()),
        notes_(paths_.size()) {}

  // All traces, each of which may hold several processes.
  Status WriteAll() {
    ReadFiles(paths_.size(), ReadingWithin(options_.reading, paths_),
              [&](std::size_t index, ReadProgress& progress) {
                if (HasFailed()) return;
                const Status done = WriteOne(index, progress);
                if (!done.ok()) Fail(done.error());
              });
    if (IsStopped(options_.reading.stop)) return Stopped(paths_.front());
    if (error_) return Error{*error_};
    return Done{};
  }

  Result<Imported> GiveNames() {
    std::vector<WrittenFile*> files;
    std::vector<int> ranks;
    for (auto& of_path : written_) {
      for (WrittenFile& file : of_path) {
        files.push_back(&file);
        ranks.push_back(file.rank);
      }
    }
    Imported imported;
    imported.files = NamesByRank(options_.output, ranks);
    for (const std::string& name : imported.files) {
      const Status free = ExpectFree(name, options_.replace, paths_);
      if (!free.ok()) return Error{free.error()};
    }
    for (std::size_t i = 0; i < files.size(); ++i) {
      const Status kept = files[i]->file.Keep(imported.files[i]);
      if (!kept.ok()) return Error{kept.error()};
      std::error_code ignored;
      imported.bytes += static_cast<std::int64_t>(fs::file_size(imported.files[i], ignored));
    }
    for (auto& of_path : notes_)
      std::move(of_path.begin(), of_path.end(), std::back_inserter(imported.notes));
    return imported;
  }

 private:
  Status WriteOne(std::size_t index, ReadProgress& progress) {
    auto read = ReadTrace(paths_[index], progress);
    if (!read.ok()) return Error{read.error()};
    const RecordedFile& file = read.value();
    for (const Rank& rank : file.ranks) {
      auto made = NewRunDb::Create(options_.output);
      if (!made.ok()) return Error{made.error()};
      NewRunDb& to = made.value();
      Status status = to.WriteMeta(file.base_ns, options_.tool_version, rank.run_id);
      // What is said of the whole file is said once.
      const bool first = &rank == &file.ranks.front();
      const auto notes =
          first ? WithoutPath(file.notes, paths_[index]) : std::vector<std::string>();
      if (status.ok()) status = WriteRunDb(rank, notes, to.database());
      if (status.ok()) status = to.Commit();
      if (!status.ok()) return status;
      if (progress.stop) return Stopped(paths_[index]);
      written_[index].push_back({std::move(made).value(), rank.rank.value_or(-1)});
    }
    notes_[index] = file.notes;
    return Done{};
  }

  bool HasFailed() {
    const std::lock_guard lock(mutex_);
    return error_.has_value();
  }
  void Fail(const std::string& error) {
    const std::lock_guard lock(mutex_);
    if (!error_) error_ = error;
  }

  const std::vector<std::string> paths_;
  const ImportOptions& options_;
  std::vector<std::deque<WrittenFile>> written_;  // by path
  std::vector<std::vector<std::string>> notes_;   // likewise
  std::mutex mutex_;                              // of what follows
  std::optional<std::string> error_;
};

}  // namespace

std::vector<std::string> NamesByRank(const std::string& output, const std::vector<int>& ranks) {
  if (ranks.size() == 1) return {output};
  const fs::path path(output);
  const std::string extension = path.extension().string();
  const std::string stem = output.substr(0, output.size() - extension.size());
  std::set<int> taken(ranks.begin(), ranks.end()), used;
  int next = 0;
  std::vector<std::string> names;
  for (const int rank : ranks) {
    int number = rank;
    if (rank < 0 || !used.insert(rank).second) {
      while (taken.contains(next)) ++next;
      number = next++;
    }
    names.push_back(fmt::format("{}.rank{:05}{}", stem, number, extension));
  }
  return names;
}

Result<std::vector<std::string>> ResolveTraces(const std::vector<std::string>& paths) {
  std::vector<std::string> named;
  for (const std::string& path : paths) {
    std::error_code error;
    if (!fs::is_directory(path, error)) {
      named.push_back(path);
      continue;
    }
    const std::vector<std::string> traces = TracesInFolder(path);
    if (traces.empty())
      return Error{fmt::format("{}: no trace in this folder (no {} file)", path, kTraceNames)};
    named.insert(named.end(), traces.begin(), traces.end());
  }
  auto files = ResolveRunPaths(named);
  if (!files.ok()) return Error{files.error()};
  return std::move(files.value().files);
}

Result<Imported> ImportRun(const std::vector<std::string>& paths, const ImportOptions& options) {
  auto traces = ResolveTraces(paths);
  if (!traces.ok()) return Error{traces.error()};
  Importer importer(std::move(traces).value(), options);
  if (const Status written = importer.WriteAll(); !written.ok()) return Error{written.error()};
  return importer.GiveNames();
}

}  // namespace traceinject
