// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/view/rows/rows.h"

namespace traceinject {

// Whose time something is that is painted over rows.
struct RowOwner {
  std::uint32_t rank = kNone;    // index into Run::ranks; kNone: everybody's
  std::uint32_t device = kNone;  // index into Rank::devices; kNone: all of the rank's

  // Rows of a rank that are of no GPU belong to each of them.
  bool Has(const Row& row) const {
    if (rank == kNone) return true;
    return row.rank == rank && (device == kNone || row.device == kNone || row.device == device);
  }
  bool operator==(const RowOwner&) const = default;
};

inline RowOwner OwnerOf(const Row& row) { return {row.rank, row.device}; }

}  // namespace traceinject
