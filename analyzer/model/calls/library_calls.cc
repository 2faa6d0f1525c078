// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/calls/library_calls.h"

#include "analyzer/model/calls/calls_on_threads.h"

namespace traceinject {

LibraryCalls::LibraryCalls(const Rank& rank) : attentions_(rank) {
  const Gemms& gemms = rank.gemms;
  if (gemms.size() > 0) products_ = CallAround(rank, gemms.start, gemms.end, gemms.thread);
}

}  // namespace traceinject
