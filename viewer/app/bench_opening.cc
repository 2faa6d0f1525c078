// SPDX-License-Identifier: Apache-2.0
#include "viewer/app/bench_opening.h"

#include <chrono>
#include <thread>

#include "viewer/app/window_session.h"
#include "viewer/platform/headless.h"

namespace traceinject {

Result<OpeningTimes> MeasureOpening(const ViewerOptions& options) {
  constexpr std::chrono::milliseconds kFrame{16};
  const auto begun = std::chrono::steady_clock::now();
  const auto passed_s = [begun] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  };
  HeadlessScreen screen(options.width_px, options.height_px, options.scale.value_or(1));
  WindowSession session(options);
  OpeningTimes times;
  for (;; std::this_thread::sleep_for(kFrame)) {
    screen.Frame([&session] { session.Frame({}); });
    if (!session.problem().empty()) return Error{session.problem()};
    const Timeline* const timeline = session.ui().timeline();
    if (timeline == nullptr) continue;
    if (times.first_rows_s == 0) times.first_rows_s = passed_s();
    if (!IsWhole(timeline->run())) continue;
    times.whole_s = passed_s();
    return times;
  }
}

}  // namespace traceinject
