// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <variant>

#include "analyzer/commands/record/live_paths.h"
#include "analyzer/commands/record/live_report.h"
#include "analyzer/commands/record/record_commands.h"
#include "analyzer/commands/record/stop_keys.h"
#include "analyzer/commands/record/watch_frame.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/missing_run.h"
#include "analyzer/common/printable.h"
#include "analyzer/common/units.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/import/open/writer_lock.h"

namespace traceinject {
namespace {

using Clock = std::chrono::steady_clock;

constexpr char kWatchProgram[] = "analyze watch";
constexpr std::int64_t kSecond_ns = 1'000'000'000;
// What a picture is to take at most; where the processors are busy it may be late by twice that.
// Where that is not enough for the time that was asked for, a shorter one is shown. The first one
// is short, for nothing is known yet.
constexpr std::int64_t kMaxWork_ns = kSecond_ns * 2 / 5;
constexpr std::int64_t kFirstWindow_ns = 2 * kSecond_ns;
constexpr std::int64_t kMinWindow_ns = kSecond_ns / 2;
constexpr double kMaxGrowth = 1.5;  // from one picture to the next
// A file that cannot be read yet: its first transaction takes no longer than this.
constexpr std::int64_t kFirstCommit_ns = 10 * kSecond_ns;
// Behind training, where both want the processor.
constexpr int kNice = 10;

struct WatchOptions {
  std::vector<std::string> paths;
  std::optional<std::int64_t> window_ns = 10 * kSecond_ns, every_ns = 2 * kSecond_ns;
  std::string format = "text";
  bool once = false;
};

void DescribeWatch(CLI::App& app, WatchOptions& options) {
  app.footer(
      "Columns: step, the mean regular step; busy, the share of time in which anything ran on the "
      "GPU; comm, communication,\n"
      "and exposed, the part not hidden by compute; data wait, GPU idle time per mean step spent "
      "on it; memory, peak use.\n"
      "The GPU that waits least for others comes first: it is the one they wait for. - means "
      "unknown.\n\n"
      "Only the last seconds are read, and training is never blocked. If this machine cannot "
      "analyze them in time, fewer\n"
      "are used, and the first line says how many. q or Ctrl-C quits; it also ends with the "
      "run.\n\n"
      "Examples:\n"
      "  analyze watch run.db                         during training, or before it starts\n"
      "  analyze watch run.db --window 30s --every 5s\n"
      "  analyze watch run.db --once                  one snapshot\n"
      "  analyze watch run.db --format json | jq .devices[0].step_ns\n"
      "  traceview run.db --serve --follow            the timeline of the same run, in a "
      "browser\n");
  app.add_option("run", options.paths,
                 "the recording (run.db stands for run.rank*.db); it need not exist yet. A "
                 "recording still in its spool (TRACEINJECT_SPOOL) is followed there")
      ->required();
  AddTime(app, "--window", options.window_ns, "how much of the end of the run to show (10s)");
  AddTime(app, "--every", options.every_ns, "update interval (2s)");
  app.add_option("--format", options.format, "text, or json: one line per update")
      ->check(CLI::IsMember({"text", "json"}))
      ->capture_default_str();
  app.add_flag("--once", options.once, "show one snapshot and exit");
}

std::int64_t NowUnix_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::int64_t Ns(Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

// Where pictures go: each in the place of the one before, on a terminal.
class Screen {
 public:
  explicit Screen(bool redraws) : redraws_(redraws && isatty(STDOUT_FILENO) == 1) {}

  FrameSize size() const {
    struct winsize size = {};
    if (!redraws_ || ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_col < 2) return {};
    return {size.ws_col - 1u, size.ws_row > 2 ? size.ws_row - 1u : 0};
  }

  void Show(const std::string& text) {
    // Up to the first line of the one before, and erase from there (ECMA-48).
    if (redraws_ && lines_ > 0) fmt::print("\x1b[{}A\x1b[J", lines_);
    fmt::print("{}", text);
    std::fflush(stdout);
    lines_ = std::count(text.begin(), text.end(), '\n');
  }

  bool redraws() const { return redraws_; }

 private:
  bool redraws_;
  std::ptrdiff_t lines_ = 0;
};

// A spool on this machine is followed. Of others it can only be said where they are.
std::string SpooledElsewhere(const LivePaths& found) {
  std::string text;
  for (const SpoolNote& note : found.elsewhere)
    text += fmt::format(
        "{0} writes to {1} until the run is complete (TRACEINJECT_SPOOL, {2}); on that host run: "
        "analyze watch {1}\n",
        Printable(note.host), Printable(note.recording), note.path);
  return text;
}

bool HasEnded(const WatchOptions& options) {
  const auto files = ResolveRunPaths(FindLivePaths(options.paths).paths);
  return files.ok() &&
         std::none_of(files.value().files.begin(), files.value().files.end(), HasWriter);
}

class Watch {
 public:
  explicit Watch(const WatchOptions& options)
      : options_(options),
        window_ns_(options.once ? *options.window_ns
                                : std::min(*options.window_ns, kFirstWindow_ns)),
        screen_(options.format == "text" && !options.once) {}

  int Run() {
    for (Clock::time_point due = Clock::now();;) {
      const std::variant<Next, int> then = Look(due);
      if (const int* exit_code = std::get_if<int>(&then)) return *exit_code;
      if (options_.once) return kReported;
      due = std::max(due + std::chrono::nanoseconds(*options_.every_ns), Clock::now());
      if (keys_.WaitFor(due - Clock::now())) return kReported;
    }
  }

 private:
  struct Next {};

  // One picture; or the exit code.
  std::variant<Next, int> Look(Clock::time_point due) {
    // Asked before reading: what is written in between is then in the picture.
    const bool ended = HasEnded(options_);
    const Clock::time_point begin = Clock::now();
    LiveOptions how;
    how.paths = options_.paths;
    how.last_ns = window_ns_;
    how.report.stop = keys_.flag();
    how.report.code = true;
    const auto report = ReadLiveReport(how);
    if (IsStopped(keys_.flag())) return kReported;
    if (!report.ok()) return Missing(report.error());
    unreadable_since_.reset();
    shown_ = true;
    const WatchFrame frame{report.value(), NowUnix_ns(), Ns(Clock::now() - due), ended};
    screen_.Show(options_.format == "json" ? FrameJson(frame) : FrameText(frame, screen_.size()));
    AdaptWindow(Ns(Clock::now() - begin));
    if (ended) return kReported;
    return Next{};
  }

  std::variant<Next, int> Missing(const std::string& error) {
    const LivePaths found = FindLivePaths(options_.paths);
    const bool is_there = ResolveRunPaths(found.paths).ok();
    if (options_.once) {
      fmt::print(stderr, "{}\n", error);
      if (!is_there) fmt::print(stderr, "\n{}", MissingRunChecklist(options_.paths));
      return kUnreadable;
    }
    if (is_there && !unreadable_since_) unreadable_since_ = Clock::now();
    if (is_there && Ns(Clock::now() - *unreadable_since_) > kFirstCommit_ns) {
      fmt::print(stderr, "{}\n", error);
      return kUnreadable;
    }
    const std::string text =
        fmt::format("waiting for {}: the file appears with the first GPU operation\n{}",
                    options_.paths.front(), SpooledElsewhere(found));
    // A picture that was shown stays: a file that comes to its place may not be found for a moment.
    if (!shown_ && text != said_)
      screen_.redraws() ? screen_.Show(text) : fmt::print(stderr, "{}", text);
    said_ = text;
    return Next{};
  }

  // What a picture takes is about proportional to the time that it shows.
  void AdaptWindow(std::int64_t took_ns) {
    const double most = static_cast<double>(window_ns_) * static_cast<double>(kMaxWork_ns) /
                        static_cast<double>(std::max<std::int64_t>(took_ns, 1));
    const auto next_ns =
        static_cast<std::int64_t>(std::min(most, kMaxGrowth * static_cast<double>(window_ns_)));
    window_ns_ =
        std::clamp(next_ns, std::min(kMinWindow_ns, *options_.window_ns), *options_.window_ns);
  }

  const WatchOptions& options_;
  StopKeys keys_;
  std::int64_t window_ns_;
  Screen screen_;
  std::optional<Clock::time_point> unreadable_since_;
  std::string said_;  // while there is nothing to show
  bool shown_ = false;
};

}  // namespace

int RunWatch(const std::vector<std::string>& arguments) {
  WatchOptions options;
  CLI::App app("Shows a live view of the last seconds of a run being recorded.", kWatchProgram);
  DescribeWatch(app, options);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  for (const auto& [name, value, least] :
       {std::tuple("--window", *options.window_ns, kMinWindow_ns),
        std::tuple("--every", *options.every_ns, kSecond_ns / 10)}) {
    if (value >= least) continue;
    fmt::print(stderr, "{}: {} must be at least {}\n", kWatchProgram, name, FormatTime(least));
    return kBadUsage;
  }
  [[maybe_unused]] const int ignored = nice(kNice);
  return Watch(options).Run();
}

}  // namespace traceinject
