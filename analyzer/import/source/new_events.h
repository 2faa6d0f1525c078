// SPDX-License-Identifier: Apache-2.0
// The events that most of a recording consists of, on their way from its tables into columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "analyzer/import/source/row_batch.h"
#include "analyzer/model/run.h"
#include "analyzer/model/sort_columns.h"

namespace traceinject {

// Room for `rows` in all columns, before the first row: growing by and by would need up to three
// times the memory. What is not used is never touched.
template <typename... Columns>
void MakeRoom(std::size_t rows, TimeColumn& first, Columns&... others) {
  if (first.capacity() != 0) return;
  first.reserve(rows);
  (others.reserve(rows), ...);
}

struct NewOp {
  TimeNs start = 0, end = 0;
  std::uint64_t correlation = 0;
  std::uint32_t stream = kNone, graph_node = kNone, detail = kNone;
  OpKind kind = OpKind::kKernel;
  KernelClass kernel_class = KernelClass::kOther;

  bool IsBefore(const NewOp& other) const {
    return start != other.start ? start < other.start : end < other.end;
  }
};

// Operations of one device. Copies and memsets stand in tables of their own, but ran between
// kernels: they are put there while the kernels are read, as sorting all columns afterwards takes
// longer than all else that is done with them.
class NewOps {
 public:
  // `rows`: as many as there are of all devices, `transfers` of them copies and memsets.
  NewOps(GpuOps& ops, std::size_t rows, std::size_t transfers)
      : ops_(&ops), rows_(rows), transfers_(transfers) {}

  // In the order of their tables.
  void AddTransfer(const NewOp& op) {
    if (waiting_.capacity() == 0) waiting_.reserve(transfers_);
    waiting_.push_back(op);
  }
  // Once all transfers are there, before the first kernel. Those of equal times keep their order.
  void SortTransfers() {
    if (waiting_.empty()) return;
    std::vector<TimeNs> start, end;
    start.reserve(waiting_.size());
    end.reserve(waiting_.size());
    for (const NewOp& op : waiting_) {
      start.push_back(op.start);
      end.push_back(op.end);
    }
    order_ = SortedOrder(start, end);
    if (order_.empty()) order_.Append({0, static_cast<std::uint32_t>(waiting_.size())});
    run_ = order_.runs().begin();
    next_ = &waiting_[run_->first];
  }
  void AddKernel(const NewOp& op) {
    while (next_ != nullptr && next_->IsBefore(op)) AddWaiting();
    Add(op);
  }
  void Finish() {
    while (next_ != nullptr) AddWaiting();
    Flush();
  }

 private:
  struct Batch {
    BatchColumn<TimeNs> start, end;
    BatchColumn<std::uint64_t> correlation;
    BatchColumn<std::uint32_t> stream, graph_node, detail;
    BatchColumn<OpKind> kind;
    BatchColumn<KernelClass> kernel_class;
  };

  void Add(const NewOp& op) {
    if (in_batch_ == kBatchRows) Flush();
    const std::size_t row = in_batch_++;
    batch_.start[row] = op.start;
    batch_.end[row] = op.end;
    batch_.correlation[row] = op.correlation;
    batch_.stream[row] = op.stream;
    batch_.graph_node[row] = op.graph_node;
    batch_.detail[row] = op.detail;
    batch_.kind[row] = op.kind;
    batch_.kernel_class[row] = op.kernel_class;
  }
  void AddWaiting() {
    Add(*next_++);
    if (++of_run_ < run_->count) return;
    of_run_ = 0;
    ++run_;
    next_ = run_ == order_.runs().end() ? nullptr : &waiting_[run_->first];
  }
  void Flush() {
    if (in_batch_ == 0) return;
    MakeRoom(rows_, ops_->start, ops_->end, ops_->kind, ops_->kernel_class, ops_->detail);
    AppendBatch(batch_.start, in_batch_, ops_->start);
    AppendBatch(batch_.end, in_batch_, ops_->end);
    AppendBatch(batch_.kind, in_batch_, ops_->kind);
    AppendBatch(batch_.kernel_class, in_batch_, ops_->kernel_class);
    AppendBatch(batch_.detail, in_batch_, ops_->detail);
    AppendBatch(batch_.stream, in_batch_, ops_->stream);
    AppendBatch(batch_.correlation, in_batch_, ops_->correlation);
    AppendBatch(batch_.graph_node, in_batch_, ops_->graph_node);
    in_batch_ = 0;
  }

  GpuOps* ops_;
  std::size_t rows_, transfers_;
  std::vector<NewOp> waiting_;
  RowOrder order_;  // of these
  std::vector<RowOrder::Run>::const_iterator run_;
  const NewOp* next_ = nullptr;  // of these; null: none is left
  std::uint32_t of_run_ = 0;     // before the next
  Batch batch_;
  std::size_t in_batch_ = 0;
};

// CUDA calls of one process.
class NewCalls {
 public:
  NewCalls(ApiCalls& api, std::size_t rows) : api_(&api), rows_(rows) {}

  void Add(TimeNs start, TimeNs end, std::uint32_t thread, std::uint32_t name,
           std::uint64_t correlation, std::int32_t result) {
    if (in_batch_ == kBatchRows) Finish();
    const std::size_t row = in_batch_++;
    batch_.start[row] = start;
    batch_.end[row] = end;
    batch_.thread[row] = thread;
    batch_.name[row] = name;
    batch_.correlation[row] = correlation;
    batch_.result[row] = result;
  }
  void Finish() {
    if (in_batch_ == 0) return;
    MakeRoom(rows_, api_->start, api_->end, api_->thread, api_->name);
    AppendBatch(batch_.start, in_batch_, api_->start);
    AppendBatch(batch_.end, in_batch_, api_->end);
    AppendBatch(batch_.thread, in_batch_, api_->thread);
    AppendBatch(batch_.name, in_batch_, api_->name);
    AppendBatch(batch_.correlation, in_batch_, api_->correlation);
    AppendBatch(batch_.result, in_batch_, api_->result);
    in_batch_ = 0;
  }

 private:
  struct Batch {
    BatchColumn<TimeNs> start, end;
    BatchColumn<std::uint32_t> thread, name;
    BatchColumn<std::uint64_t> correlation;
    BatchColumn<std::int32_t> result;
  };

  ApiCalls* api_;
  std::size_t rows_;
  Batch batch_;
  std::size_t in_batch_ = 0;
};

}  // namespace traceinject
