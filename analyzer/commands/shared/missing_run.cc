// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/shared/missing_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "analyzer/common/printable.h"
#include "analyzer/import/open/run_paths.h"
#include "analyzer/import/open/spool_notes.h"
#include "schemas/health_counters.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

constexpr char kChecklist[] =
    "Likely reasons, most common first:\n"
    "  1. LD_PRELOAD was not set in the process that uses the GPU. Containers, sudo, ssh and srun "
    "drop it:\n"
    "     pass it on (docker -e, sudo -E, srun --export), and check with: tr '\\0' '\\n"
    "' < /proc/PID/environ\n"
    "       LD_PRELOAD=$(analyze preload) python train.py\n"
    "  2. The process did no GPU work, or not yet: the file appears with its first GPU operation.\n"
    "  3. The file is elsewhere: TRACEINJECT_OUTPUT sets its path, relative to the working "
    "directory of the process;\n"
    "     a job of several ranks writes run.rank00000.db, run.rank00001.db, ...\n"
    "  4. Another profiler set CUDA_INJECTION64_PATH (Nsight Systems, Nsight Compute): run without "
    "it.\n"
    "  5. libcupti is not installed: pip install nvidia-cuda-cupti-cu12 (or -cu13), or the CUDA "
    "toolkit. In that\n"
    "     case a file with this reason is left behind.\n";

// Folders in which the recording may lie: the working one, those of the names given, and that of
// TRACEINJECT_OUTPUT.
std::vector<std::string> LikelyFolders(const std::vector<std::string>& paths) {
  std::vector<std::string> folders = {"."};
  for (const std::string& path : paths) {
    std::error_code ignored;
    folders.push_back(fs::is_directory(path, ignored) ? path
                                                      : fs::path(path).parent_path().string());
  }
  if (const char* output = std::getenv("TRACEINJECT_OUTPUT"); output != nullptr) {
    folders.push_back(fs::path(output).parent_path().string());
  }
  return folders;
}

// Recordings that have not come to their place.
std::string Spooled(const std::vector<std::string>& paths) {
  std::set<std::string> notes;
  for (const std::string& folder : LikelyFolders(paths)) {
    for (const std::string& note : NotesInFolder(folder.empty() ? "." : folder))
      notes.insert(fs::path(note).lexically_normal().string());
  }
  if (notes.empty()) return {};
  std::string text =
      "Recordings still in their spool (TRACEINJECT_SPOOL). One that was not moved, because its "
      "process was killed or the\n"
      "target was full, can be opened where it is; if you move it, move its -wal file too:\n";
  for (const std::string& note : notes)
    text += fmt::format("  {} ({})\n", Printable(ReadSpoolNote(note).text), note);
  return text;
}

std::string Found(const std::vector<std::string>& paths) {
  std::set<std::string> named(paths.begin(), paths.end()), found;
  for (const std::string& folder : LikelyFolders(paths)) {
    for (const std::string& file : RecordingsInFolder(folder.empty() ? "." : folder)) {
      const std::string shown = fs::path(file).lexically_normal().string();
      if (!named.contains(file) && !named.contains(shown)) found.insert(shown);
    }
  }
  if (found.empty()) return "No other *.db is there or in the working directory.\n";
  std::string text = "Recordings nearby:\n";
  constexpr std::size_t kShown = 10;
  std::size_t count = 0;
  for (const std::string& file : found) {
    if (count++ < kShown) text += "  " + file + "\n";
  }
  if (found.size() > kShown) text += fmt::format("  and {} more\n", found.size() - kShown);
  return text;
}

// What to do about a reason, by words in it. The recorder's own text says more where it can.
struct Remedy {
  std::string_view word, advice;
};
constexpr std::array<Remedy, 6> kRemedies = {{
    {"not found",
     "Install CUPTI in the environment of the process: pip install nvidia-cuda-cupti-cu12 (or "
     "-cu13)."},
    {"SUBSCRIBER",
     "Another profiler uses CUPTI in that process: run without Nsight, cuda-gdb or "
     "compute-sanitizer."},
    {"subscriber",
     "Another profiler uses CUPTI in that process: run without Nsight, cuda-gdb or "
     "compute-sanitizer."},
    {"PRIVILEGES",
     "The driver restricts profiling to administrators: set NVreg_RestrictProfilingToAdminUsers=0, "
     "or run as root."},
    {"driver",
     "Check nvidia-smi in the same environment; a newer driver or an older CUPTI may be needed."},
    {"ermission", "Point TRACEINJECT_OUTPUT to a folder the process can write to."},
}};

std::string_view AdviceFor(std::string_view reason) {
  for (const Remedy& remedy : kRemedies) {
    if (reason.find(remedy.word) != std::string_view::npos) return remedy.advice;
  }
  return "";
}

// Empty if the reason was told already: the ranks of a job often have the same.
std::string StartFailure(const Rank& rank, const HealthCounter& counter,
                         std::set<std::string>* told) {
  const std::string reason =
      counter.detail.empty() ? "the recorder gave no reason" : Printable(counter.detail);
  if (!told->insert(reason).second) return {};
  std::string text = fmt::format("{}: recording could not start: {}\n", rank.path, reason);
  if (const std::string_view advice = AdviceFor(reason); !advice.empty())
    text += fmt::format("  {}\n", advice);
  return text;
}

// Empty if nothing was lost by this counter.
std::string Loss(const Rank& rank, const HealthCounter& counter) {
  for (const HealthCounterInfo& info : kHealthCounters) {
    if (info.source != counter.source || info.counter != counter.counter) continue;
    if (info.severity < HealthSeverity::kDataLoss || counter.value == 0) return {};
    const std::string detail = counter.detail.empty() ? "" : " (" + Printable(counter.detail) + ")";
    return fmt::format("{}: {}.{} = {}: {}{}\n", rank.path, info.source, info.counter,
                       counter.value, info.description, detail);
  }
  return {};
}

}  // namespace

std::string MissingRunChecklist(const std::vector<std::string>& paths) {
  return kChecklist + NearbyRecordings(paths);
}

std::string NearbyRecordings(const std::vector<std::string>& paths) {
  return Spooled(paths) + Found(paths);
}

bool HasGpuWork(const Run& run) {
  return std::any_of(run.ranks.begin(), run.ranks.end(), [](const Rank& rank) {
    return std::any_of(rank.devices.begin(), rank.devices.end(),
                       [](const Device& device) { return device.ops.size() > 0; });
  });
}

std::string EmptyRunReasons(const Run& run) {
  std::string failures, losses;
  std::set<std::string> told;
  for (const Rank& rank : run.ranks) {
    for (const HealthCounter& counter : rank.health) {
      if (counter.source == "start" && counter.counter == "failed") {
        failures += StartFailure(rank, counter, &told);
      } else {
        losses += Loss(rank, counter);
      }
    }
  }
  return failures + losses;
}

}  // namespace traceinject
