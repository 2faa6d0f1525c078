// SPDX-License-Identifier: Apache-2.0
// What events of a process are called in traces, as small numbers: millions of events share a few
// thousand names. Those that torch.profiler has too are called as there.
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <unordered_map>

#include "analyzer/export/host_events.h"
#include "analyzer/model/run.h"

namespace traceinject {

class EventNames {
 public:
  // The rank must outlive this.
  explicit EventNames(const Rank& rank) : rank_(rank) {}

  // Numbers count from 0. O(1).
  std::uint32_t Of(const HostEvent& event);
  std::uint32_t Of(const GpuOps& ops, std::size_t row);
  // `gap`: of Rank::gaps.
  std::uint32_t OfGap(const CaptureGap& gap);
  std::uint32_t OfStep(std::int64_t number);
  // `place`: of Rank::places.
  std::uint32_t OfPlace(std::uint32_t place);

  // Printable. Stays where it is.
  const std::string& text(std::uint32_t name) const { return texts_[name]; }
  std::size_t size() const { return texts_.size(); }

 private:
  template <typename MakeText>
  std::uint32_t Number(std::uint64_t table, std::uint64_t index, MakeText make_text);

  const Rank& rank_;
  std::unordered_map<std::uint64_t, std::uint32_t> numbers_;  // by table and index in it
  std::deque<std::string> texts_;
};

}  // namespace traceinject
