// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/read_run_db.h"

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "analyzer/common/parallel.h"
#include "analyzer/import/finish/finish_rank.h"
#include "analyzer/import/run_db/own_dictionaries.h"
#include "analyzer/import/run_db/run_db_dictionaries.h"
#include "analyzer/import/run_db/run_db_events.h"
#include "analyzer/import/run_db/run_db_samples.h"
#include "analyzer/import/source/run_db_rows.h"

namespace traceinject {
namespace {

// Dictionaries without a process column serve all processes of the file.
void TakeDictionaries(RunDbDictionaries& from, std::size_t processes, Rank& to) {
  const auto take = [&](auto& entries, auto& taken) {
    processes == 1 ? taken = std::move(entries) : taken = entries;
  };
  take(from.strings, to.strings);
  take(from.shapes, to.shapes);
  take(from.api_names, to.api_names);
  take(from.graph_nodes, to.graph_nodes);
  take(from.gemm_shapes, to.gemm_shapes);
  take(from.attention_shapes, to.attention_shapes);
  take(from.places, to.places);
  take(from.stacks, to.stacks);
  if (processes > 1) LeaveOwnEntries(to);
}

void Finish(RunDbDictionaries& dictionaries, std::optional<TimeNs> from, RecordedFile& file) {
  std::vector<std::function<void()>> tasks;
  for (Rank& each : file.ranks) {
    tasks.emplace_back([&] {
      TakeDictionaries(dictionaries, file.ranks.size(), each);
      FinishRank(each, from);
    });
  }
  RunInParallel(tasks);
}

}  // namespace

Result<RecordedFile> ReadRunDb(const Database& database, ReadProgress& progress,
                               const ReadPart& part) {
  RecordedFile file;
  RunDbRows rows(database, progress);
  RunDbDictionaries dictionaries;
  if (part.tables) rows.ReadOnlyTables(*part.tables);
  Status status = rows.CountRows();
  if (status.ok()) status = dictionaries.Read(rows, file);
  // Where processes follow each other, the first rows are of the first process only, and the last
  // of the last.
  if (part.most_rows > 0 && file.ranks.size() == 1) rows.ReadOnlyFirst(part.most_rows);
  if (status.ok() && part.last_ns > 0 && file.ranks.size() == 1)
    status = rows.ReadOnlyLast(part.last_ns);
  if (status.ok()) status = ReadRunDbEvents(rows, dictionaries, file);
  if (status.ok()) status = ReadRunDbSamples(rows, dictionaries, file);
  if (!status.ok()) return Error{status.error()};
  if (progress.stop) return Stopped(database.path());
  for (Rank& each : file.ranks) each.read_until = rows.read_until();
  Finish(dictionaries, rows.read_from(), file);
  for (std::string& note : rows.Notes()) file.notes.push_back(std::move(note));
  return file;
}

}  // namespace traceinject
