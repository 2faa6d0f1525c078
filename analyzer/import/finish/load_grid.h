// SPDX-License-Identifier: Apache-2.0
// When which operations ran, on a grid of times: what share of any stretch of time each group of
// operations has, without looking at operations again. Half-open intervals.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "analyzer/model/intervals.h"
#include "analyzer/model/run.h"

namespace traceinject {

// Which operations load the GPU alike: the kernels of one name, for the names with most time; all
// other kernels; all copies.
class LoadGroups {
 public:
  LoadGroups(const Rank& rank, const GpuOps& ops, std::size_t most_names);
  std::size_t size() const { return group_.size() + 2; }
  std::size_t Of(std::size_t op) const;

 private:
  std::uint32_t NameOf(std::size_t op) const { return rank_.shapes[ops_.detail[op]].name; }

  const Rank& rank_;
  const GpuOps& ops_;
  std::unordered_map<std::uint32_t, std::size_t> group_;  // of a name
};

class LoadGrid {
 public:
  // Of the operations that begin in `time`, or less than a second before. O(those + cells).
  LoadGrid(const GpuOps& ops, const LoadGroups& groups, Interval time, TimeNs cell_ns);

  // The share of [from, to), inside the grid's time, in which operations of the group ran; as
  // exact as if they ran evenly within a cell. More than 1 where several ran at once. O(1).
  double Share(std::size_t group, TimeNs from, TimeNs to) const {
    return (CellsUntil(group, to) - CellsUntil(group, from)) * static_cast<double>(cell_) /
           static_cast<double>(to - from);
  }

 private:
  double Place(TimeNs time) const {
    return static_cast<double>(time - start_) / static_cast<double>(cell_);
  }
  void Add(TimeNs from, TimeNs to, std::vector<double>& sum) const;
  double CellsUntil(std::size_t group, TimeNs time) const;

  TimeNs start_, cell_;
  std::size_t cells_;
  std::vector<std::vector<double>> sums_;  // of a group: busy time before each cell, in cells
};

}  // namespace traceinject
