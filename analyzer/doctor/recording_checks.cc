// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/recording_checks.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <glob.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <optional>

#include "analyzer/common/text.h"
#include "analyzer/metrics/gpu/documents.h"
#include "machine/counter_reasons.h"
#include "machine/cupti_candidates.h"
#include "machine/injection_slot.h"
#include "machine/proc_files.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr char kTroubles[] = "docs/troubleshooting.md";
constexpr int kMinDriver = 12000;

CheckLine CheckGpus(const PresentMachine& machine) {
  constexpr char kCheck[] = "GPUs";
  const bool works = machine.nvml_failure.empty();
  if (works && !machine.gpus.empty()) {
    std::map<std::string, int> models;
    for (const PresentGpu& gpu : machine.gpus) ++models[gpu.name];
    std::vector<std::string> names;
    for (const auto& [name, count] : models) names.push_back(fmt::format("{} x {}", count, name));
    return {CheckStatus::kOk, kCheck, JoinFirst(names), {}, {}};
  }
  const std::string why = works ? "NVML reports none" : "NVML: " + machine.nvml_failure;
  if (machine.cards == 0)
    return {
        CheckStatus::kWarn,
        kCheck,
        fmt::format("no NVIDIA GPU on this machine ({}): recordings can be read but not made here",
                    why),
        {},
        {}};
  return {CheckStatus::kFail, kCheck,
          fmt::format("{} NVIDIA GPU{} on the PCI bus but not usable: {}", machine.cards,
                      machine.cards == 1 ? "" : "s", why),
          "install the NVIDIA driver; in a container, use docker run --gpus all",
          std::string(documents::kContainers)};
}

// As cuDriverGetVersion tells, which initializes nothing.
std::optional<int> DriverVersion(std::string* why) {
  void* library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_LOCAL);
  if (library == nullptr) {
    const char* error = dlerror();
    *why = error != nullptr ? error : "cannot load libcuda.so.1";
    return std::nullopt;
  }
  const auto get = reinterpret_cast<int (*)(int*)>(dlsym(library, "cuDriverGetVersion"));
  int version = 0;
  if (get != nullptr && get(&version) == 0) return version;
  *why = "cuDriverGetVersion of libcuda.so.1 fails";
  return std::nullopt;
}

std::string CudaName(int version) {
  return fmt::format("CUDA {}.{}", version / 1000, version % 1000 / 10);
}

CheckLine CheckCudaDriver(const std::vector<SystemFact>& facts) {
  constexpr char kCheck[] = "driver";
  std::string why;
  const std::optional<int> version = DriverVersion(&why);
  if (!version)
    return {CheckStatus::kFail, kCheck, why,
            "install the NVIDIA driver; in a container, use docker run --gpus all", kTroubles};
  std::string text = "for " + CudaName(*version);
  // Told with each device.
  const auto name = std::find_if(facts.begin(), facts.end(), [](const SystemFact& fact) {
    return fact.key == "nvidia_driver" && fact.reason.empty();
  });
  if (name != facts.end()) text = name->value + ", " + text;
  if (*version >= kMinDriver) return {CheckStatus::kOk, kCheck, text, {}, {}};
  return {CheckStatus::kFail, kCheck, text, "install a driver for CUDA 12.0 or newer", kTroubles};
}

std::vector<std::string> Glob(const std::string& pattern) {
  glob_t found{};
  std::vector<std::string> paths;
  if (glob(pattern.c_str(), 0, nullptr, &found) == 0)
    paths.assign(found.gl_pathv, found.gl_pathv + found.gl_pathc);
  globfree(&found);
  return paths;
}

// Of the CUDA wheels beside the first python3 in PATH, which its programs load.
std::string WheelCudart(std::string_view path) {
  while (!path.empty()) {
    const std::string folder(path.substr(0, path.find(':')));
    path.remove_prefix(std::min(folder.size() + 1, path.size()));
    std::error_code error;
    if (folder.empty() || !fs::exists(folder + "/python3", error)) continue;
    for (const char* wheel : {"cu13", "cuda_runtime"}) {
      for (const char* packages :
           {"/../lib/python3*/site-packages", "/../local/lib/python3*/dist-packages"}) {
        const auto found = Glob(folder + packages + "/nvidia/" + wheel + "/lib/libcudart.so.1[23]");
        if (!found.empty()) return found.front();
      }
    }
    return {};
  }
  return {};
}

// The driver gives performance counters to administrators alone, and this process is none.
bool LacksPermission(const std::string& root) {
  constexpr std::uint64_t kSysAdmin = std::uint64_t{1} << 21, kPerfmon = std::uint64_t{1} << 38;
  const auto driver = ReadTextFile(root + "/proc/driver/nvidia/params");
  if (!driver || driver->find("RmProfilingAdminOnly: 1") == std::string::npos) return false;
  const auto status = ReadTextFile(root + "/proc/self/status");
  constexpr std::string_view kEffective = "CapEff:\t";
  const std::size_t at = status ? status->find(kEffective) : std::string::npos;
  if (at == std::string::npos) return true;
  const std::uint64_t held = std::strtoull(status->c_str() + at + kEffective.size(), nullptr, 16);
  return (held & (kSysAdmin | kPerfmon)) == 0;
}

// DCGM's programs, which hold counters if they profile.
std::string ProfilingDaemon(const std::string& root) {
  for (const std::string& name : ListFolder(root + "/proc").value_or(std::vector<std::string>())) {
    if (WholeNumber(name) <= 0) continue;
    const auto command = ReadTextFile(root + "/proc/" + name + "/comm");
    if (!command) continue;
    for (const std::string_view daemon : {"nv-hostengine", "dcgm-exporter"}) {
      if (TrimEnd(*command) == daemon) return std::string(daemon);
    }
  }
  return {};
}

bool HasFact(const std::vector<SystemFact>& facts, std::string_view end, std::string_view value) {
  return std::any_of(facts.begin(), facts.end(), [&](const SystemFact& fact) {
    return fact.kind == "gpu" && fact.key.ends_with(end) && fact.value == value;
  });
}

// "libcupti.so.13" -> 13.
int MajorOf(const std::string& path) {
  return path.find("libcupti.so.13") != std::string::npos   ? 13
         : path.find("libcupti.so.12") != std::string::npos ? 12
                                                            : 0;
}

}  // namespace

Checklist CheckDriver(const PresentMachine& machine) {
  Checklist lines = {CheckGpus(machine)};
  if (!machine.gpus.empty() || machine.cards > 0) lines.push_back(CheckCudaDriver(machine.facts));
  return lines;
}

CheckLine CheckCupti(const PresentMachine& machine) {
  constexpr char kCheck[] = "CUPTI";
  const std::string configured = EnvironmentOf(machine.facts, "TRACEINJECT_CUPTI");
  const std::string cudart = WheelCudart(EnvironmentOf(machine.facts, "PATH"));
  for (const std::string& path : CuptiCandidates(configured, cudart)) {
    void* library = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL);
    if (library == nullptr) continue;
    const auto get = reinterpret_cast<int (*)(std::uint32_t*)>(dlsym(library, "cuptiGetVersion"));
    std::uint32_t version = 0;
    if (get == nullptr || get(&version) != 0)
      return {CheckStatus::kFail, kCheck, path + " reports no version",
              "set TRACEINJECT_CUPTI to the libcupti of CUDA 12 or 13", kTroubles};
    const std::string text = fmt::format("{}, interface version {}", path, version);
    std::string why;
    const std::optional<int> driver = DriverVersion(&why);
    if (!driver || MajorOf(path) <= *driver / 1000) return {CheckStatus::kOk, kCheck, text, {}, {}};
    return {
        CheckStatus::kWarn, kCheck, text + ", newer than the driver for " + CudaName(*driver),
        "install a newer driver, or use the CUPTI of the driver's CUDA version (TRACEINJECT_CUPTI)",
        kTroubles};
  }
  return {machine.gpus.empty() ? CheckStatus::kWarn : CheckStatus::kFail, kCheck,
          "libcupti.so.12 or .13 not found with the Python in PATH, by the loader or in "
          "/usr/local/cuda",
          "pip install nvidia-cuda-cupti-cu12, install cuda-cupti from the toolkit, or set "
          "TRACEINJECT_CUPTI to its path; not needed if the program loads CUPTI itself",
          kTroubles};
}

Checklist CheckCounters(const PresentMachine& machine, const std::string& root) {
  constexpr char kCheck[] = "hardware counters";
  if (machine.gpus.empty()) return {};
  Checklist lines;
  const auto against = [&](CounterReason reason, const std::string& detail = {}) {
    const CounterReasonText& text = TextOf(reason);
    lines.push_back({CheckStatus::kWarn, kCheck,
                     std::string(text.sentence) + (detail.empty() ? "" : " (" + detail + ")"),
                     std::string(text.change), kTroubles});
  };
  if (LacksPermission(root)) against(CounterReason::kNoPermission);
  if (HasFact(machine.facts, ".mig", "on")) against(CounterReason::kMig);
  if (!lines.empty()) return lines;
  const std::string daemon = ProfilingDaemon(root);
  if (!daemon.empty())
    return {{CheckStatus::kUnknown,
             kCheck,
             fmt::format("{} runs, which holds them while it profiles: {}", daemon,
                         TextOf(CounterReason::kBusy).change),
             {},
             {}}};
  return {{CheckStatus::kOk,
           kCheck,
           "nothing against sampling them: TRACEINJECT_COUNTERS=auto",
           {},
           {}}};
}

Checklist CheckEntrances(const std::vector<SystemFact>& facts, const std::string& own_path) {
  constexpr char kCheck[] = "injection variables";
  const auto taken = [&](std::string_view name) {
    const std::string value = EnvironmentOf(facts, name);
    return IsFreeSlot(value.c_str()) || value == own_path ? std::string() : value;
  };
  Checklist lines;
  if (const std::string other = taken("CUDA_INJECTION64_PATH"); !other.empty())
    lines.push_back({CheckStatus::kFail, kCheck,
                     "CUDA_INJECTION64_PATH is used by another tool: " + other,
                     "run without that tool, or unset the variable", kTroubles});
  if (const std::string other = taken("NVTX_INJECTION64_PATH"); !other.empty())
    lines.push_back(
        {CheckStatus::kWarn, kCheck,
         "NVTX_INJECTION64_PATH is used by another tool, so NVTX ranges are not recorded: " + other,
         "run without that tool, or unset the variable", kTroubles});
  const std::string plugin = EnvironmentOf(facts, "NCCL_PROFILER_PLUGIN");
  if (!plugin.empty() && plugin != "STATIC_PLUGIN")
    lines.push_back({CheckStatus::kWarn, kCheck,
                     "NCCL_PROFILER_PLUGIN is set, so NCCL algorithms are not recorded: " + plugin,
                     "unset the variable", kTroubles});
  for (const char* off : {"0", "off", "false", "no"}) {
    if (EnvironmentOf(facts, "TRACEINJECT") == off)
      lines.push_back({CheckStatus::kFail, kCheck,
                       fmt::format("TRACEINJECT={}: nothing is recorded", off),
                       "unset the variable", kTroubles});
  }
  if (lines.empty()) lines.push_back({CheckStatus::kOk, kCheck, "free", {}, {}});
  return lines;
}

}  // namespace traceinject
