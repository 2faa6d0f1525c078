// SPDX-License-Identifier: Apache-2.0
// The program `analyze-mpi`: what `analyze combine` says of a job, by many processes.
#include <fmt/format.h>
#include <mpi.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <exception>
#include <optional>

#include "analyzer/commands/shared/arguments.h"
#include "analyzer/commands/shared/exit_code.h"
#include "analyzer/commands/shared/job_options.h"
#include "analyzer/common/units.h"
#include "analyzer/common/why_failed.h"
#include "analyzer/mpi/gather_job.h"

namespace traceinject {
namespace {

constexpr char kProgram[] = "analyze-mpi";

struct Options {
  JobCommand command{.program = kProgram, .plain = true};
  bool figures = false;
};

void Describe(CLI::App& app, Options& options) {
  app.footer(
      "Start it with mpirun or srun, with one or more processes per node:\n"
      "  mpirun -n 16 --map-by node analyze-mpi /local/run.db   each node reads its own "
      "recordings\n"
      "  srun -N 16 -n 16 analyze-mpi /shared/run.db            recordings visible to all nodes\n"
      "Files that cannot be read are left out and listed. Process 0 prints the report.\n");
  AddJobOptions(app, options.command,
                "recordings (run.db stands for run.rank*.db), summaries (*.summary), or folders of "
                "these, as each process sees them");
  AddJobReportOptions(app, options.command);
  app.add_flag("--figures", options.figures,
               "also print the time taken and the peak memory of process 0 to stderr");
}

unsigned ProcessesOfThisNode() {
  MPI_Comm node = MPI_COMM_NULL;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &node);
  int processes = 1;
  MPI_Comm_size(node, &processes);
  MPI_Comm_free(&node);
  return static_cast<unsigned>(processes);
}

// The arguments are the same everywhere, so process 0 alone says what is wrong with them.
std::optional<int> ParseTogether(const std::vector<std::string>& arguments, int process,
                                 Options& options) {
  CLI::App app(
      "Combines the ranks of a job using many processes: each summarizes the recordings it sees.",
      kProgram);
  Describe(app, options);
  int exit_code = -1;
  if (process == 0) exit_code = ParseArguments(app, arguments).value_or(-1);
  MPI_Bcast(&exit_code, 1, MPI_INT, 0, MPI_COMM_WORLD);
  if (exit_code >= 0) return exit_code;
  if (process == 0) return std::nullopt;
  return ParseArguments(app, arguments);
}

using Clock = std::chrono::steady_clock;

void ShowFigures(const Job& job, Clock::duration reading, Clock::duration analysing) {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](Clock::duration took) {
    return std::chrono::duration<double>(took).count();
  };
  fmt::print(stderr,
             "{}: {} summaries in {:.2f} s, analyzed in {:.2f} s; process 0 used at most {}\n",
             kProgram, FormatCount(static_cast<std::int64_t>(job.ranks.size())), seconds(reading),
             seconds(analysing), FormatBytes(std::int64_t{usage.ru_maxrss} * 1024));
}

int AnalyzeTogether(const std::vector<std::string>& arguments, int process) {
  const Clock::time_point began = Clock::now();
  Options options;
  if (const auto exit_code = ParseTogether(arguments, process, options)) return *exit_code;
  JobOptions reading = ReadingOptions(options.command, nullptr);
  reading.processes = ProcessesOfThisNode();
  const std::optional<Result<Job>> job = GatherJob(options.command.paths, reading, MPI_COMM_WORLD);
  if (!job) return kReported;
  const Clock::time_point read = Clock::now();
  const int exit_code = WriteJobOrExplain(options.command, *job);
  if (options.figures && job->ok()) ShowFigures(job->value(), read - began, Clock::now() - read);
  return exit_code;
}

}  // namespace
}  // namespace traceinject

int main(int argc, char** argv) {
  int provided = 0, process = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &process);
  try {
    const int exit_code =
        traceinject::AnalyzeTogether(std::vector<std::string>(argv + 1, argv + argc), process);
    MPI_Finalize();
    return exit_code;
  } catch (const std::exception& error) {
    // The others wait for this one: all end.
    char host[256] = "";
    gethostname(host, sizeof(host) - 1);
    std::fprintf(stderr, "analyze-mpi: process %d on %s: %s\n", process, host,
                 traceinject::WhyFailed(error).c_str());
    MPI_Abort(MPI_COMM_WORLD, traceinject::kUnreadable);
  }
}
