// SPDX-License-Identifier: Apache-2.0
#include "analyzer/trend/known_runs.h"

#include <fmt/format.h>

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <system_error>

#include "analyzer/import/source/new_file.h"

namespace traceinject {
namespace {

namespace fs = std::filesystem;

std::string Variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? std::string() : value;
}

// What a file is known by. Empty: it is not there.
std::string StateOf(const std::string& path) {
  std::error_code error;
  const std::uintmax_t bytes = fs::file_size(path, error);
  if (error) return {};
  const fs::file_time_type time = fs::last_write_time(path, error);
  return fmt::format("{} {}", bytes, time.time_since_epoch().count());
}

std::string Absolute(const std::string& path) {
  std::error_code error;
  const fs::path absolute = fs::weakly_canonical(path, error);
  return error ? path : absolute.string();
}

// What was not checkpointed lies beside a recording.
std::string KeyOfRun(const std::vector<std::string>& files, const std::string& asked) {
  std::string key = fmt::format("{} {}\n{}\n", TRACEINJECT_VERSION, kTrendVersion, asked);
  for (const std::string& file : files)
    key += fmt::format("{} {} {}\n", Absolute(file), StateOf(file), StateOf(file + "-wal"));
  return key;
}

// FNV-1a: a name for a file. That it is that of these recordings is told by what is in it.
std::uint64_t HashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char letter : text) {
    hash ^= static_cast<unsigned char>(letter);
    hash *= 0x100000001b3;
  }
  return hash;
}

std::string PathOf(const std::string& folder, const std::vector<std::string>& files,
                   const std::string& asked) {
  std::string names = asked + "\n";
  for (const std::string& file : files) names += Absolute(file) + "\n";
  return fmt::format("{}/{:016x}.pb", folder, HashOf(names));
}

}  // namespace

std::string KnownRunsFolder() {
  const std::string cache = Variable("XDG_CACHE_HOME"), home = Variable("HOME");
  // The specification of base directories: a relative path is to be ignored.
  if (cache.starts_with('/')) return cache + "/traceinject/trend";
  return home.starts_with('/') ? home + "/.cache/traceinject/trend" : "";
}

std::optional<proto::TrendRun> KnownRuns::Find(const std::vector<std::string>& files) const {
  if (folder_.empty()) return std::nullopt;
  std::ifstream stream(PathOf(folder_, files, asked_), std::ios::binary);
  proto::KnownRun known;
  if (!stream || !known.ParseFromIstream(&stream) || known.key() != KeyOfRun(files, asked_))
    return std::nullopt;
  return std::move(*known.mutable_run());
}

void KnownRuns::Keep(const std::vector<std::string>& files, const proto::TrendRun& run) const {
  if (folder_.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  proto::KnownRun known;
  known.set_key(KeyOfRun(files, asked_));
  *known.mutable_run() = run;
  (void)WriteWhole(PathOf(folder_, files, asked_), known.SerializeAsString());
}

}  // namespace traceinject
