// SPDX-License-Identifier: Apache-2.0
// All operations of one communicator in order, as its members together recorded them: what one of
// them lacks another has.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "analyzer/ranks/match/align_operations.h"

namespace traceinject {

class OperationAxis {
 public:
  // Adds a member. `rows`: of its GroupOperations, one an operation. The first should be the one
  // with the most. Times of the axis are on the clock of the first.
  void Add(std::span<const SequencedOperation> operations, std::span<const std::uint32_t> rows,
           const AlignOptions& options);

  std::size_t members() const { return columns_.size(); }
  // In order, on the clock of the first member.
  const std::vector<SequencedOperation>& operations() const { return operations_; }
  // By how much the member's clock is before that of the first, where it was last known.
  TimeNs LastDifference(std::size_t member) const { return last_difference_[member]; }
  // Rows per operation and member; kNone: none. May be called once.
  std::vector<std::uint32_t> TakeRows();

 private:
  void Insert(std::span<const SequencedOperation> operations, const AlignedPairs& pairs,
              std::vector<std::uint32_t>& id_of);

  std::vector<SequencedOperation> operations_;
  std::vector<std::uint32_t> ids_;                   // of these: the order in which they were added
  std::vector<std::vector<std::uint32_t>> columns_;  // per member, row by id
  std::vector<TimeNs> last_difference_;
};

}  // namespace traceinject
