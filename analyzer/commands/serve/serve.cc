// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <cstdio>
#include <optional>
#include <string>
#include <utility>

#include "analyzer/commands/serve/access_options.h"
#include "analyzer/commands/serve/live_metrics.h"
#include "analyzer/commands/serve/serve_command.h"
#include "analyzer/commands/serve/stop_signals.h"
#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/mfu_options.h"
#include "analyzer/common/units.h"
#include "analyzer/http/access.h"
#include "analyzer/http/http_server.h"

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
  AccessOptions access;
};

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
             options.address, socket.port(), FormatTime(options.live.last_ns));
  if (!made_token.empty()) fmt::print(stderr, "token: {}\n", made_token);
}

int Serve(const ServeOptions& options) {
  AccessRules rules;
  rules.open = options.access.open;
  rules.open_path = "/metrics";
  std::string made_token;
  auto credentials = ReadCredentials(options.access, made_token);
  if (!credentials.ok()) return Complain(credentials.error(), kBadUsage);
  rules.credentials = std::move(credentials).value();
  auto socket = ListenSocket::Open(options.address);
  if (!socket.ok()) return Complain(socket.error(), kBadUsage);
  rules.is_loopback = socket.value().is_loopback();
  if (!StopSignals::Catch()) return Complain("cannot catch Ctrl-C", kUnreadable);
  Announce(options, socket.value(), rules, made_token);
  LiveMetrics metrics(options.live, options.every_ns.value_or(LiveMetrics::kEvery_ns));
  ServeHttp(std::move(socket).value(), StopSignals::fd(), [&](const HttpRequest& request) {
    auto refusal = RefuseAccess(rules, request);
    return refusal ? std::move(*refusal) : metrics.Answer(request);
  });
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
  AddAccessOptions(app, options.access);
  AddMfuOptions(app, options.live.report.mfu);
  if (const auto exit_code = ParseArguments(app, arguments)) return *exit_code;
  if (options.window_ns) options.live.last_ns = *options.window_ns;
  if (options.live.last_ns <= 0 || options.every_ns.value_or(1) <= 0) {
    fmt::print(stderr, "{}: --window and --every must be greater than 0\n", kServeProgram);
    return kBadUsage;
  }
  options.live.report.stop = StopSignals::flag();
  return Serve(options);
}

}  // namespace traceinject
