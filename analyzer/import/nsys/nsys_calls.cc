// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_calls.h"

#include <algorithm>
#include <string>
#include <string_view>

namespace traceinject {
namespace {

constexpr std::string_view kRuntime = "CUPTI_ACTIVITY_KIND_RUNTIME",
                           kSync = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                           kRecord = "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                           kMemory = "CUDA_GPU_MEMORY_USAGE_EVENTS";

// CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.syncType: CUpti_ActivitySynchronizationType.
enum SyncType : std::int64_t {
  kEventSynchronize = 1,
  kStreamWaitEvent = 2,
  kStreamSynchronize = 3
};
// CUDA_GPU_MEMORY_USAGE_EVENTS.memoryOperationType.
constexpr std::int64_t kDeallocation = 1;

class CallReader {
 public:
  explicit CallReader(NsysReader& reader) : reader_(reader) {}

  Status ReadApi() {
    return reader_.rows().ForEachRowOf(
        kRuntime, {"start", "end", "globalTid", "nameId"},
        {"start", "end", "globalTid", "nameId", "correlationId", "returnValue"},
        [&](const SqlRow& row) {
          if (row.is_null(2)) return reader_.rows().Count(kRuntime, RowProblem::kNoThread);
          const std::string* name = reader_.strings().Find(row.int64(3));
          if (name == nullptr) return reader_.rows().Count(kRuntime, RowProblem::kNoName);
          TimeNs start = 0, end = 0;
          if (!reader_.Times(kRuntime, row, start, end)) return;
          const std::int64_t thread = row.int64(2);
          ForeignProcess* process = reader_.Process(kRuntime, NsysProcessKey(thread));
          if (process == nullptr) return;
          process->AddApi(start, end, NsysTid(thread), row.int64(3), *name, NsysReader::Id(row, 4),
                          Narrow(row.int64(5)));
        });
  }

  Status ReadSyncs() {
    const Status records = reader_.rows().ForEachRowOf(
        kRecord, {"eventId"},
        {"globalPid", "correlationId", "contextId", "eventId", "deviceId", "streamId"},
        [&](const SqlRow& row) { AddSync(kRecord, row, SyncKind::kEventRecord); });
    if (!records.ok()) return records;
    return reader_.rows().ForEachRowOf(
        kSync, {"syncType"},
        {"globalPid", "correlationId", "contextId", "eventId", "deviceId", "streamId", "syncType"},
        [&](const SqlRow& row) {
          switch (row.int64(6)) {
            case kEventSynchronize:
              return AddSync(kSync, row, SyncKind::kHostWaitsEvent);
            case kStreamWaitEvent:
              return AddSync(kSync, row, SyncKind::kStreamWaitsEvent);
            case kStreamSynchronize:
              return AddSync(kSync, row, SyncKind::kHostWaitsStream);
            default:
              return;  // of a whole context: its call tells all
          }
        });
  }

  // The call tells when, and on which thread.
  void AddSync(std::string_view table, const SqlRow& row, SyncKind kind) {
    ForeignProcess* process = reader_.ProcessOf(table, row, 0);
    if (process == nullptr) return;
    const std::uint32_t call = process->FindApi(NsysReader::Id(row, 1));
    if (call == kNone) return reader_.rows().Count(table, RowProblem::kNoCall);
    const bool has_event = kind != SyncKind::kHostWaitsStream;
    const bool has_stream = kind != SyncKind::kHostWaitsEvent;
    const std::int64_t stream = row.is_null(5) ? -1 : row.int64(5);
    Rank& rank = process->rank();
    Syncs& syncs = rank.syncs;
    syncs.start.push_back(rank.api.start[call]);
    syncs.end.push_back(rank.api.end[call]);
    syncs.thread.push_back(rank.api.thread[call]);
    syncs.kind.push_back(kind);
    syncs.event.push_back(has_event ? process->EventNumber(row.int64(2), row.int64(3)) : kNone);
    syncs.stream.push_back(has_stream ? process->StreamIndex(row.int64(4), row.int64(2), stream)
                                      : kNone);
  }

  Status ReadMemory() {
    return reader_.rows().ForEachRowOf(
        kMemory, {"start", "globalPid", "deviceId", "bytes", "memoryOperationType"},
        {"start", "globalPid", "deviceId", "bytes", "memoryOperationType", "memKind", "address",
         "correlationId"},
        [&](const SqlRow& row) {
          TimeNs end = 0;
          if (!reader_.rows().Times(kMemory, row.int64(0), 0, end)) return;
          ForeignProcess* process = reader_.ProcessOf(kMemory, row, 1);
          if (process == nullptr) return;
          MemoryOperations& memory = process->rank().memory;
          memory.time.push_back(row.int64(0));
          memory.device.push_back(Narrow(row.int64(2)));
          memory.release.push_back(row.int64(4) == kDeallocation);
          memory.memory_kind.push_back(NsysMemoryKind(row, 5));
          // So that no sum of them overflows.
          memory.bytes.push_back(std::clamp<std::int64_t>(row.int64(3), 0, std::int64_t{1} << 50));
          memory.address.push_back(static_cast<std::uint64_t>(row.int64(6)));
          memory.correlation.push_back(NsysReader::Id(row, 7));
        });
  }

 private:
  NsysReader& reader_;
};

}  // namespace

Status ReadNsysCalls(NsysReader& reader) { return CallReader(reader).ReadApi(); }

Status ReadNsysCallDetails(NsysReader& reader) {
  CallReader calls(reader);
  const Status syncs = calls.ReadSyncs();
  return syncs.ok() ? calls.ReadMemory() : syncs;
}

}  // namespace traceinject
