// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/commands/record/http_server.h"
#include "analyzer/commands/record/live_metrics.h"
#include "analyzer/commands/record/record_commands.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/mfu_options.h"
#include "analyzer/common/units.h"

namespace traceinject {
namespace {

constexpr char kServeProgram[] = "analyze serve";
constexpr char kExamples[] =
    "Prometheus scrapes http://ADDRESS/metrics. Each scrape reads the last seconds of the "
    "recording again, at most every\n"
    "few seconds; the training program is never blocked. Ctrl-C ends it.\n\n"
    "Examples:\n"
    "  analyze serve run.db                                     http://127.0.0.1:9464/metrics\n"
    "  analyze serve run.db --metrics 0.0.0.0:9464 --window 1min   reachable from other machines\n"
    "analyze export --list-metrics lists the metrics, their units and their meaning.\n";

struct ServeOptions {
  LiveOptions live;
  std::string address = "127.0.0.1:9464";
  std::optional<std::int64_t> window_ns, every_ns;
};

// Set by Ctrl-C: reading gives up, and the server ends. A second one ends the program at once.
std::atomic<bool> stop_asked{false};
int stop_pipe[2] = {-1, -1};

void AskToStop(int) {
  stop_asked = true;
  const char letter = 's';
  [[maybe_unused]] const ssize_t ignored = write(stop_pipe[1], &letter, 1);
}

bool CatchStop() {
  if (pipe(stop_pipe) != 0) return false;
  struct sigaction action = {};
  action.sa_handler = AskToStop;
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  return sigaction(SIGINT, &action, nullptr) == 0 && sigaction(SIGTERM, &action, nullptr) == 0;
}

int Serve(const ServeOptions& options) {
  auto server = HttpServer::Listen(options.address);
  if (!server.ok()) {
    fmt::print(stderr, "{}: {}\n", kServeProgram, server.error());
    return kBadUsage;
  }
  if (!CatchStop()) {
    fmt::print(stderr, "{}: cannot catch Ctrl-C\n", kServeProgram);
    return kUnreadable;
  }
  if (!server.value().is_loopback())
    fmt::print(stderr,
               "warning: anyone who can reach this address can read the metrics, including host "
               "names and the run's name\n");
  fmt::print(stderr, "serving /metrics at {} (port {}) for the last {}; Ctrl-C ends it\n",
             options.address, server.value().port(), FormatTime(options.live.last_ns));
  LiveMetrics metrics(options.live, options.every_ns.value_or(LiveMetrics::kEvery_ns));
  server.value().Run(stop_pipe[0],
                     [&](const HttpRequest& request) { return metrics.Answer(request); });
  fmt::print(stderr, "ended\n");
  return kReported;
}

}  // namespace

int RunServe(const std::vector<std::string>& arguments) {
  ServeOptions options;
  CLI::App app("Serves live metrics of a run being recorded, over HTTP.", kServeProgram);
  app.footer(kExamples);
  app.add_option("run", options.live.paths,
                 "recordings (run.db stands for run.rank*.db); they need not exist yet")
      ->required();
  app.add_option("--metrics", options.address, "address to listen on, HOST:PORT")
      ->capture_default_str();
  AddTime(app, "--window", options.window_ns,
          "how much of the end of the recording the metrics cover (default 30s)");
  AddTime(app, "--every", options.every_ns, "minimum time between reads (default 5s)");
  AddMfuOptions(app, options.live.report.mfu);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  if (options.window_ns) options.live.last_ns = *options.window_ns;
  if (options.live.last_ns <= 0 || options.every_ns.value_or(1) <= 0) {
    fmt::print(stderr, "{}: --window and --every must be greater than 0\n", kServeProgram);
    return kBadUsage;
  }
  options.live.report.stop = &stop_asked;
  return Serve(options);
}

}  // namespace traceinject
