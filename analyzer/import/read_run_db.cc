// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/read_run_db.h"

#include <utility>

#include "analyzer/import/find_backward_calls.h"
#include "analyzer/import/join_launches.h"
#include "analyzer/import/join_plans.h"
#include "analyzer/import/kept_part.h"
#include "analyzer/import/mark_nccl_copies.h"
#include "analyzer/import/repair_clock.h"
#include "analyzer/import/repair_operations.h"
#include "analyzer/import/run_db_dictionaries.h"
#include "analyzer/import/run_db_events.h"
#include "analyzer/import/run_db_rows.h"
#include "analyzer/import/run_db_samples.h"
#include "analyzer/import/sort_rank.h"

namespace traceinject {
namespace {

// After the last table.
void Finish(RunDbDictionaries& dictionaries, RecordedFile& file) {
  for (std::size_t i = 0; i < file.ranks.size(); ++i) {
    Rank& each = file.ranks[i];
    const bool last = i + 1 == file.ranks.size();
    // Dictionaries without a process column serve all processes of the file.
    each.strings = last ? std::move(dictionaries.strings) : dictionaries.strings;
    each.shapes = last ? std::move(dictionaries.shapes) : dictionaries.shapes;
    each.api_names = last ? std::move(dictionaries.api_names) : dictionaries.api_names;
    each.graph_nodes = last ? std::move(dictionaries.graph_nodes) : dictionaries.graph_nodes;
    each.gemm_shapes = last ? std::move(dictionaries.gemm_shapes) : dictionaries.gemm_shapes;
    each.attention_shapes =
        last ? std::move(dictionaries.attention_shapes) : dictionaries.attention_shapes;
    RepairClockSteps(each);
    EndRangesWithWindows(each);
    SortRank(each);
    LeaveKeptPart(each);
    FindLastStoredCall(each);
    FindCallsInGaps(each);
    JoinLaunches(each);
    RepairOperations(each);
    FindBackwardCalls(each);
    JoinPlans(each);
    MarkNcclCopies(each);
    if (each.end == kOpen) each.end = LastTimeSeen(each);
  }
}

}  // namespace

Error Stopped(const std::string& path) { return Error{path + ": reading was broken off"}; }

Result<RecordedFile> ReadRunDb(const Database& database, ReadProgress& progress,
                               std::uint64_t most_rows) {
  RecordedFile file;
  RunDbRows rows(database, progress);
  RunDbDictionaries dictionaries;
  Status status = rows.CountRows();
  if (status.ok()) status = dictionaries.Read(rows, file);
  if (most_rows > 0) rows.ReadOnlyFirst(most_rows);
  if (status.ok()) status = ReadRunDbEvents(rows, dictionaries, file);
  if (status.ok()) status = ReadRunDbSamples(rows, dictionaries, file);
  if (!status.ok()) return Error{status.error()};
  if (progress.stop) return Stopped(database.path());
  for (Rank& each : file.ranks) each.read_until = rows.read_until();
  Finish(dictionaries, file);
  file.notes = rows.Notes();
  return file;
}

}  // namespace traceinject
