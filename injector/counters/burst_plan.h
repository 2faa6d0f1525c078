// SPDX-License-Identifier: Apache-2.0
// When to sample, where what it costs must not exceed a share of one core: a burst of samples at
// once, and then a rest until the CPU time spent so far is within the share of the time since the
// first burst. A sample costs its reading, whatever the time between samples (some 90 us with ten
// counters on an H100), so samples that are close together are had only for a part of the time.
#pragma once

#include <algorithm>
#include <cstdint>

namespace traceinject {

class BurstPlan {
 public:
  // Times are of one clock, in ns. `share`: of a core.
  BurstPlan(double share, std::int64_t burst_ns) : share_(share), burst_ns_(burst_ns) {}

  // Where several plans have a budget together.
  void SetShare(double share) { share_ = share; }
  void Spend(std::int64_t cpu_ns) { spent_ += cpu_ns; }

  void Begin(std::int64_t now) {
    if (!has_begun_) first_ = now;
    has_begun_ = in_burst_ = true;
    begun_ = now;
  }
  // Whether the burst has lasted long enough, and no other may follow it at once.
  bool IsOver(std::int64_t now) const {
    return in_burst_ && now - begun_ >= burst_ns_ && now < Allowed();
  }
  // `jitter`: from 0 to 1. Rests that are all alike could keep time with the program's steps.
  void End(std::int64_t now, double jitter) {
    in_burst_ = false;
    ended_ = now;
    jitter_ = jitter;
  }
  bool Rests(std::int64_t now) const { return has_begun_ && !in_burst_ && now < NextBurst(); }

  // Until there is something to do.
  std::int64_t Wait(std::int64_t now) const {
    if (in_burst_) return burst_ns_ - (now - begun_) % burst_ns_;
    return has_begun_ ? std::max<std::int64_t>(NextBurst() - now, 0) : 0;
  }

 private:
  // When what was spent is within the share.
  std::int64_t Allowed() const {
    return first_ + static_cast<std::int64_t>(static_cast<double>(spent_) / share_);
  }
  std::int64_t NextBurst() const {
    constexpr double kMostJitter = 0.1;
    const std::int64_t rest = std::max<std::int64_t>(Allowed() - ended_, 0);
    return ended_ + rest +
           static_cast<std::int64_t>(kMostJitter * jitter_ * static_cast<double>(rest));
  }

  double share_;
  const std::int64_t burst_ns_;
  std::int64_t spent_ = 0, first_ = 0, begun_ = 0, ended_ = 0;
  double jitter_ = 0;
  bool has_begun_ = false, in_burst_ = false;
};

}  // namespace traceinject
