// SPDX-License-Identifier: Apache-2.0
// Notices that nothing completes on the GPU although work was launched (TRACEINJECT_STALL), so that
// the file of a job that hangs tells where it stands. One thread at a time (Writer::turn_).
//
// Records that do not come prove nothing: CUPTI keeps a buffer back while an operation in it has no
// end, which in a program that runs well may be always. So all that it has is asked for, once, when
// the program stands still, too: a call has waited for the GPU for as long, or nothing was heard of
// the program while buffers are out. A program that has nothing on the GPU does neither. Where
// CUPTI does not answer at all, that the program stands still is what there is to go by.
//
// Times are ns relative to the base of the recording, but for those named monotonic.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "injector/rows/dictionary.h"

namespace traceinject {

// The last of many numbers.
template <typename T>
class LastOf {
 public:
  static constexpr std::size_t kMax = 65'536;

  // The one that gave way; empty: there was room.
  std::optional<T> Add(T one) {
    if (held_.size() < kMax) {
      held_.push_back(one);
      return std::nullopt;
    }
    return std::exchange(held_[next_++ % kMax], one);
  }
  void Clear() {
    held_.clear();
    next_ = 0;
  }
  const std::vector<T>& held() const { return held_; }  // in no order

 private:
  std::vector<T> held_;
  std::size_t next_ = 0;
};

class StallWatch {
 public:
  // A thread that waits for the GPU.
  struct Wait {
    int tid;
    std::int64_t since;
    std::int64_t kind;  // SyncKind
  };
  // What is known at a flush, beside the rows.
  struct Moment {
    std::int64_t now = 0, monotonic = 0;
    std::int64_t told = 0;     // events of the program so far
    bool buffers_out = false;  // CUPTI holds some of our buffers
    std::vector<Wait> waits;
  };
  // Of this process.
  static Moment ReadMoment(std::int64_t base_ns);

  // `limit_ns` 0: it looks at nothing.
  StallWatch(std::int64_t limit_ns, Dictionary* dictionary, Batch* batch)
      : limit_ns_(limit_ns), dictionary_(dictionary), batch_(batch) {}

  // At rows that are about to be handed over: launches, and what completed. O(rows).
  void Look();

  // Before a flush: whether it is to bring all that CUPTI has, records without an end included.
  // Seldom.
  bool WantsAll(const Moment& moment);

  // After a flush, whose rows it looks at: adds the mark of a stall that begins or ends to the
  // batch.
  void Judge(const Moment& moment);
  // The same while CUPTI does not answer, and has not for as long as the limit.
  void JudgeUnanswered(const Moment& moment);

  // Nothing is recorded from now on, or up to now.
  void Forget(std::int64_t now);

  bool stalled() const { return gap_.dur < 0; }
  // How many there were.
  std::int64_t count() const { return count_; }
  // What was outstanding when the last stall was noticed, in words.
  const std::string& detail() const { return detail_; }

 private:
  struct Launch {
    std::uint64_t correlation;
    std::int64_t start;
  };
  struct Outstanding {
    std::size_t count = 0;
    std::int64_t first = std::numeric_limits<std::int64_t>::max();  // when it was launched
  };

  template <typename Row>
  void LookAtOperations(const std::vector<Row>& rows);
  bool IsLongQuiet(std::int64_t now) const { return now - last_end_ >= limit_ns_; }
  bool HasLongWait(const Moment& moment) const;
  bool IsLongAgo(std::int64_t monotonic, const Moment& moment) const {
    return monotonic != 0 && moment.monotonic - monotonic >= limit_ns_;
  }
  void NoteTold(const Moment& moment);
  Outstanding FindOutstanding(bool newest) const;
  void MarkIfStalled(const Moment& moment);
  void Mark(const Moment& moment, const Outstanding& outstanding);
  void EndStall(std::int64_t end);

  const std::int64_t limit_ns_;
  Dictionary* dictionary_;
  Batch* batch_;
  std::vector<bool> launches_;  // by id of the name of a call
  bool uses_graphs_ = false;
  LastOf<Launch> launched_;
  LastOf<std::uint64_t> completed_;  // correlation ids
  std::uint64_t last_completed_ = 0, highest_completed_ = 0;
  std::uint64_t forgotten_ = 0;  // what was launched up to it cannot be judged
  std::int64_t last_end_ = 0;    // of an operation
  std::int64_t told_ = 0;
  // Monotonic; 0: not yet, or, of the last, something completed since.
  std::int64_t told_at_ = 0, no_buffers_out_at_ = 0, asked_at_ = 0;
  bool nothing_outstanding_ = false;  // of what came so far
  CaptureGapRow gap_{0, 0, "stalled", 0};
  std::int64_t resumed_ = 0;  // when the first operation after the stall began
  std::int64_t count_ = 0;
  std::string detail_;
};

}  // namespace traceinject
