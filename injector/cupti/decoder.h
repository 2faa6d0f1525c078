// SPDX-License-Identifier: Apache-2.0
// Activity records -> rows. Writer thread only.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <limits>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "injector/cupti/activity.h"
#include "injector/cupti/memset_limit.h"
#include "injector/cupti/record_clock.h"
#include "injector/cupti/records.h"
#include "injector/rows/dictionary.h"

namespace traceinject {

// Widens CUPTI's 32-bit correlation ids, which wrap. Records arrive out of order, but never half
// the range apart.
class CorrelationWidener {
 public:
  std::uint64_t Widen(std::uint32_t id) {
    const auto distance = static_cast<std::int32_t>(id - static_cast<std::uint32_t>(last_));
    std::int64_t wide = static_cast<std::int64_t>(last_) + distance;
    if (wide < 0) wide += std::int64_t{1} << 32;  // before the first id there is nothing
    last_ = std::max(last_, static_cast<std::uint64_t>(wide));
    return static_cast<std::uint64_t>(wide);
  }

  std::uint32_t latest() const { return static_cast<std::uint32_t>(last_); }

  // Ids count from one again: the next are above all so far.
  void Restart() { last_ = ((last_ >> 32) + 1) << 32; }

 private:
  std::uint64_t last_ = 0;  // the largest so far
};

class ActivityDecoder {
 public:
  ActivityDecoder(CuptiLibrary* cupti, std::int64_t base_ns, Dictionary* dictionary, Batch* batch)
      : cupti_(cupti), base_ns_(base_ns), dictionary_(dictionary), batch_(batch) {}

  // Called now and then while rows are added, of which there may be many: it may take those that
  // are in the batch.
  using Between = std::function<void()>;

  // Decodes all records of a buffer into the batch. Returns how many of them were GPU work.
  // O(records).
  int Decode(
      const CompletedBuffer& buffer, const Between& between = [] {});

  // Call once a flush, after the last Decode(): lets go of driver calls whose enclosing runtime
  // call did not come. `everything`: at the end of the recording.
  void EndFlush(
      bool everything, const Between& between = [] {});

  // What cuptiGetTimestamp tells now, on CLOCK_REALTIME. 0: that cannot be told.
  std::int64_t RealtimeNs(std::uint64_t timestamp) {
    times_.Read();
    return times_.ToRealtimeNs(g_record_clocks.current(), timestamp);
  }

  // Calls that begin between windows are left out: some are on at all times (MayBlock). Of another
  // client's buffers, which may hold all that was done in its session, so is the work that they
  // launched. Times as in rows: from the first that is off to the last, and from when the first is
  // on again; told before what was recorded then is decoded. In the milliseconds until the last is
  // off a thread may launch if the edge is at no safe point: of our own buffers, where kinds go off
  // before calls, the calls of that time are kept; of another client's, in which work goes on and
  // some calls are missing, neither is.
  // `latest_call`: SharedSession::latest_call() then.
  void BeginGap(std::int64_t first_off, std::int64_t all_off) {
    gaps_.push_back({first_off, all_off, kOpen, last_call_});
  }
  void EndGap(std::int64_t time, std::uint32_t latest_call);

  MemsetLimit::Seen memsets() const { return memsets_; }
  // Records of kProbeCall so far.
  std::int64_t probes() const { return probes_; }
  // The latest correlation id.
  std::uint32_t correlation() const { return correlation_.latest(); }

 private:
  struct Interval {
    std::int64_t start, dur;
  };
  // Work runs later than it was launched. So calls of before a gap and those in it are told apart
  // by the last correlation id of each, as far as they are known.
  struct Gap {
    std::int64_t first_off, all_off, end;
    std::uint64_t last_before = 0, last_in = 0;

    // In a buffer of another client's, or of ours.
    bool Has(std::int64_t time, bool copied) const {
      return (copied ? first_off : all_off) <= time && time < end;
    }
    // Both in a buffer of another client's.
    void NoteCall(std::int64_t start, std::uint64_t correlation) {
      if (start < first_off) last_before = std::max(last_before, correlation);
      if (Has(start, true)) last_in = std::max(last_in, correlation);
    }
    bool HasLaunched(std::int64_t start, std::uint64_t correlation) const {
      return correlation > last_before &&
             (Has(start, true) || (start >= end && correlation <= last_in));
    }
  };
  static constexpr std::int64_t kOpen = std::numeric_limits<std::int64_t>::max();
  static constexpr std::size_t kGaps = 16;  // records do not come later than that
  bool IsInGap(std::int64_t time) const;
  void NoteLaunches(const CompletedBuffer& buffer);
  // Whether work that began then is to be left out.
  bool IsLeftOut(std::int64_t start, std::uint64_t correlation) const;

  bool TimesOf(std::uint64_t start, std::uint64_t end, Interval* interval, bool* repaired) const;
  // Whether it was GPU work.
  bool Add(const CUpti_Activity* record);
  void AddKernel(const KernelRecord& record);
  // The devices of a peer copy, else -1.
  template <typename Record>
  void AddMemcpy(const Record& record, int src_device, int dst_device);
  void AddPeerMemcpy(const PeerMemcpyRecord& record);
  void AddMemset(const MemsetRecord& record);
  void AddMemoryOperation(const MemoryRecord& record);
  void AddApi(const ApiRecord& record);

  CuptiLibrary* cupti_;
  std::int64_t base_ns_;
  Dictionary* dictionary_;
  Batch* batch_;
  RecordTimes times_{&g_record_clocks};
  bool copied_ = false;                  // the buffer that is decoded
  int clock_ = RecordClocks::kRealtime;  // the same
  CorrelationWidener correlation_;
  int taken_away_ = 0;           // CompletedBuffer::taken_away of the buffers so far
  std::uint64_t last_call_ = 0;  // the latest correlation id of one
  std::vector<Gap> gaps_;
  MemsetLimit::Seen memsets_;
  std::int64_t probes_ = 0;

  // A driver call inside a runtime call has the runtime call's correlation id and is left out.
  // Either of the two may come first, in another buffer, so driver calls wait for one flush. Those
  // that are recorded in the driver alone, as launches are where calls can be selected, do not:
  // after a kill no kernel that is there lacks its call.
  std::unordered_map<std::uint64_t, ApiRow> waiting_driver_, older_driver_;
  std::unordered_set<std::uint64_t> runtime_, older_runtime_;
};

}  // namespace traceinject
