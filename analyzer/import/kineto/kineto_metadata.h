// SPDX-License-Identifier: Apache-2.0
// What a PyTorch (Kineto) trace says beside its events: devices, the job, versions, the time base.
#pragma once

#include <memory>
#include <string_view>

#include "analyzer/model/run.h"

namespace traceinject {

class KinetoMetadataParser {
 public:
  KinetoMetadataParser();
  ~KinetoMetadataParser();

  // Puts what the top-level member `key` tells into `rank`. `text` is followed by
  // JsonPieces::kPadding readable bytes. False: it could not be understood, and was left out.
  // Members of no interest are true.
  bool Parse(std::string_view key, std::string_view text, Rank& rank);

  // ns since the epoch that event times count from; 0: they count from the epoch.
  std::int64_t base_ns() const { return base_ns_; }

 private:
  struct State;
  std::unique_ptr<State> state_;
  std::int64_t base_ns_ = 0;
};

}  // namespace traceinject
