// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/what_if/played_ops.h"

#include "analyzer/metrics/idle/launch_latency.h"

namespace traceinject {
namespace {

constexpr TimeNs kClockNs = 2'000;

}  // namespace

void ReplayInput::Play(std::size_t row) {
  const std::size_t end = std::min(ops_.size(), row + kStretch);
  for (; row < end; ++row) {
    const TimeNs start = ops_.start[row];
    PlayedOp op;
    op.length = ops_.end[row] - start;
    op.gap = start - recorded_;
    op.launch = ops_.launch[row];
    if (op.launch != kNone) {
      const TimeNs called = api_.start[op.launch];
      op.launch_known = called <= start + kClockNs;
      op.late = op.launch_known && op.gap > 0 &&
                (called > recorded_ || WasOnItsWay(ops_, static_cast<std::uint32_t>(row), op.gap,
                                                   start - called, usual_latency_ns_));
      op.latency = op.late ? start - called : std::min(start - called, usual_latency_ns_);
    }
    if (residuals_ != nullptr) Substitute(row, op);
    played_.push_back(op);
    recorded_ = std::max(recorded_, ops_.end[row]);
  }
}

// Nobody knows then whether it would have been late: the later of the two moments counts.
void ReplayInput::Substitute(std::size_t row, PlayedOp& op) const {
  if (row < residuals_->first || row - residuals_->first >= residuals_->of_ops.size()) return;
  const Residual& residual = residuals_->of_ops[row - residuals_->first];
  op.gap = residual.gap_ns;
  op.latency = residual.latency_ns;
  op.late = false;
}

}  // namespace traceinject
