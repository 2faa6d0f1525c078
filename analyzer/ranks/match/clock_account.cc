// SPDX-License-Identifier: Apache-2.0
#include "analyzer/ranks/match/clock_account.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "analyzer/common/units.h"

namespace traceinject {

void ClockAccount::Add(const ClockFit& fit, TimeNs by) {
  ++aligned_;
  sigma_ns_ = std::max(sigma_ns_, fit.sigma_ns);
  furthest_ns_ = std::max(furthest_ns_, std::abs(by));
}

void ClockAccount::AddNotAligned(std::string sentence) {
  sentences_.push_back(std::move(sentence));
}

std::vector<std::string> ClockAccount::Finish() {
  if (aligned_ > 1)
    sentences_.insert(
        sentences_.begin(),
        fmt::format("clocks of {} ranks aligned by their collectives: shifts up to {}, uncertainty "
                    "{} (one standard deviation)",
                    aligned_, FormatTime(furthest_ns_), FormatTime(std::llround(sigma_ns_))));
  if (aligned_ == 0) sentences_.push_back("times on different hosts may be offset");
  return std::move(sentences_);
}

}  // namespace traceinject
