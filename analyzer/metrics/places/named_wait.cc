// SPDX-License-Identifier: Apache-2.0
#include "analyzer/metrics/places/named_wait.h"

#include <algorithm>
#include <cstdint>
#include <unordered_map>

#include "analyzer/metrics/steps/nvtx_steps.h"
#include "analyzer/model/intervals.h"

namespace traceinject {
namespace {

constexpr double kMostOfWait = 0.5;
// A range is a name for the waits if it holds more of them than any time does, or little else.
constexpr double kMoreThanUsual = 1.25, kLittleElse = 0.9;

struct Covered {
  TimeNs inside_ns = 0;  // of the waits
  TimeNs length_ns = 0;
};

class NameSearch {
 public:
  explicit NameSearch(const DeviceAnalysis& judged) : judged_(judged), rank_(*judged.rank) {
    Intervals waits;
    for (const HostSegment& segment : judged.causes.host) {
      if (segment.cause == IdleCause::kHostWait) waits.push_back(segment.time);
    }
    waits_ = Merge(std::move(waits));
  }

  std::optional<NamedWait> Find() {
    const TimeNs all = Length(waits_);
    if (all == 0) return std::nullopt;
    const NvtxRanges& nvtx = rank_.nvtx;
    for (std::size_t row = 0; row < nvtx.size(); ++row) {
      if (nvtx.kind[row] != NvtxKind::kMark && nvtx.text[row] != kNone &&
          StepPrefix(rank_.string(nvtx.text[row])).empty())
        Add(nvtx.text[row], nvtx.thread[row], {nvtx.start[row], nvtx.end[row]});
    }
    const ProfiledRanges& profiled = rank_.profiled;
    for (std::size_t row = 0; row < profiled.size(); ++row) {
      if (profiled.kind[row] == ProfiledKind::kOperator)
        Add(profiled.name[row], profiled.thread[row], {profiled.start[row], profiled.end[row]});
    }
    std::erase_if(by_name_, [&](const auto& one) { return !IsOfWaits(one.second, all); });
    const auto best =
        std::max_element(by_name_.begin(), by_name_.end(), [](const auto& a, const auto& b) {
          const Covered &of_a = a.second, &of_b = b.second;
          return of_a.inside_ns != of_b.inside_ns   ? of_a.inside_ns < of_b.inside_ns
                 : of_a.length_ns != of_b.length_ns ? of_a.length_ns > of_b.length_ns
                                                    : a.first > b.first;
        });
    if (best == by_name_.end()) return std::nullopt;
    const double share =
        std::min(1.0, static_cast<double>(best->second.inside_ns) / static_cast<double>(all));
    if (share < kMostOfWait) return std::nullopt;
    return NamedWait{std::string(rank_.string(best->first)), share};
  }

 private:
  // A range that is open all the time says nothing.
  bool IsOfWaits(const Covered& covered, TimeNs all) const {
    const Steps& steps = judged_.steps;
    const TimeNs span = steps.steps.empty() ? 0 : steps.steps.back().time.end - steps.start_ns;
    const double share =
        static_cast<double>(covered.inside_ns) / static_cast<double>(covered.length_ns);
    return share >= kLittleElse ||
           share * static_cast<double>(span) >= kMoreThanUsual * static_cast<double>(all);
  }

  void Add(std::uint32_t name, std::uint32_t thread, Interval time) {
    const std::vector<bool>& feeders = judged_.timeline.feeders;
    if (name == kNone || thread >= feeders.size() || !feeders[thread]) return;
    time.end = std::min(time.end, rank_.end);
    if (time.end <= time.start) return;
    const TimeNs inside = LengthInside(waits_, time);
    if (inside == 0) return;
    Covered& covered = by_name_[name];
    covered.inside_ns += inside;
    covered.length_ns += time.end - time.start;
  }

  const DeviceAnalysis& judged_;
  const Rank& rank_;
  Intervals waits_;
  std::unordered_map<std::uint32_t, Covered> by_name_;
};

}  // namespace

std::optional<NamedWait> NameHostWait(const DeviceAnalysis& judged) {
  return NameSearch(judged).Find();
}

}  // namespace traceinject
