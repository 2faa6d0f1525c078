// SPDX-License-Identifier: Apache-2.0
// Pages of the report on a job, each made once for the state that its recordings are in.
#pragma once

#include <list>
#include <mutex>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/commands/serve/served_jobs.h"
#include "analyzer/http/http_message.h"

namespace traceinject {

class JobReports {
 public:
  // `jobs` must outlive this.
  JobReports(LiveOptions live, ServedJobs& jobs) : live_(std::move(live)), jobs_(jobs) {}

  // As `analyze html` writes it; of a job that has not ended, on its last seconds. One is made at a
  // time: while another is, 503 says to ask again.
  HttpResponse Answer(const ServedJob& job);

 private:
  struct Page {
    std::string name, html;
    JobState state;
  };
  std::optional<HttpResponse> Kept(const ServedJob& job);
  Result<std::string> Make(const ServedJob& job);

  const LiveOptions live_;
  ServedJobs& jobs_;
  std::mutex making_, keeping_;
  std::list<Page> pages_;  // under keeping_; the last that were asked for first
};

}  // namespace traceinject
