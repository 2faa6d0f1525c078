// SPDX-License-Identifier: Apache-2.0
// A Report as one HTML file that needs nothing else: no network, no fonts, no other files. Charts
// are drawn here, and a picture of a few steps; scripts only sort tables, show what is pointed at,
// make the picture one to move in, and turn the theme.
#pragma once

#include <string>

#include "analyzer/html/timeline/page_timeline.h"
#include "schemas/ranks.pb.h"
#include "schemas/report.pb.h"

namespace traceinject {

// `ranks`: what ranks tell of each other; empty where nothing was looked for. `timeline`: of the
// same run, or empty. Every list is bounded, and what is left out is counted, so that the size does
// not grow with the run. Linear in the size of the messages.
std::string WriteHtml(const proto::Report& report, const proto::Ranks& ranks,
                      const PageTimeline& timeline);

}  // namespace traceinject
