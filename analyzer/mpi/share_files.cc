// SPDX-License-Identifier: Apache-2.0
#include "analyzer/mpi/share_files.h"

#include <sys/stat.h>

#include <algorithm>
#include <map>
#include <utility>

#include "analyzer/mpi/packing.h"

namespace traceinject {

SeenFile LookAt(const std::string& path) {
  SeenFile file{path};
  struct stat facts {};
  if (stat(path.c_str(), &facts) != 0) return file;  // reading says it better
  file.bytes = static_cast<std::uint64_t>(facts.st_size);
  file.inode = facts.st_ino;
  file.changed_ns = std::int64_t{facts.st_mtim.tv_sec} * 1'000'000'000 + facts.st_mtim.tv_nsec;
  return file;
}

std::string PackFiles(const std::vector<SeenFile>& files) {
  Packer packer;
  for (const SeenFile& file : files) {
    packer.Text(file.path);
    packer.Number(file.bytes);
    packer.Number(file.inode);
    packer.Number(static_cast<std::uint64_t>(file.changed_ns));
  }
  return packer.Take();
}

std::vector<SeenFile> UnpackFiles(std::string_view packed) {
  std::vector<SeenFile> files;
  Unpacker unpacker(packed);
  while (!unpacker.at_end()) {
    SeenFile file;
    file.path = unpacker.Text();
    file.bytes = unpacker.Number();
    file.inode = unpacker.Number();
    file.changed_ns = static_cast<std::int64_t>(unpacker.Number());
    if (!unpacker.ok()) break;
    files.push_back(std::move(file));
  }
  return files;
}

std::vector<std::vector<std::string>> ShareFiles(const std::vector<std::vector<SeenFile>>& seen) {
  std::map<SeenFile, std::vector<std::size_t>> seen_by;
  for (std::size_t process = 0; process < seen.size(); ++process) {
    for (const SeenFile& file : seen[process]) seen_by[file].push_back(process);
  }
  std::vector<const SeenFile*> files;
  for (const auto& [file, processes] : seen_by) files.push_back(&file);
  // The largest first, so that the small ones even out what is left.
  std::stable_sort(files.begin(), files.end(),
                   [](const SeenFile* a, const SeenFile* b) { return a->bytes > b->bytes; });
  std::vector<std::vector<std::string>> shares(seen.size());
  std::vector<std::uint64_t> bytes(seen.size());
  for (const SeenFile* file : files) {
    const std::vector<std::size_t>& processes = seen_by.at(*file);
    const std::size_t least =
        *std::min_element(processes.begin(), processes.end(), [&](std::size_t a, std::size_t b) {
          return std::pair(bytes[a], shares[a].size()) < std::pair(bytes[b], shares[b].size());
        });
    shares[least].push_back(file->path);
    bytes[least] += file->bytes;
  }
  for (std::vector<std::string>& share : shares) std::sort(share.begin(), share.end());
  return shares;
}

}  // namespace traceinject
