// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/job_list.h"

#include <fmt/format.h>

#include "analyzer/common/json_text.h"
#include "analyzer/common/units.h"
#include "analyzer/html/page/document.h"
#include "analyzer/http/url_text.h"
#include "analyzer/report/layout/text_notation.h"

namespace traceinject {
namespace {

constexpr const char* kNothing = "-";

// The title says the unit where the number, by which the script sorts, has one.
struct JobColumn {
  const char* title;
  const char* help;
  bool is_number;
  std::string (*text)(const ServedJob&);
  std::string (*number)(const ServedJob&) = nullptr;  // to sort by; empty: not known
};

template <typename Value, typename Format>
std::string TextOr(const std::optional<Value>& value, Format format) {
  return value ? format(*value) : kNothing;
}
template <typename Value>
std::string NumberOf(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : "";
}

const JobColumn kColumns[] = {
    {"State", "running, ended, killed, lost (of another machine, and silent), unreadable", false,
     [](const ServedJob& job) { return std::string(PhaseName(job.phase)); }},
    {"Ranks", "recorded processes that were read", true,
     [](const ServedJob& job) {
       return job.world_size && *job.world_size != job.processes
                  ? fmt::format("{} of {}", job.processes, *job.world_size)
                  : FormatCount(job.processes);
     },
     [](const ServedJob& job) { return fmt::format("{}", job.processes); }},
    {"Step", "mean step of the slowest GPU, over the last seconds", true,
     [](const ServedJob& job) { return TextOr(job.step_ns, FormatTime); },
     [](const ServedJob& job) { return NumberOf(job.step_ns); }},
    {"Steps", "so far", true, [](const ServedJob& job) { return TextOr(job.steps, FormatCount); },
     [](const ServedJob& job) { return NumberOf(job.steps); }},
    {"GPU busy", "share of time in which anything ran", true,
     [](const ServedJob& job) {
       return TextOr(job.busy_share, [](double share) { return Percent(share); });
     },
     [](const ServedJob& job) { return NumberOf(job.busy_share); }},
    {"Verdict", "what limits it", false,
     [](const ServedJob& job) {
       if (!job.problem.empty()) return job.problem;
       return job.verdict_title.empty() ? kNothing : job.verdict_title;
     }},
    {"Saves", "of a mean step, were that removed", true,
     [](const ServedJob& job) { return TextOr(job.saved_ns, FormatTime); },
     [](const ServedJob& job) { return NumberOf(job.saved_ns); }},
    {"Last seen", "end of its last GPU operation", true,
     [](const ServedJob& job) { return TextOr(job.seen_unix_ns, FormatDate); },
     [](const ServedJob& job) { return NumberOf(job.seen_unix_ns); }},
    {"Size", "of its recordings", true,
     [](const ServedJob& job) { return FormatBytes(job.state.bytes); },
     [](const ServedJob& job) { return fmt::format("{}", job.state.bytes); }},
};

void WriteHeadCell(const char* title, const char* help, bool is_number, Markup& out) {
  out.Leaf("th", title,
           {{"scope", "col"},
            {"class", is_number ? "num" : "text"},
            {"data-tip", help},
            {"aria-sort", "none"}});
}

void WriteRow(const ServedJob& job, Markup& out) {
  const auto row = out.Open("tr");
  {
    const auto cell = out.Open("td", {{"class", "text"}});
    out.Leaf("a", job.files.name, {{"href", JobPath(job.files.name)}});
  }
  for (const JobColumn& column : kColumns) {
    if (column.is_number)
      out.Leaf("td", column.text(job), {{"class", "num"}, {"data-v", column.number(job)}});
    else
      out.Leaf("td", column.text(job), {{"class", "text"}});
  }
}

void WriteTable(const ServedJobs::Page& page, Markup& out) {
  const std::string id = out.NewId();
  const auto scroll = out.Open(
      "div", {{"class", "scroll"}, {"role", "region"}, {"tabindex", "0"}, {"aria-labelledby", id}});
  const auto table = out.Open("table", {{"class", "sortable"}});
  out.Leaf("caption", "The last that changed first", {{"id", id}});
  {
    const auto head = out.Open("thead");
    const auto row = out.Open("tr");
    WriteHeadCell("Job", "its report", false, out);
    for (const JobColumn& column : kColumns)
      WriteHeadCell(column.title, column.help, column.is_number, out);
  }
  const auto body = out.Open("tbody");
  for (const auto& job : page.jobs) WriteRow(*job, out);
}

void WriteMain(const ServedJobs::Page& page, Markup& out) {
  const auto section = out.Open("section", {{"id", "verdict"}});
  out.Leaf("h1", "Jobs");
  if (page.jobs.empty())
    out.Leaf("p", "There is no recording yet.", {{"class", "note"}});
  else
    WriteTable(page, out);
  if (page.left_out > 0)
    out.Leaf("p",
             fmt::format("{} not shown: see --jobs.",
                         Plural(static_cast<std::int64_t>(page.left_out), "older job") +
                             (page.left_out == 1 ? " is" : " are")),
             {{"class", "note"}});
}

template <typename Value>
std::string JsonOr(const std::optional<Value>& value) {
  return value ? fmt::format("{}", *value) : "null";
}

std::string JobJson(const ServedJob& job) {
  std::string hosts;
  for (const std::string& host : job.hosts) hosts += (hosts.empty() ? "" : ", ") + JsonString(host);
  return fmt::format(
      R"({{"name": {}, "path": {}, "state": {}, "problem": {}, "run_id": {}, "hosts": [{}], )"
      R"("processes": {}, "world_size": {}, "gpus": {}, "steps": {}, "step_ns": {}, )"
      R"("gpu_busy_share": {}, "verdict": {}, "verdict_title": {}, "saved_ns": {}, )"
      R"("last_operation_unix_ns": {}, "changed_unix_ns": {}, "bytes": {}}})",
      JsonString(job.files.name), JsonString(JobPath(job.files.name)),
      JsonString(PhaseName(job.phase)), job.problem.empty() ? "null" : JsonString(job.problem),
      JsonString(job.run_id), hosts, job.processes, JsonOr(job.world_size), job.gpus,
      JsonOr(job.steps), JsonOr(job.step_ns), JsonOr(job.busy_share), JsonString(job.verdict),
      JsonString(job.verdict_title), JsonOr(job.saved_ns), JsonOr(job.seen_unix_ns),
      job.state.changed_ns, job.state.bytes);
}

}  // namespace

std::string JobPath(const std::string& name) {
  return fmt::format("/job/{}/", PercentEncoded(name));
}

HttpResponse AsPage(std::string html) {
  return {.content_type = "text/html; charset=utf-8",
          .body = std::move(html),
          .headers = {{"Content-Security-Policy", "frame-ancestors 'none'"}}};
}

std::string WriteJobsHtml(const ServedJobs::Page& page) {
  return WriteDocument({.title = "traceinject: jobs",
                        .write_top =
                            [&](Markup& out) {
                              out.Leaf("p",
                                       Plural(static_cast<std::int64_t>(page.jobs.size()), "job"),
                                       {{"class", "about"}});
                            },
                        .write_main = [&](Markup& out) { WriteMain(page, out); },
                        .footer = "Figures are of the last seconds of each recording."});
}

std::string WriteJobsJson(const ServedJobs::Page& page) {
  std::string jobs;
  for (const auto& job : page.jobs) jobs += (jobs.empty() ? "\n" : ",\n") + JobJson(*job);
  return fmt::format("{{\"jobs\": [{}\n], \"left_out\": {}}}\n", jobs, page.left_out);
}

}  // namespace traceinject
