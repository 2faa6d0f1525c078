// SPDX-License-Identifier: Apache-2.0
// Samples of one device on their way into rows: one row until somebody takes it, but of no more
// than a second's samples.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "injector/rows/rows.h"
#include "schemas/counter_codec.h"
#include "schemas/counters.h"

namespace traceinject {

// By how much the host's clock is ahead of the GPU's, as far as can be told while sampling: a
// sample that was read has ended by then, so the least difference of all is nearest to the truth.
// It may grow a little with time, by as much as clocks of one machine may differ, lest a drift be
// missed.
class ClockGuess {
 public:
  // The sample that ended at `gpu_time` was read at `now`.
  void Note(std::int64_t gpu_time, std::int64_t now) {
    const std::int64_t seen = now - gpu_time;
    const std::int64_t grown = offset_ + (now - noted_) / kSlowest;
    offset_ = has_ ? std::min(seen, grown) : seen;
    noted_ = now;
    has_ = true;
  }
  std::int64_t offset() const { return offset_; }

 private:
  static constexpr std::int64_t kSlowest = 10'000;  // 100 ns a ms
  bool has_ = false;
  std::int64_t offset_ = 0, noted_ = 0;
};

class SampleRows {
 public:
  SampleRows(int device, std::uint32_t set, std::int64_t period_ns, std::size_t counters)
      : device_(device), set_(set), period_ns_(period_ns), counters_(counters) {}

  // `start`, `end`: on the recording's clock. `gpu_time`: of start, where there is one.
  void Add(std::int64_t start, std::int64_t end, std::optional<std::uint64_t> gpu_time,
           std::span<const std::int64_t> values) {
    constexpr std::int64_t kLongestNs = 1'000'000'000;
    if (encoder_ && start - encoder_->start() >= kLongestNs) End();
    if (!encoder_) {
      encoder_.emplace(period_ns_, counters_);
      row_ = {};
      row_.device = device_;
      row_.set = set_;
      row_.has_gpu_time = gpu_time.has_value();
      row_.gpu_time = static_cast<std::int64_t>(gpu_time.value_or(0));
      row_.lag = kLongestNs;
    }
    encoder_->Add(start, end, values);
  }
  // The row begins as many ns after sampling was asked to begin.
  void SetLead(std::int64_t lead) {
    row_.is_first = true;
    row_.lead = lead;
  }
  // All samples so far were read so long after the end of the last one.
  void NoteLag(std::int64_t lag) {
    if (encoder_) row_.lag = std::min(row_.lag, lag);
  }

  std::vector<CounterSampleRow> Take() {
    End();
    return std::exchange(rows_, {});
  }

 private:
  void End() {
    if (!encoder_) return;
    row_.start = encoder_->start();
    row_.dur = encoder_->end() - encoder_->start();
    row_.samples = encoder_->samples();
    row_.data = encoder_->data();
    rows_.push_back(std::exchange(row_, {}));
    encoder_.reset();
  }

  const int device_;
  const std::uint32_t set_;
  const std::int64_t period_ns_;
  const std::size_t counters_;
  std::optional<CounterEncoder> encoder_;
  CounterSampleRow row_{};
  std::vector<CounterSampleRow> rows_;
};

// What CUPTI gives, a share in percent or cycles a second, in the counter's unit; -1: it is none.
inline std::int64_t StoredValue(CounterId id, double value) {
  const double scaled = InfoOf(id).unit == kMegahertz ? value * 1e-6 : value * 10;
  return scaled >= 0 && scaled < 1e10 ? std::llround(scaled) : -1;
}

}  // namespace traceinject
