// SPDX-License-Identifier: Apache-2.0
// The metrics of a recording that grows, read anew when somebody asks for them and they are old.
#pragma once

#include <chrono>
#include <mutex>
#include <optional>
#include <string>

#include "analyzer/commands/record/live_report.h"
#include "analyzer/http/http_message.h"

namespace traceinject {

class LiveMetrics {
 public:
  static constexpr std::int64_t kEvery_ns = 5'000'000'000;

  // At most every `every_ns`, and no more than a fifth of the time is spent on it.
  LiveMetrics(LiveOptions options, std::int64_t every_ns);

  // GET /metrics in the format that the client accepts; anything else is refused.
  HttpResponse Answer(const HttpRequest& request);

 private:
  void Refresh();

  std::mutex mutex_;  // answers come one at a time
  LiveOptions options_;
  std::chrono::nanoseconds every_;
  std::optional<std::chrono::steady_clock::time_point> next_;  // empty: nothing was read yet
  std::optional<Report> report_;                               // empty: it could not be read
  std::string problem_;                                        // why not, as it was told last
};

}  // namespace traceinject
