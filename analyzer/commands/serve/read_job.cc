// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/read_job.h"

#include <unistd.h>

#include <algorithm>
#include <climits>
#include <utility>

#include "analyzer/commands/record/new_recordings.h"
#include "analyzer/import/open/writer_lock.h"
#include "analyzer/verdict/judged_report.h"

namespace traceinject {
namespace {

// Locks of another machine's processes may not be seen here; a recorder that runs writes every
// second or so.
constexpr std::int64_t kSilence_ns = 60'000'000'000;

std::string ThisHost() {
  char name[HOST_NAME_MAX + 1] = {};
  gethostname(name, sizeof(name) - 1);
  return name;
}

// As Report.sources.
std::vector<RecordingFile> FilesOf(const Report& report, const std::set<std::string>& writers) {
  const std::string here = ThisHost();
  std::vector<RecordingFile> files;
  for (const proto::Source& source : report.sources()) {
    RecordingFile& file = files.emplace_back();
    file.bytes = BytesOf({source.path()});
    const bool is_going = source.closed() || writers.contains(source.path());
    if (is_going || source.host() == here) file.killed = !is_going;
  }
  return files;
}

JobPhase PhaseOf(const Report& report, const std::vector<RecordingFile>& files,
                 const std::set<std::string>& writers, std::int64_t age_ns) {
  bool all_closed = true, any_killed = false;
  for (int i = 0; i < report.sources_size(); ++i) {
    all_closed = all_closed && report.sources(i).closed();
    any_killed = any_killed || files[static_cast<std::size_t>(i)].killed.value_or(false);
  }
  if (all_closed) return JobPhase::kEnded;
  if (!writers.empty()) return JobPhase::kRunning;
  if (any_killed) return JobPhase::kKilled;
  return age_ns < kSilence_ns ? JobPhase::kRunning : JobPhase::kLost;
}

// Those of the GPU whose mean step is the longest.
std::optional<std::int64_t> StepOf(const Report& report) {
  std::optional<std::int64_t> longest;
  for (const proto::DeviceSteps& steps : report.steps()) {
    if (steps.has_judged_mean_ns()) longest = std::max(longest.value_or(0), steps.judged_mean_ns());
  }
  return longest;
}

void Summarize(const Report& report, ServedJob& job) {
  job.processes = report.sources_size();
  job.gpus = report.devices_size();
  for (const proto::Source& source : report.sources()) job.hosts.insert(source.host());
  if (report.sources_size() > 0) {
    job.run_id = report.sources(0).run_id();
    if (report.sources(0).has_world_size()) job.world_size = report.sources(0).world_size();
  }
  job.step_ns = StepOf(report);
  job.verdict = report.verdict().label();
  job.verdict_title = report.verdict().title();
  if (report.verdict().has_saved_ns()) job.saved_ns = report.verdict().saved_ns();
  if (report.devices_size() == 0) return;
  job.seen_unix_ns = report.run().origin_unix_ns() + report.run().window().end_ns();
  job.busy_share = report.run().partition().busy_share();
}

}  // namespace

std::set<std::string> WritersOf(const JobFiles& job) {
  std::set<std::string> writers;
  for (const std::string& path : job.paths) {
    if (HasWriter(path)) writers.insert(path);
  }
  return writers;
}

ServedJob ReadJob(const JobFiles& files, const JobState& state, const LiveOptions& options,
                  StepsSoFar& steps, const std::string& label, std::int64_t now_unix_ns) {
  ServedJob job;
  job.files = files;
  job.state = state;
  job.writers = WritersOf(files);
  const auto run = LoadLiveRun(files.paths, options);
  if (!run.ok()) {
    job.phase = JobPhase::kUnreadable;
    job.problem = run.error();
    job.metrics = WriteNoMetricLines(label);
    return job;
  }
  const Report report = BuildReportWithVerdict(run.value(), options.report);
  job.steps = steps.Count(files.paths);
  const RecordingFacts facts = {.steps = job.steps, .files = FilesOf(report, job.writers)};
  job.metrics = WriteMetricLines(report, facts, label);
  Summarize(report, job);
  job.phase = PhaseOf(report, facts.files, job.writers, now_unix_ns - state.changed_ns);
  return job;
}

}  // namespace traceinject
