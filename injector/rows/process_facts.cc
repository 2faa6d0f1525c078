// SPDX-License-Identifier: Apache-2.0
#include "injector/rows/process_facts.h"

#include <unistd.h>

#include <algorithm>
#include <charconv>

#include "injector/rows/secrets.h"
#include "machine/proc_files.h"
#include "schemas/commit_variables.h"

namespace traceinject {
namespace {

std::string_view Lookup(const char* const* environment, std::string_view name) {
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    std::string_view entry = *environment;
    if (entry.size() > name.size() && entry.compare(0, name.size(), name) == 0 &&
        entry[name.size()] == '=') {
      return entry.substr(name.size() + 1);
    }
  }
  return {};
}

int Integer(std::string_view text) {
  int value = -1;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() && value >= 0 ? value : -1;
}

// How launchers tell a process its place in the job. The first whose rank variable is set is taken.
struct Launcher {
  std::string_view name, rank, size, local_rank, local_size, job, restart;
};
constexpr Launcher kLaunchers[] = {
    {"torchrun", "RANK", "WORLD_SIZE", "LOCAL_RANK", "LOCAL_WORLD_SIZE", "TORCHELASTIC_RUN_ID",
     "TORCHELASTIC_RESTART_COUNT"},
    {"mpi", "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK",
     "OMPI_COMM_WORLD_LOCAL_SIZE", "OMPI_MCA_ess_base_jobid", ""},
    {"mpi", "PMI_RANK", "PMI_SIZE", "MPI_LOCALRANKID", "MPI_LOCALNRANKS", "PMI_JOBID", ""},
    {"slurm", "SLURM_PROCID", "SLURM_NTASKS", "SLURM_LOCALID", "SLURM_NTASKS_PER_NODE",
     "SLURM_JOB_ID", "SLURM_RESTART_COUNT"},
};

std::vector<std::string> ReadArguments() {
  std::vector<std::string> arguments;
  const std::string text = ReadTextFile("/proc/self/cmdline").value_or("");
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\0', at), text.size());
    arguments.push_back(text.substr(at, end - at));
    at = end + 1;
  }
  return arguments;
}

std::string StartTicks(const std::string& pid) {
  const auto text = ReadTextFile("/proc/" + pid + "/stat");
  const auto stat = text ? ParseProcStat(*text) : std::nullopt;
  return std::to_string(stat ? stat->start_ticks : 0);
}

// The same for all ranks of one attempt of one job. A launcher that gives a job id of its own is
// believed; otherwise the master's address and port stand in, and on a single host the launcher's
// start time tells attempts apart.
std::string RunId(const ProcessRow& facts, const Launcher* launcher,
                  const char* const* environment) {
  if (launcher == nullptr) {
    return facts.host + ":" + std::to_string(facts.pid) + ":" + StartTicks("self");
  }
  std::string id(launcher->name);
  const std::string_view job = Lookup(environment, launcher->job);
  const std::string_view slurm = Lookup(environment, "SLURM_JOB_ID");
  if (!job.empty() && job != "none") id += ":" + std::string(job);
  if (!slurm.empty() && launcher->name != "slurm") id += ":slurm" + std::string(slurm);
  if (const std::string_view step = Lookup(environment, "SLURM_STEP_ID"); !step.empty())
    id += "." + std::string(step);
  if (const std::string_view address = Lookup(environment, "MASTER_ADDR"); !address.empty()) {
    id += ":" + std::string(address) + ":" + std::string(Lookup(environment, "MASTER_PORT"));
  }
  if (facts.world_size > 0 &&
      facts.local_world_size ==
          facts.world_size) {  // one host: all ranks are children of one launcher
    id += ":" + facts.host + ":" + StartTicks(std::to_string(facts.parent_pid));
  }
  return id + ":restart" + std::to_string(std::max(facts.restart, 0));
}

// Variables by their beginning.
constexpr std::string_view kEnvironmentOfInterest[] = {"NCCL_",
                                                       "CUDA_",
                                                       "CUBLAS_",
                                                       "CUDNN_",
                                                       "TORCH_",
                                                       "TORCHELASTIC_RUN_ID",
                                                       "TORCHELASTIC_RESTART_COUNT",
                                                       "PYTORCH_",
                                                       "NVIDIA_VISIBLE_DEVICES",
                                                       "NVIDIA_TF32_OVERRIDE",
                                                       "TRITON_",
                                                       "TORCHINDUCTOR_",
                                                       "OMP_",
                                                       "MKL_",
                                                       "KMP_",
                                                       "NVTE_",
                                                       "XLA_",
                                                       "JAX_",
                                                       "SLURM_JOB_",
                                                       "SLURM_NNODES",
                                                       "SLURM_NTASKS",
                                                       "SLURM_PROCID",
                                                       "SLURM_LOCALID",
                                                       "SLURM_NODEID",
                                                       "SLURM_STEP_ID",
                                                       "SLURM_RESTART_COUNT",
                                                       "SLURM_CPUS_PER_TASK",
                                                       "PBS_JOBID",
                                                       "LSB_JOBID",
                                                       "OMPI_COMM_WORLD_",
                                                       "PMI_RANK",
                                                       "PMI_SIZE",
                                                       "UCX_",
                                                       "FI_",
                                                       "OMPI_MCA_",
                                                       "WORLD_SIZE",
                                                       "RANK",
                                                       "LOCAL_RANK",
                                                       "LOCAL_WORLD_SIZE",
                                                       "GROUP_RANK",
                                                       "GROUP_WORLD_SIZE",
                                                       "NODE_RANK",
                                                       "MASTER_ADDR",
                                                       "MASTER_PORT",
                                                       "CONDA_DEFAULT_ENV",
                                                       "LD_PRELOAD",
                                                       "LD_LIBRARY_PATH",
                                                       "KINETO_"};

}  // namespace

ProcessRow ReadJobFacts(const char* const* environment) {
  ProcessRow facts;
  facts.pid = getpid();
  facts.parent_pid = getppid();
  char host[256] = {};
  gethostname(host, sizeof host - 1);
  facts.host = host;
  const Launcher* launcher = nullptr;
  for (const Launcher& row : kLaunchers) {
    if (Integer(Lookup(environment, row.rank)) < 0) continue;
    launcher = &row;
    facts.launcher = row.name;
    facts.rank = Integer(Lookup(environment, row.rank));
    facts.world_size = Integer(Lookup(environment, row.size));
    facts.local_rank = Integer(Lookup(environment, row.local_rank));
    facts.local_world_size = Integer(Lookup(environment, row.local_size));
    if (!row.restart.empty()) facts.restart = Integer(Lookup(environment, row.restart));
    break;
  }
  facts.executable = ReadLinkText("/proc/self/exe");
  facts.working_directory = ReadLinkText("/proc/self/cwd");
  facts.run_id = RunId(facts, launcher, environment);
  return facts;
}

ProcessRow ReadProcessFacts(const char* const* environment) {
  ProcessRow facts = ReadJobFacts(environment);
  facts.command_line = MaskedCommandLine(ReadArguments());
  return facts;
}

std::vector<SystemFactRow> ReadEnvironmentFacts(const char* const* environment) {
  std::vector<SystemFactRow> facts;
  for (; environment != nullptr && *environment != nullptr; ++environment) {
    const std::string_view entry = *environment;
    const std::size_t equals = entry.find('=');
    if (equals == std::string_view::npos || equals == 0) continue;
    const std::string_view name = entry.substr(0, equals), value = entry.substr(equals + 1);
    const bool wanted =
        IsCommitVariable(name) ||
        std::any_of(std::begin(kEnvironmentOfInterest), std::end(kEnvironmentOfInterest),
                    [&](std::string_view prefix) { return name.starts_with(prefix); });
    if (!wanted) continue;
    facts.push_back({"env", std::string(name), MaskedValue(name, value), {}});
  }
  return facts;
}

}  // namespace traceinject
