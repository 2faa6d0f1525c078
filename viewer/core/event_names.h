// SPDX-License-Identifier: Apache-2.0
// Names of a row's events as small numbers: millions of events are grouped and searched without
// touching a text.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "viewer/core/rows.h"

namespace traceinject {

class EventNames {
 public:
  struct Name {
    std::string_view label;  // as on the timeline
    std::string_view full;   // as recorded: a kernel's with its arguments
  };

  // O(names), for kinds of rows without a table of names O(events). All must outlive this.
  EventNames(const Run& run, const RowModel& model, std::uint32_t row);

  // Several numbers may have the same label.
  const std::vector<Name>& names() const { return names_; }
  // Index into names(). O(1).
  std::uint32_t Of(const EventRef& ref) const;

 private:
  void AddOperationNames();
  void AddLabels();
  std::uint32_t OfText(std::uint32_t text) const;

  const Run& run_;
  const RowModel& model_;
  const Row& row_;
  const Rank& rank_;
  std::uint32_t row_index_;
  std::vector<Name> names_;
  std::uint32_t copies_ = 0, memset_ = 0;             // first of the copies' names; GPU rows
  std::vector<std::vector<std::uint32_t>> per_lane_;  // of kinds without a table, per event
};

}  // namespace traceinject
