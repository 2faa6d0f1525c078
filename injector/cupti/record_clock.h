// SPDX-License-Identifier: Apache-2.0
// The clock of activity records. It is CLOCK_REALTIME until another client of CUPTI registers a
// function that CUPTI is to take times from (PyTorch's profiler does: the processor's time-stamp
// counter); from then on the times of all records are that function's, and stay so when that client
// ends. We bring them back by readings of both clocks.
#pragma once

#include <cupti.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace traceinject {

// One moment on both clocks.
struct ClockReading {
  std::uint64_t ticks;
  std::int64_t realtime_ns;
};

// The tightest of a few tries: off by less than the shortest time between two calls of
// clock_gettime.
ClockReading ReadBothClocks(CUpti_TimestampCallbackFunc function);

// The clocks that were in force so far, numbered; 0 is CLOCK_REALTIME.
class RecordClocks {
 public:
  static constexpr int kRealtime = 0;
  static constexpr int kMax = 8;

  // CUPTI takes times from `source` from now on; null: from CLOCK_REALTIME. False: there is no
  // room for another function, and times of records cannot be told any more.
  bool Use(CUpti_TimestampCallbackFunc source);
  bool IsInForce(CUpti_TimestampCallbackFunc source) const {
    return functions_[current()] == source;
  }
  int current() const { return current_.load(std::memory_order_acquire); }
  int count() const { return count_.load(std::memory_order_acquire); }
  CUpti_TimestampCallbackFunc function(int clock) const { return functions_[clock]; }
  ClockReading first(int clock) const { return first_[clock]; }

  // Read when a clock ceased to be in force: one that was in force for less than the time between
  // two flushes has no other than that and the first, and without a second its rate is not known.
  struct Last {
    int clock;
    ClockReading reading;
  };
  static constexpr int kMaxLasts = 64;  // of later ones there is no need: others were read by then
  int lasts() const { return last_count_.load(std::memory_order_acquire); }
  const Last& last(int number) const { return lasts_[number]; }

 private:
  void ReadLast();

  std::atomic<int> current_{kRealtime};
  std::atomic<int> count_{1};
  CUpti_TimestampCallbackFunc functions_[kMax] = {};
  ClockReading first_[kMax] = {};  // when it came in force
  std::atomic<int> last_count_{0};
  Last lasts_[kMaxLasts] = {};
};

// The ones of this process.
extern RecordClocks g_record_clocks;

// Times of records -> CLOCK_REALTIME. One thread.
class RecordTimes {
 public:
  explicit RecordTimes(const RecordClocks* clocks) : clocks_(clocks) {}

  // Reads the clock in force; a reading is kept every 100 ms. Before records are converted: theirs
  // are times between readings then.
  void Read();

  // Of a record in a buffer that came back while `clock` was in force; a record that was written
  // before is of another clock, which its time shows. 0: no clock that we know. 0 stays 0.
  // O(log readings), O(1) while CLOCK_REALTIME is the only clock.
  std::int64_t ToRealtimeNs(int clock, std::uint64_t time) const {
    return readings_.empty() ? static_cast<std::int64_t>(time) : Convert(clock, time);
  }

 private:
  void ReadLasts();
  std::int64_t Convert(int clock, std::uint64_t time) const;
  std::int64_t By(int clock, std::uint64_t time) const;

  const RecordClocks* clocks_;
  std::vector<std::vector<ClockReading>> readings_;  // by clock, of the first nothing; by time
  int lasts_ = 0;                                    // of the clocks' that are in readings_
  std::int64_t read_ns_ = 0;                         // CLOCK_REALTIME of the last look
};

}  // namespace traceinject
