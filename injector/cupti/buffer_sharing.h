// SPDX-License-Identifier: Apache-2.0
// Records of one activity buffer that two clients of CUPTI want. Called in the callback with which
// a buffer comes back; takes no lock and does not allocate.
#pragma once

#include <cupti.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "injector/core/counters.h"
#include "injector/cupti/record_walk.h"
#include "injector/cupti/shared_session.h"

namespace traceinject {

// Of a buffer of the other client's: copy(record, bytes) for each record that we want; those that
// it would not have without us are taken out. Returns how many bytes remain, without holes.
template <typename Copy>
std::size_t Divide(const SharedSession& session, std::uint8_t* buffer, std::size_t valid_bytes,
                   Copy copy) {
  const WantedRecords& ours = session.wanted(SharedSession::kOurs);
  const WantedRecords& theirs = session.delivered();
  std::uint8_t* kept = buffer;
  const bool whole = ForEachRecord(*session.cupti(), buffer, valid_bytes,
                                   [&](CUpti_Activity* record, std::size_t bytes) {
                                     if (ours.Has(record)) copy(record, bytes);
                                     if (!theirs.Has(record) || session.IsOwnCall(record)) return;
                                     std::memmove(kept, record, bytes);
                                     kept += bytes;
                                   });
  if (!whole) g_counters.Add(Health::kBuffersDamaged);
  return static_cast<std::size_t>(kept - buffer);
}

}  // namespace traceinject
