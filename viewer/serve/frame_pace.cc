// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/frame_pace.h"

#include <algorithm>
#include <optional>

namespace traceinject {
namespace {

// What browsers and hosts make it vary by, without a queue.
constexpr double kUsualShare = 1.5, kUsualMs = 30;
// The fastest is forgotten slowly: the way may have become longer.
constexpr double kForget = 1.002;

}  // namespace

void FramePace::Sent(std::uint32_t frame, Time now) {
  sent_ = frame;
  on_their_way_.push_back({frame, now});
}

bool FramePace::Seen(std::uint32_t frame, Time now) {
  if (frame > sent_) return false;
  std::optional<Time> since;
  while (!on_their_way_.empty() && on_their_way_.front().frame <= frame) {
    since = on_their_way_.front().since;
    on_their_way_.pop_front();
  }
  if (since) Learn(now - *since);
  return true;
}

void FramePace::Learn(std::chrono::duration<double, std::milli> took) {
  least_ms_ = std::min(least_ms_ * kForget, took.count());
  const bool queues = took.count() > kUsualShare * least_ms_ + kUsualMs;
  ahead_ = std::clamp(queues ? ahead_ - 1 : ahead_ + 1 / ahead_, double{kLeastAhead},
                      double{kMostAhead});
}

}  // namespace traceinject
