// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/describe_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>

#include "analyzer/compare/cautions.h"
#include "analyzer/compare/compared_run.h"
#include "analyzer/compare/figures.h"
#include "analyzer/compare/settings.h"
#include "analyzer/compare/statistics/median_interval.h"
#include "analyzer/compare/step_parts.h"
#include "analyzer/metrics/report/printable.h"
#include "analyzer/trend/program_name.h"
#include "analyzer/verdict/verdict_text.h"
#include "schemas/commit_variables.h"

namespace traceinject {
namespace {

FigureValue ValueOf(const char* name, const ComparedRun& side) {
  return FindFigure(name)->read(side);
}

std::string GpusOf(const Report& report) {
  std::set<std::string> names;
  for (const proto::DeviceReport& device : report.devices()) names.insert(device.name());
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string HostsOf(const Run& run, const ComparedRun& side) {
  std::set<std::string> hosts;
  for (const Rank& rank : run.ranks) hosts.insert(rank.process.host);
  const std::string host =
      side.rank() != nullptr ? side.rank()->process.host : run.ranks.front().process.host;
  return hosts.size() <= 1 ? host : fmt::format("{} and {} more", host, hosts.size() - 1);
}

void DescribeJob(const Run& run, const ComparedRun& side, proto::TrendRun& to) {
  TimeNs start = std::numeric_limits<TimeNs>::max();
  int ranks = 0;
  for (const Rank& rank : run.ranks) {
    start = std::min(start, rank.start);
    ranks = std::max(ranks, rank.process.world_size.value_or(0));
    to.add_paths(rank.path);
    if (!rank.closed && rank.imported_from.empty())
      to.add_cautions(
          fmt::format("{}: its process was killed, and the end may be missing", rank.path));
  }
  to.set_start_unix_ns(run.base_ns + start);
  to.set_ranks(ranks > 0 ? ranks : static_cast<int>(run.ranks.size()));
  to.set_gpu(GpusOf(side.report));
  to.set_host(HostsOf(run, side));
  const Rank& rank = side.rank() != nullptr ? *side.rank() : run.ranks.front();
  std::string program = ProgramName(rank.process.command_line);
  if (program.empty()) program = ProgramName(rank.process.executable);
  to.set_program(program.empty() ? "a program that is not known" : program);
  for (const SystemFact& fact : rank.facts) {
    if (fact.kind == "env" && IsCommitVariable(fact.key) && to.commit().empty())
      to.set_commit(fact.value);
  }
}

void DescribeSteps(const ComparedRun& side, proto::TrendRun& to) {
  to.set_steps(static_cast<std::int64_t>(side.steps.size()));
  if (const FigureValue step = ValueOf("step_ms", side); !step.value)
    return to.set_reason(step.reason);
  const MedianOfSteps step = MedianWithInterval(side.Series(shared::Length));
  to.set_step_ns(std::llround(step.median));
  if (step.interval) {
    to.set_step_low_ns(std::llround(step.interval->low));
    to.set_step_high_ns(std::llround(step.interval->high));
  }
  for (const auto& [name, ns] : MeanParts(side)) {
    proto::MeanPart& part = *to.add_parts();
    part.set_name(name);
    part.set_ns(std::llround(ns));
  }
}

void DescribeVerdict(const proto::Verdict& verdict, proto::TrendRun& to) {
  to.set_verdict(LabelOn(verdict));
  to.set_verdict_title(TitleOn(verdict));
  if (verdict.has_saved_ns()) to.set_saved_ns(verdict.saved_ns());
  if (verdict.has_saved_low_ns()) {
    to.set_saved_low_ns(verdict.saved_low_ns());
    to.set_saved_high_ns(verdict.saved_high_ns());
  }
  if (verdict.has_recording_ns() && verdict.step_ns() > 0)
    to.set_recording_share(static_cast<double>(verdict.recording_ns()) /
                           static_cast<double>(verdict.step_ns()));
}

}  // namespace

proto::TrendRun DescribeRun(const Run& run, const ReportOptions& options) {
  const ComparedRun side = PrepareRun(run, options);
  proto::TrendRun to;
  DescribeJob(run, side, to);
  DescribeSteps(side, to);
  DescribeVerdict(side.report.verdict(), to);
  if (const auto busy = ValueOf("gpu_busy", side).value) to.set_gpu_busy(*busy);
  if (const auto share = ValueOf("exposed_comm_share", side).value)
    to.set_exposed_communication_share(*share);
  if (const auto share = ValueOf("data_wait_share", side).value) to.set_data_wait_share(*share);
  if (const auto mfu = ValueOf("mfu", side).value) to.set_mfu(*mfu);
  for (const Setting& setting : SettingsOf(side)) {
    proto::Setting& row = *to.add_settings();
    row.set_kind(setting.kind);
    row.set_name(setting.name);
    row.set_value(setting.value);
  }
  for (std::string& caution : CautionsOn(side)) to.add_cautions(std::move(caution));
  if (std::string tried = TriedText(side.report); !tried.empty()) to.add_cautions(std::move(tried));
  MakePrintable(to);
  return to;
}

}  // namespace traceinject
