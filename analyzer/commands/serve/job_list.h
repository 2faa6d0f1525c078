// SPDX-License-Identifier: Apache-2.0
// The jobs that are served, as a page and for programs.
#pragma once

#include <string>

#include "analyzer/commands/serve/served_jobs.h"
#include "analyzer/http/http_message.h"

namespace traceinject {

// Where the report on a job is: "/job/vision/attempt2/".
std::string JobPath(const std::string& name);

// Not to be shown within a page of somebody else.
HttpResponse AsPage(std::string html);

std::string WriteJobsHtml(const ServedJobs::Page& page);
std::string WriteJobsJson(const ServedJobs::Page& page);

}  // namespace traceinject
