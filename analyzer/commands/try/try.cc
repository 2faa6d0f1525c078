// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>

#include "analyzer/commands/record/environment_variable.h"
#include "analyzer/commands/record/preload.h"
#include "analyzer/commands/record/recorder_options.h"
#include "analyzer/commands/record/status_line.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/output.h"
#include "analyzer/commands/shared/run_options.h"
#include "analyzer/commands/try/levers_text.h"
#include "analyzer/commands/try/trial.h"
#include "analyzer/commands/try/try_commands.h"
#include "analyzer/common/units.h"
#include "analyzer/html/write_tries_html.h"
#include "analyzer/report/formats/json.h"
#include "analyzer/report/layout/text_notation.h"
#include "analyzer/tries/losses.h"
#include "analyzer/tries/plan.h"
#include "analyzer/tries/text_tries.h"
#include "analyzer/tries/tried_savings.h"
#include "analyzer/tries/tries_file.h"
#include "analyzer/verdict/judged_report.h"
#include "analyzer/verdict/verdict_text.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;
using Seconds = std::chrono::duration<double>;

constexpr char kTryProgram[] = "analyze try";
constexpr int kTriesVersion = 1, kByInterruption = 128;
// A lever may slow the start down (torch.compile), or the program.
constexpr double kMostTimes = 3;
constexpr Seconds kMostBeside{300};

struct TryOptions {
  TrialSettings trial;
  TryChoice choice;
  std::size_t repeats = 3;
  double timeout_s = 1800;
  std::vector<std::string> from;
  std::string output = "tries", format = "text", html;
  bool keep = false, no_progress = false, levers = false;
};

void DescribeTry(CLI::App& app, TryOptions& options) {
  app.footer(
      "The program is run as it is and recorded, and once more with each lever of the verdict that "
      "can be pulled\n"
      "from outside, all of that --repeat times in turn. Each run is ended after its steps, so "
      "give "
      "the command as\n"
      "you would for a long run. What torch.save() writes goes to a scratch folder and is removed; "
      "other files the\n"
      "program writes as ever: --workdir runs it elsewhere. Ctrl-C ends everything and prints what "
      "was measured.\n\n"
      "Examples:\n"
      "  analyze try -- python train.py\n"
      "  analyze try --repeat 2 --steps 100 -- torchrun --nproc-per-node 8 train.py\n"
      "  analyze try --fixes num_workers=8,pin_memory=1+non_blocking=1 -- python train.py\n"
      "                                      these; + pulls two together\n"
      "  analyze try --from run.db -- python train.py   the levers of a recording's verdict\n"
      "  analyze try --levers                           all levers, and what each changes\n"
      "  analyze score tries                            predictions against all that was tried\n");
  app.add_option("--fixes", options.choice.fixes,
                 "auto, the levers of the verdict; or lever=value,... of --levers")
      ->type_name("LIST")
      ->capture_default_str();
  app.add_option("--steps", options.trial.steps, "steps of each run after the warm-up")
      ->check(WholeNumberFrom(static_cast<std::int64_t>(kLeastTriedSteps)))
      ->capture_default_str();
  app.add_option("--warm-up", options.trial.warm_up, "steps at the beginning that do not count")
      ->check(WholeNumberFrom(0))
      ->capture_default_str();
  app.add_option("--repeat", options.repeats,
                 "runs of each; with one, what differs from run to run is not known")
      ->check(WholeNumberFrom(1))
      ->capture_default_str();
  app.add_option("--most", options.choice.most, "levers of the verdict that are tried")
      ->check(WholeNumberFrom(1))
      ->capture_default_str();
  app.add_flag("--allow-numerics", options.choice.allow_numerics,
               "also try levers that change numbers, such as autocast");
  app.add_option("--from", options.from, "recordings whose verdict names the levers")
      ->type_name("RUN");
  app.add_option("--workdir", options.trial.folder, "folder that the program runs in")
      ->type_name("FOLDER")
      ->check(CLI::ExistingDirectory);
  app.add_option("--timeout", options.timeout_s, "seconds that a run may take")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("-o,--output", options.output,
                 "folder for tries.db, which analyze score reads, and for what --keep keeps")
      ->type_name("FOLDER")
      ->capture_default_str();
  app.add_flag("--keep", options.keep, "keep recordings and logs of all runs there");
  app.add_option("--format", options.format, "text or json")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_option("--html", options.html, "also write the result as a page")->type_name("FILE");
  app.add_flag("--no-progress", options.no_progress, "disable the progress line");
  app.add_flag("--levers", options.levers, "list all levers and exit");
  AddRecorderOptions(app, options.trial.recorder);
  app.add_option("program", options.trial.program,
                 "the program to run and its arguments, after --");
}

void Say(const std::string& text) { fmt::print(stderr, "{}: {}\n", kTryProgram, text); }

// Made when it is needed; what is in it goes when it does, unless it is kept.
class Scratch {
 public:
  Scratch(const std::string& folder, bool keep) : keep_(keep) {
    std::error_code error;
    folder_ = fs::absolute(folder, error).lexically_normal();
    made_folder_ = fs::create_directories(folder_, error);
    path_ = folder_ / fmt::format("runs.{}", getpid());
    made_ = fs::create_directory(path_, error);
    why_ = error.message();
  }
  ~Scratch() {
    std::error_code error;
    if (!made_ || keep_) return;
    fs::remove_all(path_, error);
    if (made_folder_) fs::remove(folder_, error);  // where nothing else is in it
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;

  bool made() const { return made_; }
  const std::string& why_not() const { return why_; }
  std::string path() const { return path_.string(); }
  std::string tries_file() const { return (folder_ / kTriesFile).string(); }
  // What one run left.
  void Clear() const {
    std::error_code error;
    if (keep_) return;
    for (const auto& entry : fs::directory_iterator(path_, error)) fs::remove_all(entry, error);
  }

 private:
  const bool keep_;
  bool made_ = false, made_folder_ = false;
  fs::path folder_, path_;
  std::string why_;
};

// All that was run of the program as it is, or with one lever.
struct Variant {
  std::string tried;  // empty: as it is
  std::vector<TriedRun> runs;
  bool ended = false;  // no more runs of it
};

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

std::vector<std::vector<double>> StepsOf(const Variant& variant) {
  std::vector<std::vector<double>> steps;
  for (const TriedRun& run : variant.runs) steps.push_back(run.steps_ns);
  return steps;
}

std::vector<std::vector<double>> LossesOf(const Variant& variant) {
  std::vector<std::vector<double>> losses;
  for (const TriedRun& run : variant.runs) losses.push_back(run.losses);
  return losses;
}

proto::TriedRuns Summary(const Variant& variant) {
  proto::TriedRuns to;
  double sum_ns = 0;
  for (const TriedRun& run : variant.runs) {
    sum_ns += run.mean_ns();
    to.set_steps(to.steps() + static_cast<std::int64_t>(run.steps_ns.size()));
    if (run.peak_bytes) to.set_peak_bytes(std::max(to.peak_bytes(), *run.peak_bytes));
  }
  to.set_runs(static_cast<int>(variant.runs.size()));
  if (variant.runs.empty()) return to;
  to.set_step_ns(std::llround(sum_ns / static_cast<double>(variant.runs.size())));
  const proto::Verdict& verdict = variant.runs.front().report.verdict();
  to.set_verdict(verdict.label());
  to.set_verdict_title(verdict.title());
  return to;
}

void Conclude(const Variant& as_is, const Variant& with, proto::TriedFix& fix) {
  if (with.runs.empty()) return;
  const TriedSaving saving = SavingOf(StepsOf(as_is), StepsOf(with));
  fix.set_saved_ns(std::llround(saving.saved_ns));
  if (saving.interval) {
    fix.set_saved_low_ns(std::llround(saving.interval->low));
    fix.set_saved_high_ns(std::llround(saving.interval->high));
  }
  const LossComparison losses = CompareLosses(LossesOf(as_is), LossesOf(with));
  fix.set_losses(losses.outcome);
  fix.set_losses_text(losses.text);
}

class Tryout {
 public:
  // `from`: the report whose verdict names the levers; null: that of the first run.
  Tryout(TryOptions& options, const proto::Report* from, const Scratch& scratch,
         Interruption& interruption)
      : options_(options),
        from_(from),
        scratch_(scratch),
        interruption_(interruption),
        line_(!options.no_progress) {
    options_.trial.scratch = scratch.path();
  }

  // The exit code; the result is in tries().
  int Run() {
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

  const proto::Tries& tries() const { return tries_; }

 private:
  bool WasInterrupted() { return interruption_.Came(); }

  Trial RunOne(const std::string& tried, const std::string& what, const std::string& name,
               Seconds limit) {
    ++run_;
    return RunTrial(options_.trial, tried, name, limit, interruption_,
                    [&](std::optional<std::int64_t> steps, Seconds time) {
                      if (line_.active()) line_.Show(ProgressText(what, steps, time));
                    });
  }

  std::string ProgressText(const std::string& what, std::optional<std::int64_t> steps,
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

  void Tell(const std::string& what, const Trial& trial) {
    if (line_.active()) return;
    const std::string result = trial.run
                                   ? FormatTime(std::llround(trial.run->mean_ns())) + " a step"
                                   : OutcomeOf(trial.end);
    Say(runs_ == 0 ? fmt::format("{}: {}", what, result)
                   : fmt::format("run {} of {}, {}: {}", run_, runs_, what, result));
  }

  // Without it there is nothing to compare with.
  int RunFirst() {
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
    Say(fmt::format("the program as it is could not be measured: {}", trial.reason));
    const std::string printed = LastLines(options_.trial, "as_is.1", 10);
    if (!printed.empty()) fmt::print(stderr, "what it printed last:\n{}\n", printed);
    return trial.exit_code != 0 ? trial.exit_code : kUnreadable;
  }

  int Plan() {
    const proto::Report& report = from_ != nullptr ? *from_ : as_is_.runs.front().report;
    verdict_ = report.verdict();
    Result<TryPlan> plan = PlanTries(report, options_.choice);
    if (!plan.ok()) {
      Say(plan.error());
      return kBadUsage;
    }
    fixes_ = plan.value().fixes;
    for (const std::string& note : plan.value().notes) tries_.add_notes(note);
    for (const proto::TriedFix& fix : fixes_) with_.push_back({fix.tried(), {}, false});
    return kReported;
  }

  void TellPlan() {
    runs_ = options_.repeats * (1 + fixes_.size());
    line_.Release();
    Say(fmt::format(
        "verdict: {}; {} to try, {}, about {}", TitleOn(verdict_),
        Plural(static_cast<std::int64_t>(fixes_.size()), "lever"),
        Plural(static_cast<std::int64_t>(runs_ - 1), "more run"),
        FormatTime(std::llround(first_.count() * 1e9) * static_cast<std::int64_t>(runs_ - 1))));
  }

  Seconds Limit() const {
    return std::min(Seconds(options_.timeout_s), kMostTimes * first_ + kMostBeside);
  }

  void RunAsIs(std::size_t round) {
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

  void RunFix(std::size_t index, std::size_t round) {
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

  static void SetOutcome(const std::string& outcome, const std::string& reason,
                         proto::TriedFix& fix) {
    fix.set_outcome(outcome);
    fix.set_reason(reason);
  }

  static void Note(TriedRun run, Variant& with, proto::TriedFix& fix) {
    if (with.runs.empty()) {
      const TriedEffect seen = EffectSeen(run.report, with.tried);
      fix.set_times(seen.times);
      if (seen.times == 0) {
        with.ended = true;
        SetOutcome("without effect", seen.text, fix);
      } else {
        fix.set_applied(seen.text);
        fix.set_outcome("measured");
      }
    }
    with.runs.push_back(std::move(run));
  }

  void Gather() {
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
      if (from_ == nullptr) ForetellByAll(verdicts, fixes_[i]);
      if (fixes_[i].outcome().empty()) fixes_[i].set_outcome("interrupted");
      *fixes_[i].mutable_run() = Summary(with_[i]);
      if (fixes_[i].outcome() != "without effect") Conclude(as_is_, with_[i], fixes_[i]);
      *tries_.add_fixes() = fixes_[i];
    }
  }

  TryOptions& options_;
  const proto::Report* const from_;
  const Scratch& scratch_;
  Interruption& interruption_;
  StatusLine line_;
  Variant as_is_;
  std::vector<Variant> with_;  // as fixes_
  std::vector<proto::TriedFix> fixes_;
  proto::Verdict verdict_;
  proto::Tries tries_;
  std::size_t run_ = 0, runs_ = 0;
  Seconds first_{};  // that the first run took
};

int Write(const proto::Tries& tries, const TryOptions& options) {
  if (!options.html.empty()) {
    const int failed = WriteOrExplain(kTryProgram, options.html, WriteTriesHtml(tries));
    if (failed != 0) return failed;
  }
  if (options.format == "json") {
    const Result<std::string> json = WriteJson(tries);
    return json.ok() ? WriteOrExplain(kTryProgram, "-", json.value())
                     : (Say(json.error()), kUnreadable);
  }
  const PageStyle style = StyleFor("-");
  TextPage page(style.color, style.width);
  WriteTries(tries, page);
  return WriteOrExplain(kTryProgram, "-", page.text());
}

int Try(TryOptions& options) {
  std::error_code error;
  const auto library =
      FindPreloadLibrary(fs::read_symlink("/proc/self/exe", error).parent_path().string(),
                         EnvironmentVariable("TRACEINJECT_LIBRARY"));
  if (!library.ok()) {
    Say(library.error());
    return kUnreadable;
  }
  options.trial.library = library.value();
  std::optional<proto::Report> from;
  if (!options.from.empty()) {
    RunOptions recorded;
    recorded.paths = options.from;
    recorded.no_progress = options.no_progress;
    const auto run = LoadOrExplain(recorded);
    if (const int* exit_code = std::get_if<int>(&run)) return *exit_code;
    from = BuildReportWithVerdict(std::get<Run>(run), {});
  }
  Interruption interruption;  // before there is anything to clear away
  const Scratch scratch(options.output, options.keep);
  if (!scratch.made()) {
    Say(fmt::format("{}: {}; -o names another folder", scratch.path(), scratch.why_not()));
    return kUnreadable;
  }
  Tryout tryout(options, from ? &*from : nullptr, scratch, interruption);
  const int exit_code = tryout.Run();
  const proto::Tries& tries = tryout.tries();
  if (!tries.as_is().has_step_ns()) return exit_code;
  if (!tries.interrupted() && tries.fixes_size() > 0) {
    const Status stored = AppendTries(scratch.tries_file(), tries, std::time(nullptr));
    if (!stored.ok()) Say("the result was not stored: " + stored.error());
  }
  const int failed = Write(tries, options);
  return exit_code != 0 ? exit_code : failed;
}

}  // namespace

int RunTry(const std::vector<std::string>& arguments) {
  TryOptions options;
  CLI::App app("Tries fixes without changing the program: measures what each lever saves.",
               kTryProgram);
  DescribeTry(app, options);
  std::vector<std::string> own = arguments;
  const std::vector<std::string> program = TakeProgram(own);
  if (const auto exit_code = ParseArguments(app, own)) return *exit_code;
  if (options.levers) return WriteOrExplain(kTryProgram, "-", LeversText());
  options.trial.program.insert(options.trial.program.end(), program.begin(), program.end());
  if (options.trial.program.empty()) {
    Say(fmt::format("name the program after --, as in: {} -- python train.py", kTryProgram));
    return kBadUsage;
  }
  // Before the first run, which takes a while.
  if (const Result<TryPlan> plan = PlanTries({}, options.choice); !plan.ok()) {
    Say(plan.error());
    return kBadUsage;
  }
  return Try(options);
}

}  // namespace traceinject
