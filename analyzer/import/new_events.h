// SPDX-License-Identifier: Apache-2.0
// The events that most of a recording consists of, on their way from its tables into columns.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "analyzer/import/row_batch.h"
#include "analyzer/model/run.h"
#include "analyzer/model/sort_columns.h"

namespace traceinject {

// Room for `rows` in all columns, before the first row: growing by and by would need up to three
// times the memory. What is not used is never touched.
template <typename... T>
void MakeRoom(std::size_t rows, std::vector<TimeNs>& first, std::vector<T>&... others) {
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

  bool IsBefore(TimeNs other_start, TimeNs other_end) const {
    return start != other_start ? start < other_start : end < other_end;
  }
};

// Operations of one device. Copies and memsets stand in tables of their own, but ran between
// kernels: they are put there while the kernels are read, as sorting all columns afterwards takes
// longer than all else that is done with them.
class NewOps {
 public:
  // `rows`: as many as there are of all devices.
  NewOps(GpuOps& ops, std::size_t rows) : ops_(&ops), rows_(rows) {}

  // In the order of their tables.
  void AddTransfer(const NewOp& op) { waiting_.push_back(op); }
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
    next_ = waiting_.begin() + run_->first;
  }
  // Returns its place, where the other fields are still to be filled in.
  NewOp& AddKernel(TimeNs start, TimeNs end) {
    while (IsWaiting() && next_->IsBefore(start, end)) AddWaiting();
    NewOp& kernel = Add();
    kernel.start = start;
    kernel.end = end;
    return kernel;
  }
  void Finish() {
    while (IsWaiting()) AddWaiting();
    Flush();
  }

 private:
  NewOp& Add() {
    if (batch_.full()) Flush();
    return batch_.Add();
  }
  bool IsWaiting() const { return added_ < waiting_.size(); }
  void AddWaiting() {
    Add() = *next_++;
    ++added_;
    if (++of_run_ < run_->count || !IsWaiting()) return;
    of_run_ = 0;
    next_ = waiting_.begin() + (++run_)->first;
  }
  void Flush() {
    if (batch_.empty()) return;
    MakeRoom(rows_, ops_->start, ops_->end, ops_->kind, ops_->kernel_class, ops_->detail);
    batch_.AppendTo(ops_->start, &NewOp::start);
    batch_.AppendTo(ops_->end, &NewOp::end);
    batch_.AppendTo(ops_->kind, &NewOp::kind);
    batch_.AppendTo(ops_->kernel_class, &NewOp::kernel_class);
    batch_.AppendTo(ops_->detail, &NewOp::detail);
    batch_.AppendTo(ops_->stream, &NewOp::stream);
    batch_.AppendTo(ops_->correlation, &NewOp::correlation);
    batch_.AppendTo(ops_->graph_node, &NewOp::graph_node);
    batch_.Clear();
  }

  GpuOps* ops_;
  std::size_t rows_;
  std::deque<NewOp> waiting_;  // grows without a second copy
  RowOrder order_;             // of these
  std::vector<RowOrder::Run>::const_iterator run_;
  std::deque<NewOp>::const_iterator next_;
  std::uint32_t of_run_ = 0;  // before the next
  std::size_t added_ = 0;     // of all
  RowBatch<NewOp> batch_;
};

struct NewCall {
  TimeNs start = 0, end = 0;
  std::uint64_t correlation = 0;
  std::uint32_t thread = kNone, name = kNone;
  std::int32_t result = 0;
};

// CUDA calls of one process.
class NewCalls {
 public:
  NewCalls(ApiCalls& api, std::size_t rows) : api_(&api), rows_(rows) {}

  // To be filled in.
  NewCall& Add() {
    if (batch_.full()) Finish();
    return batch_.Add();
  }
  void Finish() {
    if (batch_.empty()) return;
    MakeRoom(rows_, api_->start, api_->end, api_->thread, api_->name);
    batch_.AppendTo(api_->start, &NewCall::start);
    batch_.AppendTo(api_->end, &NewCall::end);
    batch_.AppendTo(api_->thread, &NewCall::thread);
    batch_.AppendTo(api_->name, &NewCall::name);
    batch_.AppendTo(api_->correlation, &NewCall::correlation);
    batch_.AppendTo(api_->result, &NewCall::result);
    batch_.Clear();
  }

 private:
  ApiCalls* api_;
  std::size_t rows_;
  RowBatch<NewCall> batch_;
};

}  // namespace traceinject
