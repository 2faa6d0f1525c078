// SPDX-License-Identifier: Apache-2.0
#include "analyzer/import/run_db/run_db_operations.h"

#include <cstddef>
#include <vector>

#include "analyzer/import/source/new_events.h"

namespace traceinject {
namespace {

class OperationReader {
 public:
  OperationReader(RunDbRows& rows, const RunDbDictionaries& dictionaries, RecordedFile& file)
      : rows_(rows), dictionaries_(dictionaries), file_(file) {}

  Status Read() {
    MakeDevices();
    Status read = ReadMemcpys();
    if (read.ok()) read = ReadMemsets();
    return read.ok() ? ReadKernels() : read;
  }

 private:
  std::size_t RoomFor(EventTable table) const { return rows_.RoomFor(table, file_.ranks.size()); }

  // The stream and the times of an operation; null if its row has to be left out.
  const Place* StreamOf(EventTable table, const SqlRow& row, TimeNs& start, TimeNs& end) {
    const Place* stream = dictionaries_.streams.Find(row.int64(2));
    if (stream == nullptr) {
      rows_.Count(table, RowProblem::kNoStream);
      return nullptr;
    }
    start = row.int64(0);
    return rows_.Times(table, start, row.int64(1), end) ? stream : nullptr;
  }
  void FillIn(const Place& stream, const SqlRow& row, int correlation_column, NewOp& op) {
    op.stream = stream.index;
    op.correlation = static_cast<std::uint64_t>(row.int64(correlation_column));
    const int node_column = correlation_column + 1;
    op.graph_node = row.is_null(node_column)
                        ? kNone
                        : dictionaries_.graph_node_ids.Find(row.int64(node_column));
  }

  void MakeDevices() {
    for (Rank& each : file_.ranks) {
      std::vector<NewOps>& devices = new_ops_.emplace_back();
      for (Device& device : each.devices)
        devices.emplace_back(device.ops, op_rows_, transfer_rows_);
    }
  }
  NewOps& OpsOf(const Place& stream) { return new_ops_[stream.rank][stream.device]; }

  template <typename Do>
  void ForEachDevice(Do act) {
    for (std::vector<NewOps>& devices : new_ops_) {
      for (NewOps& ops : devices) act(ops);
    }
  }

  Status ReadKernels() {
    ForEachDevice([](NewOps& ops) { ops.SortTransfers(); });
    const Status read = rows_.ForEachRow(
        ColumnsOf(EventTable::kKernel, "start, dur, stream, shape, correlation, graph_node"),
        [&](const SqlRow& row) {
          const std::uint32_t shape = dictionaries_.shape_ids.Find(row.int64(3));
          if (shape == kNone) return rows_.Count(EventTable::kKernel, RowProblem::kNoShape);
          NewOp op{.detail = shape, .kernel_class = dictionaries_.shapes[shape].kernel_class};
          const Place* stream = StreamOf(EventTable::kKernel, row, op.start, op.end);
          if (stream == nullptr) return;
          FillIn(*stream, row, 4, op);
          OpsOf(*stream).AddKernel(op);
        });
    ForEachDevice([](NewOps& ops) { ops.Finish(); });
    return read;
  }

  Status ReadMemcpys() {
    return rows_.ForEachRow(
        ColumnsOf(EventTable::kMemcpy,
                  "start, dur, stream, kind, src_kind, dst_kind, async, bytes, correlation, "
                  "graph_node, src_device, dst_device"),
        [&](const SqlRow& row) {
          NewOp op{.kind = OpKind::kMemcpy, .kernel_class = KernelClass::kMemcpy};
          const Place* stream = StreamOf(EventTable::kMemcpy, row, op.start, op.end);
          if (stream == nullptr) return;
          FillIn(*stream, row, 8, op);
          Transfer transfer;
          transfer.bytes = row.int64(7);
          transfer.kind = static_cast<std::uint8_t>(row.int64(3));
          transfer.src_kind = static_cast<std::uint8_t>(row.int64(4));
          transfer.dst_kind = static_cast<std::uint8_t>(row.int64(5));
          transfer.async = row.int64(6) != 0;
          transfer.src_device = row.optional_int(10).value_or(-1);
          transfer.dst_device = row.optional_int(11).value_or(-1);
          AddTransfer(*stream, op, transfer);
        });
  }

  Status ReadMemsets() {
    return rows_.ForEachRow(
        ColumnsOf(EventTable::kMemset, "start, dur, stream, bytes, correlation, graph_node"),
        [&](const SqlRow& row) {
          NewOp op{.kind = OpKind::kMemset, .kernel_class = KernelClass::kMemset};
          const Place* stream = StreamOf(EventTable::kMemset, row, op.start, op.end);
          if (stream == nullptr) return;
          FillIn(*stream, row, 4, op);
          Transfer transfer;
          transfer.bytes = row.int64(3);
          AddTransfer(*stream, op, transfer);
        });
  }

  void AddTransfer(const Place& stream, NewOp& op, const Transfer& transfer) {
    std::vector<Transfer>& transfers = file_.ranks[stream.rank].transfers;
    if (transfers.capacity() == 0) transfers.reserve(transfer_rows_);
    op.detail = static_cast<std::uint32_t>(transfers.size());
    transfers.push_back(transfer);
    OpsOf(stream).AddTransfer(op);
  }

  RunDbRows& rows_;
  const RunDbDictionaries& dictionaries_;
  RecordedFile& file_;
  // Room to be made for each process.
  const std::size_t transfer_rows_ = RoomFor(EventTable::kMemcpy) + RoomFor(EventTable::kMemset);
  const std::size_t op_rows_ = RoomFor(EventTable::kKernel) + transfer_rows_;
  std::vector<std::vector<NewOps>> new_ops_;  // by process and device
};

}  // namespace

Status ReadRunDbOperations(RunDbRows& rows, const RunDbDictionaries& dictionaries,
                           RecordedFile& file) {
  return OperationReader(rows, dictionaries, file).Read();
}

}  // namespace traceinject
