// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/try/tryout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <utility>

#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/common/units.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/tries/foretell.h"
#include "analyzer/tries/plan.h"
#include "analyzer/tries/tried_savings.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

using Seconds = std::chrono::duration<double>;

constexpr int kTriesVersion = 1, kByInterruption = 128;
// A lever may slow the start down (torch.compile), or the program.
constexpr double kMostTimes = 3;
constexpr Seconds kMostBeside{300};

const char* OutcomeOf(Trial::End end) {
  switch (end) {
    case Trial::End::kMeasured:
      return "measured";
    case Trial::End::kFailed:
      return "failed";
    case Trial::End::kOutOfMemory:
      return "out of memory";
    case Trial::End::kHung:
      return "hung";
    case Trial::End::kInterrupted:
      return "interrupted";
  }
  return "";
}

}  // namespace

Tryout::Tryout(TryOptions& options, const proto::Report* from, const Scratch& scratch,
               Interruption& interruption)
    : options_(options),
      from_(from),
      scratch_(scratch),
      interruption_(interruption),
      line_(!options.no_progress) {
  options_.trial.scratch = scratch.path();
}

int Tryout::Run() {
  if (const int failed = RunFirst(); failed != 0) return failed;
  if (const int failed = Plan(); failed != 0) return failed;
  TellPlan();
  for (std::size_t round = 0; round < options_.repeats && !WasInterrupted(); ++round) {
    if (round > 0) RunAsIs(round);
    for (std::size_t i = 0; i < fixes_.size() && !WasInterrupted(); ++i)
      RunFix((i + round) % fixes_.size(), round);
  }
  line_.Release();
  Gather();
  return interruption_.number() == 0 ? kReported : kByInterruption + interruption_.number();
}

Trial Tryout::RunOne(const std::string& tried, const std::string& what, const std::string& name,
                     Seconds limit) {
  ++run_;
  return RunTrial(options_.trial, tried, name, limit, interruption_,
                  [&](std::optional<std::int64_t> steps, Seconds time) {
                    if (line_.active()) line_.Show(ProgressText(what, steps, time));
                  });
}

std::string Tryout::ProgressText(const std::string& what, std::optional<std::int64_t> steps,
                                 Seconds time) const {
  const std::size_t wanted = options_.trial.warm_up + options_.trial.steps;
  std::string text = runs_ == 0 ? fmt::format("trying, the first run: {}", what)
                                : fmt::format("trying, run {} of {}: {}", run_, runs_, what);
  text += steps ? fmt::format(", {} of {} steps", *steps, wanted) : ", no steps yet";
  text += fmt::format(", {:.0f} s", time.count());
  if (runs_ > 0)
    text += fmt::format(
        ", about {:.0f} s more",
        std::max(0.0, first_.count() * static_cast<double>(runs_ - run_ + 1) - time.count()));
  return text;
}

void Tryout::Tell(const std::string& what, const Trial& trial) {
  if (line_.active()) return;
  const std::string result =
      trial.run ? FormatTime(std::llround(trial.run->mean_ns())) + " a step" : OutcomeOf(trial.end);
  SayInTry(runs_ == 0 ? fmt::format("{}: {}", what, result)
                      : fmt::format("run {} of {}, {}: {}", run_, runs_, what, result));
}

int Tryout::RunFirst() {
  Trial trial = RunOne("", "the program as it is", "as_is.1", Seconds(options_.timeout_s));
  first_ = trial.time;
  if (trial.end == Trial::End::kInterrupted) return kByInterruption + interruption_.number();
  Tell("the program as it is", trial);
  if (trial.end == Trial::End::kMeasured) {
    as_is_.runs.push_back(std::move(*trial.run));
    scratch_.Clear();
    return kReported;
  }
  line_.Release();
  SayInTry(fmt::format("the program as it is could not be measured: {}", trial.reason));
  const std::string printed = LastLines(options_.trial, "as_is.1", 10);
  if (!printed.empty()) fmt::print(stderr, "what it printed last:\n{}\n", printed);
  return trial.exit_code != 0 ? trial.exit_code : kUnreadable;
}

int Tryout::Plan() {
  const proto::Report& report = from_ != nullptr ? *from_ : as_is_.runs.front().report;
  verdict_ = report.verdict();
  Result<TryPlan> plan = PlanTries(report, options_.choice);
  if (!plan.ok()) {
    SayInTry(plan.error());
    return kBadUsage;
  }
  fixes_ = plan.value().fixes;
  for (const std::string& note : plan.value().notes) tries_.add_notes(note);
  for (const proto::TriedFix& fix : fixes_) with_.push_back({fix.tried(), {}, false});
  return kReported;
}

void Tryout::TellPlan() {
  runs_ = options_.repeats * (1 + fixes_.size());
  line_.Release();
  SayInTry(fmt::format(
      "verdict: {}; {} to try, {}, about {}", TitleOn(verdict_),
      Plural(static_cast<std::int64_t>(fixes_.size()), "lever"),
      Plural(static_cast<std::int64_t>(runs_ - 1), "more run"),
      FormatTime(std::llround(first_.count() * 1e9) * static_cast<std::int64_t>(runs_ - 1))));
}

Seconds Tryout::Limit() const {
  return std::min(Seconds(options_.timeout_s), kMostTimes * first_ + kMostBeside);
}

void Tryout::RunAsIs(std::size_t round) {
  Trial trial = RunOne("", "the program as it is", fmt::format("as_is.{}", round + 1), Limit());
  if (trial.end == Trial::End::kInterrupted) return;
  Tell("the program as it is", trial);
  if (trial.run)
    as_is_.runs.push_back(std::move(*trial.run));
  else
    tries_.add_notes(
        fmt::format("a run of the program as it is was not measured: {}", trial.reason));
  scratch_.Clear();
}

void Tryout::RunFix(std::size_t index, std::size_t round) {
  Variant& with = with_[index];
  proto::TriedFix& fix = fixes_[index];
  if (with.ended) return;
  Trial trial =
      RunOne(with.tried, with.tried, fmt::format("fix_{}.{}", index + 1, round + 1), Limit());
  if (trial.end == Trial::End::kInterrupted) return;
  Tell(with.tried, trial);
  if (!trial.run) {
    with.ended = true;
    if (!with.runs.empty())
      tries_.add_notes(
          fmt::format("{}: a later run was not measured: {}", with.tried, trial.reason));
    else
      SetOutcome(OutcomeOf(trial.end), trial.reason, fix);
  } else {
    Note(std::move(*trial.run), with, fix);
  }
  scratch_.Clear();
}

void Tryout::SetOutcome(const std::string& outcome, const std::string& reason,
                        proto::TriedFix& fix) {
  fix.set_outcome(outcome);
  fix.set_reason(reason);
}

void Tryout::Note(TriedRun run, Variant& with, proto::TriedFix& fix) {
  if (with.runs.empty()) {
    const TriedEffect seen = EffectSeen(run.report, with.tried);
    fix.set_times(seen.times);
    if (seen.times == 0) {
      with.ended = true;
      SetOutcome("without effect", seen.text, fix);
    } else {
      fix.set_applied(seen.text);
      fix.set_outcome("measured");
      fix.set_diff(run.diff);
    }
  }
  with.runs.push_back(std::move(run));
}

void Tryout::Gather() {
  tries_.set_tool_version(TRACEINJECT_VERSION);
  tries_.set_tries_version(kTriesVersion);
  for (const std::string& word : options_.trial.program) tries_.add_command(word);
  tries_.set_repeats(static_cast<int>(options_.repeats));
  tries_.set_steps(static_cast<int>(options_.trial.steps));
  tries_.set_warm_up(static_cast<int>(options_.trial.warm_up));
  tries_.set_method(std::string(kTriedSavingMethod));
  tries_.set_interrupted(interruption_.number() != 0);
  *tries_.mutable_as_is() = Summary(as_is_);
  std::vector<const proto::Verdict*> verdicts;
  for (const TriedRun& run : as_is_.runs) verdicts.push_back(&run.report.verdict());
  for (std::size_t i = 0; i < fixes_.size(); ++i) {
    if (from_ == nullptr && !fixes_[i].label().empty()) Foretell(verdicts, fixes_[i]);
    if (fixes_[i].outcome().empty()) fixes_[i].set_outcome("interrupted");
    *fixes_[i].mutable_run() = Summary(with_[i]);
    if (fixes_[i].outcome() != "without effect") Conclude(as_is_, with_[i], fixes_[i]);
    *tries_.add_fixes() = fixes_[i];
  }
}

}  // namespace traceinject
