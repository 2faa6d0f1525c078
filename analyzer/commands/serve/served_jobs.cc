// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/served_jobs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <set>
#include <utility>

#include "analyzer/commands/serve/read_job.h"

namespace traceinject {
namespace {

// Prometheus waits ten seconds for an answer, unless it is told otherwise.
constexpr std::chrono::seconds kMostAtOnce{3};

std::int64_t Now_unix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

bool HasChanged(const ServedJob& job, const JobState& state) {
  if (job.phase == JobPhase::kNotRead || state != job.state) return true;
  // Nothing is written by a process that was killed, and one of another machine is lost in time.
  if (job.writers.empty()) return job.phase == JobPhase::kRunning;
  return WritersOf(job.files) != job.writers;
}

}  // namespace

// All that are found take part in the order; what is left out is forgotten.
void ServedJobs::FindJobs() {
  std::vector<std::pair<std::int64_t, JobFiles>> found;
  for (JobFiles& files : options_.find()) {
    const std::int64_t changed_ns = StateOf(files).changed_ns;
    found.emplace_back(changed_ns, std::move(files));
  }
  std::stable_sort(found.begin(), found.end(),
                   [](const auto& a, const auto& b) { return a.first > b.first; });
  left_out_ = found.size() - std::min(found.size(), options_.most_jobs);
  found.resize(found.size() - left_out_);
  order_.clear();
  for (auto& [changed_ns, files] : found) {
    order_.push_back(files.name);
    Known& known = known_[files.name];
    if (known.job && known.job->files.paths == files.paths) continue;
    // With what is known of it until it is read.
    auto job = known.job ? std::make_shared<ServedJob>(*known.job) : std::make_shared<ServedJob>();
    job->files = std::move(files);
    job->state = {};
    known.job = std::move(job);
  }
  const std::set<std::string> there(order_.begin(), order_.end());
  std::erase_if(known_, [&](const auto& known) { return !there.contains(known.first); });
}

void ServedJobs::ReadIfChanged(const std::string& name, Known& known) {
  const ServedJob& last = *known.job;
  const JobState state = StateOf(last.files);
  if (!HasChanged(last, state)) return;
  if (state.files != last.state.files) known.steps = {};
  auto job = std::make_shared<ServedJob>(ReadJob(last.files, state, options_.live, known.steps,
                                                 options_.has_labels ? name : "", Now_unix_ns()));
  if (IsStopped(options_.live.report.stop)) return;
  if (job->problem != known.said && !job->problem.empty()) fmt::print(stderr, "{}\n", job->problem);
  known.said = job->problem;
  known.job = std::move(job);
}

// Those that were never read come first, in their order, then those that were not for longest.
void ServedJobs::ReadChanged(Clock::duration spent) {
  std::vector<std::string> due = order_;
  std::stable_sort(due.begin(), due.end(), [&](const std::string& a, const std::string& b) {
    return known_.at(a).read_at < known_.at(b).read_at;
  });
  const auto began = Clock::now();
  bool has_unread = false;
  for (const std::string& name : due) {
    Known& known = known_.at(name);
    const bool is_new = known.job->phase == JobPhase::kNotRead;
    const auto before = Clock::now();
    if (before - began > kMostAtOnce || IsStopped(options_.live.report.stop)) {
      has_unread = has_unread || is_new;
      continue;
    }
    ReadIfChanged(name, known);
    known.read_at = Clock::now();
    if (!is_new) spent += known.read_at - before;
  }
  if (has_unread)
    next_.reset();
  else
    next_ = Clock::now() + std::max<Clock::duration>(options_.every, 4 * spent);
}

ServedJobs::Page ServedJobs::Refresh() {
  const std::lock_guard lock(mutex_);
  if (!next_ || Clock::now() >= *next_) {
    const auto began = Clock::now();
    FindJobs();
    ReadChanged(Clock::now() - began);
  }
  Page page;
  page.left_out = left_out_;
  for (const std::string& name : order_) page.jobs.push_back(known_.at(name).job);
  return page;
}

}  // namespace traceinject
