// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/job_reports.h"

#include <fmt/format.h>

#include <algorithm>

#include "analyzer/commands/serve/job_list.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/html/sections/page_options.h"
#include "analyzer/html/write_html.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

// A page takes a megabyte or so, and much longer to make than to keep.
constexpr std::size_t kKeptPages = 8;

}  // namespace

Result<std::string> JobReports::Make(const ServedJob& job) {
  LiveOptions how = live_;
  const bool is_whole = job.phase == JobPhase::kEnded;
  if (is_whole) how.last_ns = 0;
  Result<Run> run = [&] {
    // Of ended recordings nobody has a lock to lose, and they may take long.
    std::unique_lock<std::mutex> alone;
    if (!is_whole) alone = jobs_.KeepFromReading();
    return LoadLiveRun(job.files.paths, how);
  }();
  if (!run.ok()) return Error{run.error()};
  const JudgedReport found = BuildJudgedReport(run.value(), ForPage(how.report));
  return WriteHtml(found.report, found.ranks,
                   MakePageTimeline(run.value(), found, NameOfRun(job.files.paths)));
}

std::optional<HttpResponse> JobReports::Kept(const ServedJob& job) {
  const std::lock_guard lock(keeping_);
  const auto page = std::find_if(pages_.begin(), pages_.end(), [&](const Page& kept) {
    return kept.name == job.files.name && kept.state == job.state;
  });
  if (page == pages_.end()) return std::nullopt;
  pages_.splice(pages_.begin(), pages_, page);
  return AsPage(page->html);
}

HttpResponse JobReports::Answer(const ServedJob& job) {
  if (auto kept = Kept(job)) return std::move(*kept);
  const std::unique_lock making(making_, std::try_to_lock);
  if (!making.owns_lock())
    return {.status = 503,
            .body = "another report is being made; ask again\n",
            .headers = {{"Retry-After", "5"}, {"Refresh", "5"}}};
  auto html = Make(job);
  if (!html.ok()) return {.status = 500, .body = html.error() + "\n"};
  if (IsStopped(live_.report.stop)) return {.status = 503, .body = "the server ends\n"};
  const std::lock_guard lock(keeping_);
  std::erase_if(pages_, [&](const Page& kept) { return kept.name == job.files.name; });
  pages_.push_front({job.files.name, std::move(html).value(), job.state});
  if (pages_.size() > kKeptPages) pages_.pop_back();
  return AsPage(pages_.front().html);
}

}  // namespace traceinject
