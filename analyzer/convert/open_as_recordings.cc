// SPDX-License-Identifier: Apache-2.0
#include "analyzer/convert/open_as_recordings.h"

#include <utility>

#include "analyzer/convert/write_run_db.h"
#include "analyzer/import/load/read_files.h"
#include "analyzer/import/open/open_recording.h"
#include "analyzer/merge/new_run_db.h"

namespace traceinject {
namespace {

Result<Database> OpenWritten(const RecordedFile& file, const Rank& rank) {
  auto made = NewRunDb::CreateTemporary();
  if (!made.ok()) return Error{made.error()};
  NewRunDb& to = made.value();
  Status status = to.WriteMeta(file.base_ns, "", rank.run_id);
  if (status.ok()) status = WriteRunDb(rank, {}, to.database());
  if (status.ok()) status = to.Commit();
  if (!status.ok()) return Error{status.error()};
  return OpenFinished(to.path(), rank.path);
}

}  // namespace

Result<std::vector<Database>> OpenAsRecordings(const std::string& path) {
  std::vector<Database> databases;
  if (!IsTrace(path)) {
    auto recording = OpenRecording(path);
    if (!recording.ok()) return Error{recording.error()};
    databases.push_back(std::move(recording).value());
    return databases;
  }
  ReadProgress progress;
  const auto read = ReadTrace(path, progress);
  if (!read.ok()) return Error{read.error()};
  for (const Rank& rank : read.value().ranks) {
    auto opened = OpenWritten(read.value(), rank);
    if (!opened.ok()) return Error{opened.error()};
    databases.push_back(std::move(opened).value());
  }
  return databases;
}

}  // namespace traceinject
