// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/shared_run.h"

#include <thread>
#include <utility>

namespace traceinject {

void SharedRun::Update() {
  std::optional<LoadResult> news = load_.Take();
  if (!news) return;
  if (!news->ok()) {
    problem_ = news->error();
    return;
  }
  problem_.clear();
  load_.Discard(std::exchange(loaded_, std::move(*news).value()));
}

void SharedRun::WaitForFirst(std::chrono::milliseconds most) {
  const auto end = std::chrono::steady_clock::now() + most;
  for (Update(); !loaded_ && problem_.empty() && std::chrono::steady_clock::now() < end; Update())
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
}

std::optional<LoadProgress> SharedRun::progress() const {
  return load_.reading() ? std::optional(load_.progress()) : std::nullopt;
}

}  // namespace traceinject
