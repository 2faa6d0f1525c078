// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/pages.h"

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/commands/serve/job_list.h"
#include "analyzer/http/url_text.h"

namespace traceinject {
namespace {

constexpr std::string_view kJobPrefix = "/job/";

// The job's name; "/job/a" may lack its last slash.
std::optional<std::string> JobOf(std::string_view path) {
  path.remove_prefix(kJobPrefix.size());
  if (path.ends_with('/')) path.remove_suffix(1);
  return PercentDecoded(path);
}

}  // namespace

HttpResponse Pages::Metrics(const HttpRequest& request) {
  const ServedJobs::Page page = jobs_.Refresh();
  std::vector<const MetricLines*> runs;
  for (const auto& job : page.jobs) {
    if (!job->metrics.empty()) runs.push_back(&job->metrics);
  }
  const bool open_metrics = AcceptsWord(request.header("accept"), "application/openmetrics-text");
  return {.content_type = open_metrics
                              ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
                              : "text/plain; version=0.0.4; charset=utf-8",
          .body = WriteMetricPage(
              runs, open_metrics ? MetricsDialect::kOpenMetrics : MetricsDialect::kPrometheus)};
}

HttpResponse Pages::Index() {
  const ServedJobs::Page page = jobs_.Refresh();
  HttpResponse response = AsPage(WriteJobsHtml(page));
  const bool waits = std::any_of(page.jobs.begin(), page.jobs.end(),
                                 [](const auto& job) { return job->phase == JobPhase::kNotRead; });
  if (waits) response.headers.emplace_back("Refresh", "2");
  return response;
}

HttpResponse Pages::Job(const std::string& path) {
  const std::optional<std::string> name = JobOf(path);
  const ServedJobs::Page page = jobs_.Refresh();
  const auto job = std::find_if(page.jobs.begin(), page.jobs.end(),
                                [&](const auto& one) { return one->files.name == name; });
  if (job == page.jobs.end()) return {.status = 404, .body = "there is no such job\n"};
  if (!path.ends_with('/'))
    return {.status = 301, .body = "see there\n", .headers = {{"Location", JobPath(*name)}}};
  return reports_.Answer(**job);
}

HttpResponse Pages::Answer(const HttpRequest& request) {
  const bool is_job = request.path.starts_with(kJobPrefix);
  const bool is_there =
      is_job || request.path == kMetricsPath || request.path == "/" || request.path == "/api/jobs";
  if (!is_there)
    return {.status = 404, .body = "there are /, /metrics, /api/jobs, and /job/NAME/\n"};
  if (request.method != "GET")
    return {.status = 405,
            .body = "everything here is read-only\n",
            .headers = {{"Allow", "GET, HEAD"}}};
  if (is_job) return Job(request.path);
  if (request.path == kMetricsPath) return Metrics(request);
  if (request.path == "/") return Index();
  return {.content_type = "application/json", .body = WriteJobsJson(jobs_.Refresh())};
}

}  // namespace traceinject
