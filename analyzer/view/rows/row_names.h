// SPDX-License-Identifier: Apache-2.0
// Names of a row's events as small numbers: millions of events are grouped and searched without
// touching a text.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "analyzer/view/rows/rows.h"

namespace traceinject {

class RowNames {
 public:
  struct Name {
    std::string_view label;  // as on the timeline
    std::string_view full;   // as recorded: a kernel's with its arguments
  };

  // `known`: of another row; its names are taken over if they are those of this row too, and null
  // is none. O(names) without, for kinds of rows without a table of names O(events). All but
  // `known` must outlive this.
  RowNames(const Run& run, const RowModel& model, std::uint32_t row,
           const RowNames* known = nullptr);

  // Several numbers may have the same label.
  const std::vector<Name>& names() const { return *names_; }
  bool SharesNamesWith(const RowNames& other) const { return names_ == other.names_; }
  // Index into names(). O(1).
  std::uint32_t Of(const EventRef& ref) const;

 private:
  // Rows of one rank and one table have the same names.
  enum class Table : std::uint8_t { kOperations, kCalls, kTexts, kPlaces, kOwn };

  static Table TableOf(RowKind kind);
  std::vector<Name> OperationNames() const;
  std::vector<Name> CallNames() const;
  std::vector<Name> Texts() const;
  std::vector<Name> PlaceNames() const;
  std::vector<Name> OwnLabels();
  std::uint32_t OfOperation(std::uint32_t op) const;

  const Run& run_;
  const RowModel& model_;
  const Row& row_;
  const Rank& rank_;
  std::uint32_t row_index_;
  Table table_;
  std::shared_ptr<const std::vector<Name>> names_;
  std::vector<std::vector<std::uint32_t>> per_lane_;  // of kinds without a table, per event
};

}  // namespace traceinject
