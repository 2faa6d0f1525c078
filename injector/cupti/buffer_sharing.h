// SPDX-License-Identifier: Apache-2.0
// Records of one activity buffer that two clients of CUPTI want. Called in the callback with which
// a buffer comes back; takes no lock and does not allocate.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "injector/cupti/shared_session.h"

namespace traceinject {

// visit(record, bytes) for each record. A record may be changed or overwritten once it was visited.
// O(records).
template <typename Visit>
void ForEachRecord(const CuptiLibrary& cupti, std::uint8_t* buffer, std::size_t valid_bytes,
                   Visit visit) {
  const auto bytes_to = [](const CUpti_Activity* record, const void* end) {
    return static_cast<std::size_t>(static_cast<const std::uint8_t*>(end) -
                                    reinterpret_cast<const std::uint8_t*>(record));
  };
  // CUPTI finds the next record by the one before it: that is visited when the walk is past it.
  CUpti_Activity* record = nullptr;
  CUpti_Activity* before = nullptr;
  while (cupti.ActivityGetNextRecord(buffer, valid_bytes, &record) == CUPTI_SUCCESS) {
    if (before != nullptr) visit(before, bytes_to(before, record));
    before = record;
  }
  if (before != nullptr) visit(before, bytes_to(before, buffer + valid_bytes));
}

// Of a buffer of the other client's: copy(record, bytes) for each record that we want; those that
// it did not ask for are taken out. Returns how many bytes remain, without holes.
template <typename Copy>
std::size_t Divide(const SharedSession& session, std::uint8_t* buffer, std::size_t valid_bytes,
                   Copy copy) {
  const WantedRecords& ours = session.wanted(SharedSession::kOurs);
  const WantedRecords& theirs = session.delivered();
  std::uint8_t* kept = buffer;
  ForEachRecord(*session.cupti(), buffer, valid_bytes, [&](CUpti_Activity* record, auto bytes) {
    if (ours.Has(record)) copy(record, bytes);
    if (!theirs.Has(record)) return;
    std::memmove(kept, record, bytes);
    kept += bytes;
  });
  return static_cast<std::size_t>(kept - buffer);
}

}  // namespace traceinject
