// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <chrono>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analyzer/commands/record/live_paths.h"
#include "analyzer/commands/serve/access_options.h"
#include "analyzer/commands/serve/job_folder.h"
#include "analyzer/commands/serve/pages.h"
#include "analyzer/commands/serve/serve_command.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/mfu_options.h"
#include "analyzer/common/stop_signals.h"
#include "analyzer/common/units.h"
#include "analyzer/http/access.h"
#include "analyzer/http/http_server.h"
#include "analyzer/import/open/run_paths.h"

namespace traceinject {
namespace {

constexpr char kServeProgram[] = "analyze serve";
constexpr char kExamples[] =
    "http://ADDRESS/metrics is for Prometheus, http://ADDRESS/ for people: the jobs, and the "
    "report on each. What has\n"
    "changed is read again when somebody asks, at most every few seconds; training is never "
    "blocked. Ctrl-C ends it.\n\n"
    "Of a folder every recording in it or below is a job, and recordings of its ranks are one; its "
    "metrics have the label\n"
    "job. Anything else is one job, without it.\n\n"
    "Examples:\n"
    "  analyze serve run.db                                     http://127.0.0.1:9464/metrics\n"
    "  analyze serve /results --jobs 20                         the 20 jobs that changed last\n"
    "  analyze serve run.db --metrics 0.0.0.0:9464 --window 1min   reachable from other machines\n"
    "  analyze serve /results --metrics 0.0.0.0:9464 --token /etc/traceinject/token\n"
    "analyze export --list-metrics lists the metrics, their units and their meaning.\n";

struct ServeOptions {
  std::vector<std::string> paths;
  ServedJobsOptions jobs;
  std::string address = "127.0.0.1:9464";
  std::optional<std::int64_t> window_ns, every_ns;
  AccessOptions access;
};

// All recordings that are named, as one.
JobFiles TheJob(const std::vector<std::string>& paths) {
  const std::vector<std::string> live = FindLivePaths(paths).paths;
  const auto files = ResolveRunPaths(live);
  const std::filesystem::path first(paths.front());
  return {first.stem().string(), files.ok() ? files.value().files : live};
}

// A folder that is not there yet is told from a file by its slash.
bool IsFolder(const std::vector<std::string>& paths) {
  std::error_code error;
  return paths.size() == 1 &&
         (paths.front().ends_with('/') || std::filesystem::is_directory(paths.front(), error));
}

void SetJobs(ServeOptions& options) {
  options.jobs.has_labels = IsFolder(options.paths);
  if (options.jobs.has_labels)
    options.jobs.find = [folder = std::make_shared<JobFolder>(options.paths.front())] {
      return folder->Find();
    };
  else
    options.jobs.find = [paths = options.paths] { return std::vector{TheJob(paths)}; };
}

int Complain(const std::string& problem, int exit_code) {
  fmt::print(stderr, "{}: {}\n", kServeProgram, problem);
  return exit_code;
}

void Announce(const ServeOptions& options, const ListenSocket& socket, const AccessRules& rules,
              const std::string& made_token) {
  if (!rules.is_loopback && rules.credentials.empty())
    fmt::print(stderr, "warning: anyone who can reach this address can read {}\n",
               rules.open ? "everything that is served; see --token"
                          : "the metrics, including host names and the run's name; see --token");
  fmt::print(stderr, "serving /metrics at {} (port {}) for the last {}; Ctrl-C ends it\n",
             options.address, socket.port(), FormatTime(options.jobs.live.last_ns));
  if (!made_token.empty()) fmt::print(stderr, "token: {}\n", made_token);
}

int Serve(const ServeOptions& options) {
  AccessRules rules;
  rules.open = options.access.open;
  rules.open_path = kMetricsPath;
  std::string made_token;
  auto credentials = ReadCredentials(options.access, made_token);
  if (!credentials.ok()) return Complain(credentials.error(), kBadUsage);
  rules.credentials = std::move(credentials).value();
  auto socket = ListenSocket::Open(options.address);
  if (!socket.ok()) return Complain(socket.error(), kBadUsage);
  rules.is_loopback = socket.value().is_loopback();
  if (!StopSignals::Catch()) return Complain("cannot catch Ctrl-C", kUnreadable);
  Announce(options, socket.value(), rules, made_token);
  Pages pages(options.jobs);
  ServeHttp(std::move(socket).value(), StopSignals::fd(), [&](const HttpRequest& request) {
    auto refusal = RefuseAccess(rules, request);
    return refusal ? std::move(*refusal) : pages.Answer(request);
  });
  fmt::print(stderr, "ended\n");
  return kReported;
}

}  // namespace

int RunServe(const std::vector<std::string>& arguments) {
  ServeOptions options;
  CLI::App app("Serves live metrics of runs being recorded, and their reports, over HTTP.",
               kServeProgram);
  app.footer(kExamples);
  app.add_option(
         "run", options.paths,
         "recordings of a run (run.db stands for run.rank*.db), or a folder with many jobs; "
         "they need not exist yet")
      ->required();
  app.add_option("--metrics", options.address, "address to listen on, HOST:PORT")
      ->capture_default_str();
  AddTime(app, "--window", options.window_ns,
          "how much of the end of the recording the metrics cover (default 30s)");
  AddTime(app, "--every", options.every_ns, "minimum time between reads (default 5s)");
  app.add_option("--jobs", options.jobs.most_jobs,
                 "of a folder, the most jobs to serve: those that changed last")
      ->check(WholeNumberFrom(1))
      ->capture_default_str();
  AddAccessOptions(app, options.access);
  AddMfuOptions(app, options.jobs.live.report.mfu);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  if (options.window_ns.value_or(1) <= 0 || options.every_ns.value_or(1) <= 0)
    return Complain("--window and --every must be greater than 0", kBadUsage);
  if (options.window_ns) options.jobs.live.last_ns = *options.window_ns;
  if (options.every_ns) options.jobs.every = std::chrono::nanoseconds(*options.every_ns);
  options.jobs.live.report.stop = StopSignals::flag();
  SetJobs(options);
  return Serve(options);
}

}  // namespace traceinject
