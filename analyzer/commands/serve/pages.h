// SPDX-License-Identifier: Apache-2.0
// What is at which path.
#pragma once

#include "analyzer/commands/serve/job_reports.h"
#include "analyzer/commands/serve/served_jobs.h"
#include "analyzer/http/http_message.h"

namespace traceinject {

inline constexpr char kMetricsPath[] = "/metrics";

class Pages {
 public:
  explicit Pages(const ServedJobsOptions& options)
      : jobs_(options), reports_(options.live, jobs_) {}

  // From any thread.
  HttpResponse Answer(const HttpRequest& request);

 private:
  HttpResponse Metrics(const HttpRequest& request);
  HttpResponse Index();
  HttpResponse Job(const std::string& path);

  ServedJobs jobs_;
  JobReports reports_;
};

}  // namespace traceinject
