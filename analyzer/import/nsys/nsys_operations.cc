// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/nsys/nsys_operations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string>
#include <string_view>

#include "analyzer/import/source/column_ranges.h"

namespace traceinject {
namespace {

constexpr std::string_view kKernel = "CUPTI_ACTIVITY_KIND_KERNEL",
                           kMemcpy = "CUPTI_ACTIVITY_KIND_MEMCPY",
                           kMemset = "CUPTI_ACTIVITY_KIND_MEMSET",
                           kGraph = "CUPTI_ACTIVITY_KIND_GRAPH_TRACE";

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

class OperationReader {
 public:
  explicit OperationReader(NsysReader& reader) : reader_(reader) {}

  Status Read() {
    using Part = Status (OperationReader::*)();
    constexpr std::array<Part, 4> kParts = {
        &OperationReader::ReadKernels, &OperationReader::ReadMemcpys, &OperationReader::ReadMemsets,
        &OperationReader::ReadGraphs};
    for (const Part part : kParts) {
      const Status status = (this->*part)();
      if (!status.ok()) return status;
    }
    return Done{};
  }

  std::int64_t whole_graphs() const { return whole_graphs_; }

 private:
  // The columns start, end, globalPid, deviceId, contextId, streamId, correlationId, graphNodeId in
  // front of a row; null if it has to be left out.
  ForeignProcess* OperationOf(std::string_view table, const SqlRow& row,
                              ForeignOperation& operation) {
    if (!reader_.Times(table, row, operation.start, operation.end)) return nullptr;
    operation.device = row.is_null(3) ? -1 : row.int64(3);
    operation.context = row.int64(4);
    operation.stream = row.is_null(5) ? -1 : row.int64(5);
    operation.correlation = NsysReader::Id(row, 6);
    operation.graph_node = static_cast<std::uint64_t>(row.int64(7));
    // The upper half of a node's id is that of its graph.
    operation.graph = static_cast<std::uint32_t>(operation.graph_node >> 32);
    return reader_.ProcessOf(table, row, 2);
  }
  void CountUnless(bool added, std::string_view table) {
    if (!added) reader_.rows().Count(table, RowProblem::kNoDevice);
  }

  Status ReadKernels() {
    // One of them has the name, the first that there is.
    const bool has_name = reader_.rows().tables().Has(kKernel, "demangledName");
    return reader_.rows().ForEachRowOf(
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
          ForeignOperation operation;
          ForeignProcess* process = OperationOf(kKernel, row, operation);
          if (process == nullptr) return;
          KernelShape shape;
          for (int axis = 0; axis < 3; ++axis) {
            shape.grid[axis] = Narrow(row.int64(9 + axis));
            shape.block[axis] = Narrow(row.int64(12 + axis));
            shape.cluster[axis] = Narrow(row.int64(15 + axis));
          }
          shape.registers = Narrow(row.int64(18));
          shape.static_shared_bytes = SharedBytes(row.int64(19));
          shape.dynamic_shared_bytes = SharedBytes(row.int64(20));
          shape.local_bytes = row.int64(21);
          if (reader_.strings().Find(row.int64(8)) == nullptr)
            reader_.rows().Count(kKernel, RowProblem::kNameless);
          CountUnless(process->AddKernel(operation, shape, row.int64(8)), kKernel);
        });
  }

  Status ReadMemcpys() {
    return reader_.rows().ForEachRowOf(
        kMemcpy, {"start", "end", "deviceId", "streamId", "bytes", "copyKind"},
        {"start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId",
         "graphNodeId", "bytes", "copyKind", "srcKind", "dstKind", "srcDeviceId", "dstDeviceId"},
        [&](const SqlRow& row) {
          ForeignOperation operation;
          ForeignProcess* process = OperationOf(kMemcpy, row, operation);
          if (process == nullptr) return;
          constexpr std::uint8_t kPeer = 10;
          Transfer transfer;
          transfer.bytes = MovedBytes(row.int64(8));
          transfer.kind = CopyKind(row.int64(9));
          transfer.src_kind = NsysMemoryKind(row, 10);
          transfer.dst_kind = NsysMemoryKind(row, 11);
          if (transfer.kind == kPeer) {
            transfer.src_device = Ordinal(row, 12);
            transfer.dst_device = Ordinal(row, 13);
          }
          transfer.async = process->IsAsync(operation.correlation);
          CountUnless(process->AddTransfer(operation, OpKind::kMemcpy, transfer), kMemcpy);
        });
  }

  Status ReadMemsets() {
    return reader_.rows().ForEachRowOf(
        kMemset, {"start", "end", "deviceId", "streamId", "bytes"},
        {"start", "end", "globalPid", "deviceId", "contextId", "streamId", "correlationId",
         "graphNodeId", "bytes"},
        [&](const SqlRow& row) {
          ForeignOperation operation;
          ForeignProcess* process = OperationOf(kMemset, row, operation);
          if (process == nullptr) return;
          Transfer transfer;
          transfer.bytes = MovedBytes(row.int64(8));
          CountUnless(process->AddTransfer(operation, OpKind::kMemset, transfer), kMemset);
        });
  }

  Status ReadGraphs() {
    return reader_.rows().ForEachRowOf(kGraph, {"start", "end", "deviceId", "streamId", "graphId"},
                                       {"start", "end", "globalPid", "deviceId", "contextId",
                                        "streamId", "correlationId", "NULL", "graphId"},
                                       [&](const SqlRow& row) {
                                         ForeignOperation operation;
                                         ForeignProcess* process =
                                             OperationOf(kGraph, row, operation);
                                         if (process == nullptr) return;
                                         const bool added = process->AddKernel(
                                             operation, fmt::format("CUDA graph {}", row.int64(8)));
                                         CountUnless(added, kGraph);
                                         whole_graphs_ += added ? 1 : 0;
                                       });
  }

  NsysReader& reader_;
  std::int64_t whole_graphs_ = 0;
};

}  // namespace

Status ReadNsysOperations(NsysReader& reader, std::int64_t& whole_graphs) {
  OperationReader operations(reader);
  const Status read = operations.Read();
  whole_graphs = operations.whole_graphs();
  return read;
}

}  // namespace traceinject
