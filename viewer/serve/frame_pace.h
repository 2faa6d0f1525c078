// SPDX-License-Identifier: Apache-2.0
// How many frames may be on their way to a browser. Over a far link several have to be, else the
// picture changes only as often as an answer comes back; over a narrow one they would queue up, and
// what is seen be old. So one more is tried for each round of answers that came as fast as the
// fastest did, and one less once they take longer.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <deque>

namespace traceinject {

class FramePace {
 public:
  using Time = std::chrono::steady_clock::time_point;
  // One that is drawn there, and one on its way.
  static constexpr std::size_t kLeastAhead = 2;
  static constexpr std::size_t kMostAhead = 12;

  // Numbers grow by one with each frame that is sent.
  void Sent(std::uint32_t frame, Time now);
  // That one, and all before it, are on the screen. False: no such frame was sent.
  bool Seen(std::uint32_t frame, Time now);
  bool MaySend() const { return on_their_way_.size() < static_cast<std::size_t>(ahead_); }

 private:
  struct OnItsWay {
    std::uint32_t frame = 0;
    Time since;
  };
  void Learn(std::chrono::duration<double, std::milli> took);

  std::deque<OnItsWay> on_their_way_;
  std::uint32_t sent_ = 0;
  double ahead_ = kLeastAhead;
  double least_ms_ = 1e9;
};

}  // namespace traceinject
