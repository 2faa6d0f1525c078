// SPDX-License-Identifier: Apache-2.0
#include "viewer/serve/shared_run.h"

#include <utility>

namespace traceinject {

void SharedRun::Update() {
  std::optional<LoadResult> news = load_.Take();
  if (!news) return;
  if (!news->ok()) {
    problem_ = news->error();
    return;
  }
  loaded_ = std::move(*news).value();
}

std::optional<LoadProgress> SharedRun::progress() const {
  return load_.reading() ? std::optional(load_.progress()) : std::nullopt;
}

}  // namespace traceinject
