// SPDX-License-Identifier: Apache-2.0
#include "analyzer/mpi/gather_job.h"

#include <algorithm>
#include <utility>

#include "analyzer/import/open/run_paths.h"
#include "analyzer/mpi/messages.h"
#include "analyzer/mpi/packing.h"
#include "analyzer/mpi/share_files.h"
#include "analyzer/ranks/load/combine_job.h"
#include "analyzer/ranks/summary/summary_file.h"

namespace traceinject {
namespace {

// What the paths stand for on one process.
struct Sight {
  std::vector<SeenFile> files;
  std::vector<std::string> notes;
  std::string error;  // why there are no files
};

Sight Look(const std::vector<std::string>& paths) {
  Sight sight;
  auto named = ResolveRunPaths(paths, PathsTo::kRecordingsOrSummaries);
  if (!named.ok()) {
    sight.error = named.error();
    return sight;
  }
  for (const std::string& file : named.value().files) sight.files.push_back(LookAt(file));
  sight.notes = std::move(named.value().notes);
  return sight;
}

std::string Pack(const std::vector<std::string>& texts) {
  Packer packer;
  for (const std::string& text : texts) packer.Text(text);
  return packer.Take();
}

std::vector<std::string> Unpack(std::string_view packed) {
  std::vector<std::string> texts;
  for (Unpacker unpacker(packed); !unpacker.at_end();) texts.push_back(unpacker.Text());
  return texts;
}

// A file of a share: its path, and its summaries or why there are none.
std::string Pack(const SummarizedFile& file) {
  const Result<std::string> block =
      file.job.ok() ? WriteSummaries(file.job.value()) : Error{file.job.error()};
  return Pack({file.path, block.ok() ? block.value() : "", block.ok() ? "" : block.error()});
}

SummarizedFile UnpackSummarized(std::string_view packed) {
  const std::vector<std::string> parts = Unpack(packed);
  if (parts.size() != 3) return {"", Error{"a message between processes was corrupted"}};
  if (!parts[2].empty()) return {parts[0], Error{parts[2]}};
  return {parts[0], ReadSummaries(parts[1], parts[0])};
}

// What process 0 does for the others and for itself.
class Leader {
 public:
  Leader(const std::vector<std::string>& paths, const JobOptions& options, MPI_Comm processes)
      : options_(options), processes_(processes) {
    MPI_Comm_size(processes, &size_);
    const Sight own = Look(paths);
    error_ = own.error;
    AddNotes(own.notes);
    seen_.push_back(own.files);
  }

  Result<Job> Lead() {
    CollectSights();
    const std::vector<std::vector<std::string>> shares = ShareFiles(seen_);
    for (int process = 1; process < size_; ++process)
      SendText(Pack(shares[static_cast<std::size_t>(process)]), process, processes_);
    std::vector<SummarizedFile> files = SummarizeFiles(shares.front(), options_);
    std::size_t expected = 0;
    for (const auto& share : shares) expected += share.size();
    while (files.size() < expected) {
      int from = MPI_ANY_SOURCE;
      files.push_back(UnpackSummarized(ReceiveText(from, processes_)));
    }
    // Nobody sees a file: what the paths mean here is as good as elsewhere.
    if (files.empty()) return Error{error_};
    return CombineJob(std::move(files), std::move(notes_));
  }

 private:
  void CollectSights() {
    for (int process = 1; process < size_; ++process) {
      seen_.push_back(UnpackFiles(ReceiveText(process, processes_)));
      AddNotes(Unpack(ReceiveText(process, processes_)));
    }
  }

  // Those that several processes make are told once.
  void AddNotes(const std::vector<std::string>& notes) {
    for (const std::string& note : notes) {
      if (std::find(notes_.begin(), notes_.end(), note) == notes_.end()) notes_.push_back(note);
    }
  }

  const JobOptions& options_;
  MPI_Comm processes_;
  int size_ = 1;
  std::string error_;
  std::vector<std::string> notes_;
  std::vector<std::vector<SeenFile>> seen_;  // by process
};

void Follow(const std::vector<std::string>& paths, const JobOptions& options, MPI_Comm processes) {
  const Sight sight = Look(paths);
  int leader = 0;
  SendText(PackFiles(sight.files), leader, processes);
  SendText(Pack(sight.notes), leader, processes);
  const std::vector<std::string> share = Unpack(ReceiveText(leader, processes));
  std::vector<SummarizedFile> files = SummarizeFiles(share, options);
  for (const SummarizedFile& file : files) SendText(Pack(file), leader, processes);
}

}  // namespace

std::optional<Result<Job>> GatherJob(const std::vector<std::string>& paths,
                                     const JobOptions& options, MPI_Comm processes) {
  int process = 0;
  MPI_Comm_rank(processes, &process);
  if (process == 0) return Leader(paths, options, processes).Lead();
  Follow(paths, options, processes);
  return std::nullopt;
}

}  // namespace traceinject
