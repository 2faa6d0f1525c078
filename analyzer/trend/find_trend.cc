// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/find_trend.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "analyzer/common/median.h"
#include "analyzer/common/units.h"
#include "analyzer/compare/compare_runs.h"
#include "analyzer/compare/settings.h"
#include "analyzer/compare/statistics/change_points.h"
#include "analyzer/compare/text_comparison.h"
#include "analyzer/trend/known_runs.h"
#include "analyzer/trend/trend_text.h"
#include "schemas/commit_variables.h"

namespace traceinject {
namespace {

using Runs = std::vector<proto::TrendRun>;

constexpr double kTold = 0.005;        // of a step: smaller changes of its parts are not told
constexpr std::size_t kMostParts = 4;  // told of a change
constexpr double kDeviations = 1.96;   // of a normal distribution: 95 % lie within
constexpr double kFarOff = 3.5;        // standard deviations: one run beyond is worth a word

// What runs have in common that are compared.
using GroupKey = std::tuple<std::string, int, std::string>;
GroupKey KeyOfGroup(const proto::TrendRun& run) { return {run.program(), run.ranks(), run.gpu()}; }

// Of runs of a group that have a step time, from `begin` until before `end`.
struct RunRange {
  std::size_t begin = 0, end = 0;
  std::size_t size() const { return end - begin; }
};

double ErrorShare(const proto::TrendRun& run) {
  if (!run.has_step_low_ns() || run.step_ns() <= 0) return 0;
  return static_cast<double>(run.step_high_ns() - run.step_low_ns()) / 2 / kDeviations /
         static_cast<double>(run.step_ns());
}

std::vector<Setting> SettingsOfRun(const proto::TrendRun& run) {
  std::vector<Setting> settings;
  for (const proto::Setting& row : run.settings()) {
    // Each run is of another commit, which stands beside it.
    if (!IsCommitVariable(row.name())) settings.push_back({row.kind(), row.name(), row.value()});
  }
  return settings;
}

std::int64_t PartOf(const proto::TrendRun& run, const std::string& name) {
  for (const proto::MeanPart& part : run.parts()) {
    if (part.name() == name) return part.ns();
  }
  return 0;
}

class GroupFinder {
 public:
  GroupFinder(proto::TrendGroup& group, const TrendOptions& options)
      : group_(group), options_(options) {
    for (int i = 0; i < group.runs_size(); ++i) {
      if (group.runs(i).step_ns() > 0) timed_.push_back(i);
    }
  }

  void Find() {
    AddSettings();
    std::vector<SeriesRun> series;
    for (const int i : timed_)
      series.push_back({static_cast<double>(group_.runs(i).step_ns()), ErrorShare(group_.runs(i))});
    SeriesChanges found = FindChangePoints(series);
    std::erase_if(found.points, [](const ChangePoint& point) {
      return std::abs(point.after / point.before - 1) < kNegligibleShare;
    });
    if (series.size() >= kLeastSeries) group_.set_scatter_share(found.scatter);
    for (std::size_t i = 0; i < found.points.size(); ++i) AddChange(found.points, i);
    if (!found.points.empty()) group_.set_regressed(IsRegression(*group_.changes().rbegin()));
    AddOutlook(found);
  }

 private:
  const proto::TrendRun& Timed(std::size_t i) const { return group_.runs(timed_[i]); }

  void AddSettings() {
    for (int i = 1; i < group_.runs_size(); ++i) {
      const auto changed =
          ChangedSettings(SettingsOfRun(group_.runs(i - 1)), SettingsOfRun(group_.runs(i)));
      if (changed.empty()) continue;
      proto::SettingsChange& row = *group_.add_settings();
      row.set_run(i);
      for (const proto::SettingChange& change : changed) *row.add_settings() = change;
    }
  }

  void AddChange(const std::vector<ChangePoint>& points, std::size_t i) {
    const ChangePoint& point = points[i];
    const RunRange before{i == 0 ? 0 : points[i - 1].first, point.first};
    const RunRange after{point.first, i + 1 == points.size() ? timed_.size() : points[i + 1].first};
    proto::LevelChange& change = *group_.add_changes();
    change.set_run(timed_[point.first]);
    change.set_before_ns(std::llround(point.before));
    change.set_after_ns(std::llround(point.after));
    change.set_change_share(point.after / point.before - 1);
    change.set_low_share(point.share.low);
    change.set_high_share(point.share.high);
    change.set_runs_before(static_cast<int>(before.size()));
    change.set_runs_after(static_cast<int>(after.size()));
    change.set_verdict_before(VerdictOf(before));
    change.set_verdict_after(VerdictOf(after));
    AddParts(before, after, change);
    for (proto::SettingChange& setting :
         ChangedSettings(SettingsOfRun(Timed(point.first - 1)), SettingsOfRun(Timed(point.first))))
      *change.add_settings() = std::move(setting);
    change.set_text(ChangeSentence(group_, change));
  }

  // The label that most have, the newest where it is even.
  std::string VerdictOf(RunRange range) const {
    std::map<std::string, std::pair<std::size_t, std::size_t>> counts;  // with the newest run
    for (std::size_t i = range.begin; i < range.end; ++i) {
      auto& count = counts[Timed(i).verdict()];
      ++count.first;
      count.second = i;
    }
    return std::max_element(counts.begin(), counts.end(),
                            [](const auto& a, const auto& b) { return a.second < b.second; })
        ->first;
  }

  std::int64_t MedianPart(RunRange range, const std::string& name) const {
    std::vector<std::int64_t> values;
    for (std::size_t i = range.begin; i < range.end; ++i) values.push_back(PartOf(Timed(i), name));
    return Median(std::move(values));
  }

  void AddParts(RunRange before, RunRange after, proto::LevelChange& change) const {
    std::map<std::string, proto::PartChange> parts;
    for (std::size_t i = before.begin; i < after.end; ++i) {
      for (const proto::MeanPart& part : Timed(i).parts()) parts[part.name()].set_name(part.name());
    }
    std::vector<proto::PartChange> told;
    const auto least = static_cast<std::int64_t>(
        kTold * static_cast<double>(std::max(change.before_ns(), change.after_ns())));
    for (auto& [name, part] : parts) {
      part.set_before_ns(MedianPart(before, name));
      part.set_after_ns(MedianPart(after, name));
      if (std::abs(part.after_ns() - part.before_ns()) >= least) told.push_back(part);
    }
    std::stable_sort(told.begin(), told.end(), [](const auto& a, const auto& b) {
      return std::abs(a.after_ns() - a.before_ns()) > std::abs(b.after_ns() - b.before_ns());
    });
    if (told.size() > kMostParts) told.resize(kMostParts);
    for (proto::PartChange& part : told) *change.add_parts() = std::move(part);
  }

  bool IsRegression(const proto::LevelChange& change) const {
    return change.change_share() > options_.tolerance && change.low_share() > 0 &&
           (!options_.since_unix_ns ||
            group_.runs(change.run()).start_unix_ns() >= *options_.since_unix_ns);
  }

  // The newest run against the level of those before it.
  void AddOutlook(const SeriesChanges& found) {
    const std::size_t newest = timed_.empty() ? 0 : timed_.size() - 1;
    const std::size_t begin = found.points.empty() ? 0 : found.points.back().first;
    if (newest <= begin) return;
    std::vector<double> level;
    for (std::size_t i = begin; i < newest; ++i)
      level.push_back(std::log(static_cast<double>(Timed(i).step_ns())));
    const double runs = static_cast<double>(level.size()), middle = Median(std::move(level));
    const double off = std::log(static_cast<double>(Timed(newest).step_ns())) - middle;
    const double own = ErrorShare(Timed(newest));
    const double deviation = std::sqrt(found.scatter * found.scatter * (1 + 1 / runs) + own * own);
    if (std::abs(off) < kFarOff * deviation || std::abs(std::expm1(off)) < kNegligibleShare) return;
    group_.set_outlook(fmt::format(
        "the newest run, {}, takes {} where the level is {} ({}). A level takes two runs: record "
        "another one to tell a change from a run that was disturbed",
        Timed(newest).name(), FormatTime(Timed(newest).step_ns()), Rounded(std::exp(middle)),
        SignedPercent(std::expm1(off))));
  }

  proto::TrendGroup& group_;
  const TrendOptions& options_;
  std::vector<int> timed_;  // runs with a step time
};

std::int64_t NewestOf(const proto::TrendGroup& group) {
  return group.runs().rbegin()->start_unix_ns();
}

}  // namespace

proto::Trend FindTrend(Runs runs, const TrendOptions& options) {
  std::stable_sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) {
    return a.start_unix_ns() < b.start_unix_ns();
  });
  std::map<GroupKey, Runs> by_key;
  for (proto::TrendRun& run : runs) by_key[KeyOfGroup(run)].push_back(std::move(run));
  std::vector<proto::TrendGroup> groups;
  proto::Trend trend;
  for (auto& [key, members] : by_key) {
    proto::TrendGroup& group = groups.emplace_back();
    std::tie(*group.mutable_program(), std::ignore, *group.mutable_gpu()) = key;
    group.set_ranks(std::get<1>(key));
    const std::size_t first = members.size() > kMostRuns ? members.size() - kMostRuns : 0;
    if (first > 0)
      trend.add_left_out(fmt::format(
          "the {} oldest of {} runs of {}", FormatCount(static_cast<std::int64_t>(first)),
          FormatCount(static_cast<std::int64_t>(members.size())), group.program()));
    for (std::size_t i = first; i < members.size(); ++i) *group.add_runs() = std::move(members[i]);
    GroupFinder(group, options).Find();
  }
  std::stable_sort(groups.begin(), groups.end(),
                   [](const auto& a, const auto& b) { return NewestOf(a) > NewestOf(b); });
  for (proto::TrendGroup& group : groups) {
    trend.set_regressed(trend.regressed() || group.regressed());
    *trend.add_groups() = std::move(group);
  }
  trend.set_tool_version(TRACEINJECT_VERSION);
  trend.set_trend_version(kTrendVersion);
  trend.set_method(std::string(kChangePointMethod));
  return trend;
}

}  // namespace traceinject
