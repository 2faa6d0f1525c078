// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/live_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <utility>

#include "analyzer/report/formats/openmetrics.h"

namespace traceinject {
namespace {

using Clock = std::chrono::steady_clock;

}  // namespace

LiveMetrics::LiveMetrics(LiveOptions options, std::int64_t every_ns)
    : options_(std::move(options)), every_(every_ns) {}

void LiveMetrics::Refresh() {
  const auto began = Clock::now();
  if (next_ && began < *next_) return;
  auto read = ReadLiveReport(options_);
  if (IsStopped(options_.report.stop)) return;
  const auto ended = Clock::now();
  next_ = ended + std::max<Clock::duration>(every_, 4 * (ended - began));
  const std::string problem = read.ok() ? "" : read.error();
  if (problem != problem_ && !problem.empty()) fmt::print(stderr, "{}\n", problem);
  problem_ = problem;
  report_.reset();
  if (read.ok()) report_ = std::move(read).value();
}

HttpResponse LiveMetrics::Answer(const HttpRequest& request) {
  if (request.path != "/metrics") return {.status = 404, .body = "only /metrics exists\n"};
  if (request.method != "GET")
    return {.status = 405, .body = "/metrics is read-only\n", .headers = {{"Allow", "GET, HEAD"}}};
  const std::lock_guard lock(mutex_);
  Refresh();
  const bool open_metrics = AcceptsWord(request.header("accept"), "application/openmetrics-text");
  const MetricsDialect dialect =
      open_metrics ? MetricsDialect::kOpenMetrics : MetricsDialect::kPrometheus;
  return {.content_type = open_metrics
                              ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                              : "text/plain; version=0.0.4; charset=utf-8",
          .body = report_ ? WriteOpenMetrics(*report_, dialect) : WriteNoMetrics(dialect)};
}

}  // namespace traceinject
