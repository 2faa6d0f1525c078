// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys_sqlite.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "analyzer/common/units.h"
#include "analyzer/import/find_loaders_and_steps.h"
#include "analyzer/import/finish_rank.h"
#include "analyzer/import/nsys_facts.h"
#include "analyzer/import/nsys_process.h"
#include "analyzer/import/nsys_rows.h"
#include "analyzer/import/nsys_tables.h"
#include "analyzer/import/trace_source.h"

namespace traceinject {
namespace {

// NVTX_EVENTS.eventType.
enum NvtxEvent : std::int64_t { kMark = 34, kPushPop = 59, kStartEnd = 60, kDomainCreate = 75 };
// CUPTI_ACTIVITY_KIND_SYNCHRONIZATION.syncType: CUpti_ActivitySynchronizationType.
enum SyncType : std::int64_t {
  kEventSynchronize = 1,
  kStreamWaitEvent = 2,
  kStreamSynchronize = 3
};
// CUDA_GPU_MEMORY_USAGE_EVENTS.memoryOperationType.
constexpr std::int64_t kDeallocation = 1;

// ENUM_CUDA_MEM_KIND counts from pageable, CUpti_ActivityMemoryKind from unknown.
std::uint8_t MemoryKind(const SqlRow& row, int column) {
  constexpr std::int64_t kManagedStatic = 6;
  const std::int64_t kind = row.is_null(column) ? -1 : row.int64(column);
  return kind < 0 || kind > kManagedStatic ? 0 : static_cast<std::uint8_t>(kind + 1);
}

// ENUM_CUDA_MEMCPY_OPER is CUpti_ActivityMemcpyKind, but for what unified memory does by itself.
std::uint8_t CopyKind(std::int64_t operation) {
  constexpr std::array<std::uint8_t, 14> kKinds = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 1, 2, 8};
  return operation < 0 || operation >= static_cast<std::int64_t>(kKinds.size())
             ? 0
             : kKinds[static_cast<std::size_t>(operation)];
}

int Ordinal(const SqlRow& row, int column) {
  constexpr std::int64_t kHighest = 1023;
  const std::int64_t device = row.is_null(column) ? -1 : row.int64(column);
  return device < 0 || device > kHighest ? -1 : static_cast<int>(device);
}

class Reader {
 public:
  Reader(const Database& database, ReadProgress& progress, const NsysTables& tables)
      : rows_(database, progress, tables) {}

  Status Read() {
    using Part = Status (Reader::*)();
    // What is referred to before what refers to it.
    constexpr std::array<Part, 10> kParts = {
        &Reader::CountRows,   &Reader::ReadStrings, &Reader::ReadApi,    &Reader::ReadKernels,
        &Reader::ReadMemcpys, &Reader::ReadMemsets, &Reader::ReadGraphs, &Reader::ReadSyncs,
        &Reader::ReadNvtx,    &Reader::ReadMemory,
    };
    for (const Part part : kParts) {
      const Status status = (this->*part)();
      if (!status.ok()) return status;
    }
    return Done{};
  }

  std::map<std::uint64_t, std::unique_ptr<NsysProcess>>& processes() { return processes_; }
  const NsysStrings& strings() const { return strings_; }
  NsysRows& rows() { return rows_; }

  std::vector<std::string> Notes() const {
    std::vector<std::string> notes = rows_.Notes();
    if (whole_graphs_ > 0)
      notes.push_back(fmt::format(
          "{}: {} launches of CUDA graphs were traced as a whole: which kernels ran in them is not "
          "told. Profile with --cuda-graph-trace=node",
          rows_.database().path(), FormatCount(whole_graphs_)));
    return notes;
  }

 private:
  static constexpr std::string_view kKernel = "CUPTI_ACTIVITY_KIND_KERNEL",
                                    kMemcpy = "CUPTI_ACTIVITY_KIND_MEMCPY",
                                    kMemset = "CUPTI_ACTIVITY_KIND_MEMSET",
                                    kRuntime = "CUPTI_ACTIVITY_KIND_RUNTIME",
                                    kGraph = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE",
                                    kSync = "CUPTI_ACTIVITY_KIND_SYNCHRONIZATION",
                                    kRecord = "CUPTI_ACTIVITY_KIND_CUDA_EVENT",
                                    kNvtx = "NVTX_EVENTS", kMemory = "CUDA_GPU_MEMORY_USAGE_EVENTS",
                                    kStrings = "StringIds";

  Status CountRows() {
    std::vector<std::string_view> there;
    for (const std::string_view table :
         {kKernel, kMemcpy, kMemset, kRuntime, kGraph, kSync, kRecord, kNvtx, kMemory, kStrings}) {
      if (rows_.tables().Has(table)) there.push_back(table);
    }
    return rows_.CountRows(there);
  }

  Status ReadStrings() {
    return rows_.ForEachRowOf(kStrings, {"id", "value"}, {"id", "value"}, [&](const SqlRow& row) {
      strings_.ids.Add(row.int64(0), static_cast<std::uint32_t>(strings_.texts.size()));
      strings_.texts.emplace_back(row.text(1));
    });
  }

  NsysProcess& Process(std::uint64_t key) {
    std::unique_ptr<NsysProcess>& process = processes_[key];
    if (process == nullptr) {
      process = std::make_unique<NsysProcess>(strings_);
      process->rank().process.pid = NsysPid(key);
    }
    return *process;
  }
  // Of a globalPid or globalTid; null, and counted, where that is missing. Old versions do not tell
  // whose an operation is, which matters only where there are several.
  NsysProcess* ProcessOf(std::string_view table, const SqlRow& row, int column) {
    if (!row.is_null(column)) return &Process(NsysProcessKey(row.int64(column)));
    if (processes_.empty()) return &Process(0);
    if (processes_.size() == 1) return processes_.begin()->second.get();
    rows_.Count(table, RowProblem::kNoProcess);
    return nullptr;
  }

  // The columns start and end in front of a row; false if it has to be left out.
  bool Times(std::string_view table, const SqlRow& row, TimeNs& start, TimeNs& end) {
    if (row.type(0) != SQLITE_INTEGER || row.type(1) != SQLITE_INTEGER) {
      rows_.Count(table, RowProblem::kNoTime);
      return false;
    }
    start = row.int64(0);
    const TimeNs until = row.int64(1);
    TimeNs dur = 0;
    if (__builtin_sub_overflow(until, start, &dur)) dur = std::numeric_limits<TimeNs>::max();
    return rows_.Times(table, start, dur, end);
  }

  Status ReadApi() {
    return rows_.ForEachRowOf(
        kRuntime, {"start", "end", "globalTid", "nameId"},
        {"start", "end", "globalTid", "nameId", "correlationId", "returnValue"},
        [&](const SqlRow& row) {
          if (row.is_null(2)) return rows_.Count(kRuntime, RowProblem::kNoThread);
          const std::string* name = strings_.Find(row.int64(3));
          if (name == nullptr) return rows_.Count(kRuntime, RowProblem::kNoName);
          TimeNs start = 0, end = 0;
          if (!Times(kRuntime, row, start, end)) return;
          const std::int64_t thread = row.int64(2);
          Process(NsysProcessKey(thread))
              .AddApi(start, end, NsysTid(thread), row.int64(3), *name, Id(row, 4),
                      Narrow(row.int64(5)));
        });
  }

  static std::uint64_t Id(const SqlRow& row, int column) {
    return static_cast<std::uint64_t>(std::max<std::int64_t>(0, row.int64(column)));
  }

  // The columns start, end, globalPid, deviceId, contextId, streamId, correlationId, graphNodeId in
  // front of a row; null if it has to be left out.
  NsysProcess* OperationOf(std::string_view table, const SqlRow& row, NsysOperation& operation) {
    if (!Times(table, row, operation.start, operation.end)) return nullptr;
    operation.device = row.is_null(3) ? -1 : row.int64(3);
    operation.context = row.int64(4);
    operation.stream = row.is_null(5) ? -1 : row.int64(5);
    operation.correlation = Id(row, 6);
    operation.graph_node = static_cast<std::uint64_t>(row.int64(7));
    // The upper half of a node's id is that of its graph.
    operation.graph = static_cast<std::uint32_t>(operation.graph_node >> 32);
    return ProcessOf(table, row, 2);
  }
  void CountUnless(bool added, std::string_view table) {
    if (!added) rows_.Count(table, RowProblem::kNoDevice);
  }

  Status ReadKernels() {
    // One of them has the name, the first that there is.
    const bool has_name = rows_.tables().Has(kKernel, "demangledName");
    return rows_.ForEachRowOf(
        kKernel, {"start", "end", "deviceId", "streamId", has_name ? "demangledName" : "shortName"},
        {"start",
         "end",
         "globalPid",
         "deviceId",
         "contextId",
         "streamId",
         "correlationId",
         "graphNodeId",
         has_name ? "demangledName" : "shortName",
         "gridX",
         "gridY",
         "gridZ",
         "blockX",
         "blockY",
         "blockZ",
         "clusterX",
         "clusterY",
         "clusterZ",
         "registersPerThread",
         "staticSharedMemory",
         "dynamicSharedMemory",
         "localMemoryPerThread"},
        [&](const SqlRow& row) {
          NsysOperation operation;
          NsysProcess* process = OperationOf(kKernel, row, operation);
          if (process == nullptr) return;
          KernelShape shape;
          for (int axis = 0; axis < 3; ++axis) {
            shape.grid[axis] = Narrow(row.int64(9 + axis));
            shape.block[axis] = Narrow(row.int64(12 + axis));
            shape.cluster[axis] = Narrow(row.int64(15 + axis));
          }
          shape.registers = Narrow(row.int64(18));
          shape.static_shared_bytes = row.int64(19);
          shape.dynamic_shared_bytes = row.int64(20);
          shape.local_bytes = row.int64(21);
          if (strings_.Find(row.int64(8)) == nullptr) rows_.Count(kKernel, RowProblem::kNameless);
          CountUnless(process->AddKernel(operation, shape, row.int64(8)), kKernel);
        });
  }

  Status ReadMemcpys() {
    return rows_.ForEachRowOf(
        kMemcpy, {"start", "end", "deviceId", "streamId", "bytes", "copyKind"},
        {"start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId",
         "graphNodeId", "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"},
        [&](const SqlRow& row) {
          NsysOperation operation;
          NsysProcess* process = OperationOf(kMemcpy, row, operation);
          if (process == nullptr) return;
          constexpr std::uint8_t kPeer = 10;
          Transfer transfer;
          transfer.bytes = std::max<std::int64_t>(0, row.int64(8));
          transfer.kind = CopyKind(row.int64(9));
          transfer.src_kind = MemoryKind(row, 10);
          transfer.dst_kind = MemoryKind(row, 11);
          if (transfer.kind == kPeer) {
            transfer.src_device = Ordinal(row, 12);
            transfer.dst_device = Ordinal(row, 13);
          }
          const std::uint32_t call = process->FindApi(operation.correlation);
          if (call != kNone) {
            // Whether the host waited is told by the call that made it.
            const Rank& rank = process->rank();
            const std::string& name = rank.api_names[rank.api.name[call]].name;
            transfer.async = name.find("Async") != std::string::npos;
          }
          CountUnless(process->AddTransfer(operation, OpKind::kMemcpy, transfer), kMemcpy);
        });
  }

  Status ReadMemsets() {
    return rows_.ForEachRowOf(
        kMemset, {"start", "end", "deviceId", "streamId", "bytes"},
        {"start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId",
         "graphNodeId", "bytes"},
        [&](const SqlRow& row) {
          NsysOperation operation;
          NsysProcess* process = OperationOf(kMemset, row, operation);
          if (process == nullptr) return;
          Transfer transfer;
          transfer.bytes = std::max<std::int64_t>(0, row.int64(8));
          CountUnless(process->AddTransfer(operation, OpKind::kMemset, transfer), kMemset);
        });
  }

  Status ReadGraphs() {
    return rows_.ForEachRowOf(kGraph, {"start", "end", "deviceId", "streamId", "graphId"},
                              {"start", "end", "globalPid", "deviceId", "contextId", "streamId",
                               "correlationId", "NULL", "graphId"},
                              [&](const SqlRow& row) {
                                NsysOperation operation;
                                NsysProcess* process = OperationOf(kGraph, row, operation);
                                if (process == nullptr) return;
                                const bool added = process->AddKernel(
                                    operation, fmt::format("CUDA graph {}", row.int64(8)));
                                CountUnless(added, kGraph);
                                whole_graphs_ += added ? 1 : 0;
                              });
  }

  Status ReadSyncs() {
    const Status records = rows_.ForEachRowOf(
        kRecord, {"eventId"},
        {"globalPid", "correlationId", "contextId", "eventId", "deviceId", "streamId"},
        [&](const SqlRow& row) { AddSync(kRecord, row, SyncKind::kEventRecord); });
    if (!records.ok()) return records;
    return rows_.ForEachRowOf(
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
    NsysProcess* process = ProcessOf(table, row, 0);
    if (process == nullptr) return;
    const std::uint32_t call = process->FindApi(Id(row, 1));
    if (call == kNone) return rows_.Count(table, RowProblem::kNoCall);
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

  // A message is in the table, or registered before and in StringIds.
  std::string TextOf(const SqlRow& row, int text, int text_id) const {
    if (!row.is_null(text)) return std::string(row.text(text));
    const std::string* found = row.is_null(text_id) ? nullptr : strings_.Find(row.int64(text_id));
    return found == nullptr ? std::string() : *found;
  }

  Status ReadNvtx() {
    std::map<std::pair<std::uint64_t, std::int64_t>, std::string> domains;
    const Status named = rows_.ForEachRowOf(
        kNvtx, {"eventType", "globalTid"}, {"globalTid", "domainId", "text", "textId"},
        [&](const SqlRow& row) {
          domains[{NsysProcessKey(row.int64(0)), row.int64(1)}] = TextOf(row, 2, 3);
        },
        fmt::format("WHERE eventType = {}", std::int64_t{kDomainCreate}));
    if (!named.ok()) return named;
    return rows_.ForEachRowOf(
        kNvtx, {"start", "end"},
        {"start", "end", "globalTid", "eventType", "domainId", "text", "textId", "category"},
        [&](const SqlRow& row) {
          const auto kind = KindOf(row.int64(3));
          if (!kind) return;
          if (row.is_null(2)) return rows_.Count(kNvtx, RowProblem::kNoThread);
          TimeNs start = 0, end = 0;
          if (!NvtxTimes(row, *kind, start, end)) return;
          const std::uint64_t key = NsysProcessKey(row.int64(2));
          const auto domain = domains.find({key, row.int64(4)});
          AddRange(Process(key), row, *kind, start, end,
                   domain == domains.end() ? std::string_view() : domain->second);
        });
  }

  static std::optional<NvtxKind> KindOf(std::int64_t event) {
    switch (event) {
      case kMark:
        return NvtxKind::kMark;
      case kPushPop:
        return NvtxKind::kPushPop;
      case kStartEnd:
        return NvtxKind::kStartEnd;
      default:
        return std::nullopt;
    }
  }

  bool NvtxTimes(const SqlRow& row, NvtxKind kind, TimeNs& start, TimeNs& end) {
    if (!row.is_null(1) && kind != NvtxKind::kMark) return Times(kNvtx, row, start, end);
    if (row.type(0) != SQLITE_INTEGER) {
      rows_.Count(kNvtx, RowProblem::kNoTime);
      return false;
    }
    start = row.int64(0);
    if (!rows_.Times(kNvtx, start, 0, end)) return false;
    if (kind != NvtxKind::kMark) end = kOpen;
    return true;
  }

  void AddRange(NsysProcess& process, const SqlRow& row, NvtxKind kind, TimeNs start, TimeNs end,
                std::string_view domain) {
    NvtxRanges& nvtx = process.rank().nvtx;
    nvtx.start.push_back(start);
    nvtx.end.push_back(end);
    nvtx.thread.push_back(process.ThreadIndex(NsysTid(row.int64(2))));
    nvtx.kind.push_back(kind);
    nvtx.domain.push_back(process.DomainIndex(row.int64(4), domain));
    nvtx.text.push_back(!row.is_null(5)  ? process.StringIndex(row.text(5))
                        : row.is_null(6) ? kNone
                                         : process.StringIndex(row.int64(6)));
    const std::int64_t category = row.int64(7);
    nvtx.category.push_back(
        category <= 0 || category >= kNone ? kNone : static_cast<std::uint32_t>(category));
  }

  Status ReadMemory() {
    return rows_.ForEachRowOf(
        kMemory, {"start", "globalPid", "deviceId", "bytes", "memoryOperationType"},
        {"start", "globalPid", "deviceId", "bytes", "memoryOperationType", "memKind", "address",
         "correlationId"},
        [&](const SqlRow& row) {
          TimeNs end = 0;
          if (!rows_.Times(kMemory, row.int64(0), 0, end)) return;
          NsysProcess* process = ProcessOf(kMemory, row, 1);
          if (process == nullptr) return;
          MemoryOperations& memory = process->rank().memory;
          memory.time.push_back(row.int64(0));
          memory.device.push_back(Narrow(row.int64(2)));
          memory.release.push_back(row.int64(4) == kDeallocation);
          memory.memory_kind.push_back(MemoryKind(row, 5));
          // So that no sum of them overflows.
          memory.bytes.push_back(std::clamp<std::int64_t>(row.int64(3), 0, std::int64_t{1} << 50));
          memory.address.push_back(static_cast<std::uint64_t>(row.int64(6)));
          memory.correlation.push_back(Id(row, 7));
        });
  }

  NsysRows rows_;
  NsysStrings strings_;
  std::map<std::uint64_t, std::unique_ptr<NsysProcess>> processes_;  // by NsysProcessKey
  std::int64_t whole_graphs_ = 0;
};

bool HasOperations(const Rank& rank) {
  return std::any_of(rank.devices.begin(), rank.devices.end(),
                     [](const Device& device) { return device.ops.size() > 0; });
}

}  // namespace

Result<RecordedFile> ReadNsysSqlite(const Database& database, ReadProgress& progress,
                                    Repairs repairs) {
  const auto tables = NsysTables::Find(database);
  if (!tables.ok()) return Error{tables.error()};
  Reader reader(database, progress, tables.value());
  if (const Status read = reader.Read(); !read.ok()) return Error{read.error()};
  RecordedFile file;
  NsysFacts facts(reader.rows(), reader.strings());
  if (const Status read = facts.Read(); !read.ok()) return Error{read.error()};
  if (progress.stop) return Stopped(database.path());
  file.base_ns = facts.base_ns();
  std::int64_t idle = 0;
  for (auto& [key, process] : reader.processes()) {
    if (!HasOperations(process->rank())) {
      ++idle;
      continue;
    }
    Rank& rank = file.ranks.emplace_back(std::move(process->rank()));
    rank.path = database.path();
    facts.Describe(key, rank);
    rank.imported_from = kNsysSource.what;
    rank.closed = true;
    FindLoadersAndSteps(rank);
    if (repairs == Repairs::kDone) FinishRank(rank);
  }
  if (file.ranks.empty())
    return Error{
        fmt::format("{}: the export holds no GPU operation: profile with nsys profile "
                    "--trace=cuda,nvtx, and GPU "
                    "work in the time that is recorded",
                    database.path())};
  file.notes = reader.Notes();
  if (idle > 0)
    file.notes.push_back(fmt::format("{}: {} process{} without GPU operations left out",
                                     database.path(), idle, idle == 1 ? "" : "es"));
  return file;
}

}  // namespace traceinject
