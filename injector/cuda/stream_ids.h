// SPDX-License-Identifier: Apache-2.0
// Stream handles -> the numbers by which CUPTI's records name the same streams. Used by the
// wrappers on the program's threads, which define functions that CUDA's headers declare: so no such
// header is included here.
#pragma once

#include <cstdint>

namespace traceinject {

struct CuptiLibrary;

struct StreamId {
  std::uint32_t device = 0, context = 0, stream = 0;
  bool known = false;
};

// Call once, before the first look-up. Null functions leave all streams unknown.
void BindStreamIds(CuptiLibrary* cupti);

// The stream of the calling thread's current context. `per_thread`: handle 0 is the thread's
// default stream. O(1), lock-free; the first look-up of a stream asks CUPTI.
StreamId LookUpStream(void* handle, bool per_thread);

// A stream was destroyed: its handle may come back for another one.
void ForgetStreams();

}  // namespace traceinject
