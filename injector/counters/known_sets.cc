// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/known_sets.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <unistd.h>

#include <charconv>

namespace traceinject {
namespace {

constexpr std::string_view kHead = "traceinject counters 1";
constexpr std::string_view kPassedWord = "passed", kFailedWord = "failed";
constexpr std::size_t kMostBytes = 64 << 10;

// A name that makes no other folder.
std::string Plain(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    const bool fits = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                      c == '.' || c == '_';
    plain += fits ? c : '_';
  }
  return plain.empty() ? "unknown" : plain;
}

bool MakePrivateFolders(const std::string& path, std::size_t from) {
  for (std::size_t slash = path.find('/', from); slash != std::string::npos;
       slash = path.find('/', slash + 1)) {
    if (mkdir(path.substr(0, slash).c_str(), 0700) != 0 && errno != EEXIST) return false;
  }
  return true;
}

// Empty: it is not there, or not to be believed.
std::string ReadOwnFile(const std::string& path) {
  const int file = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) return {};
  std::string text;
  struct stat facts {};
  constexpr mode_t kOthersWrite = 022;
  if (fstat(file, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_uid == geteuid() &&
      (facts.st_mode & kOthersWrite) == 0 && facts.st_size <= static_cast<off_t>(kMostBytes)) {
    text.resize(static_cast<std::size_t>(facts.st_size));
    const ssize_t bytes = read(file, text.data(), text.size());
    text.resize(bytes < 0 ? 0 : static_cast<std::size_t>(bytes));
  }
  close(file);
  return text;
}

std::string_view TakeUntil(std::string_view* text, char end) {
  const std::size_t at = std::min(text->find(end), text->size());
  const std::string_view part = text->substr(0, at);
  text->remove_prefix(std::min(at + 1, text->size()));
  return part;
}

}  // namespace

std::string CacheFolder(std::string_view xdg_cache_home, std::string_view home) {
  // The specification of base directories: a relative path is to be ignored.
  if (xdg_cache_home.starts_with('/')) return std::string(xdg_cache_home);
  return home.starts_with('/') ? std::string(home) + "/.cache" : std::string();
}

KnownSets::KnownSets(const std::string& cache, std::string_view chip, std::string_view driver,
                     std::uint32_t cupti_version) {
  if (cache.empty()) return;
  path_ = cache + "/traceinject/counters/" + Plain(chip) + "-" + Plain(driver) + "-" +
          std::to_string(cupti_version);
  Read();
}

void KnownSets::Read() {
  const std::string text = ReadOwnFile(path_);
  std::string_view rest = text;
  if (TakeUntil(&rest, '\n') != kHead) return;
  while (!rest.empty()) {
    std::string_view line = TakeUntil(&rest, '\n');
    const std::string_view word = TakeUntil(&line, ' '), hash = TakeUntil(&line, ' ');
    std::uint64_t number = 0;
    const auto [end, error] = std::from_chars(hash.data(), hash.data() + hash.size(), number, 16);
    if (error != std::errc() || end != hash.data() + hash.size()) continue;
    if (word == kPassedWord || word == kFailedWord)
      lines_[number] = {word == kPassedWord, std::string(line)};
  }
}

KnownSets::Known KnownSets::Find(const CounterSet& set) const {
  const auto line = lines_.find(HashOf(set));
  if (line == lines_.end()) return Known::kNot;
  return line->second.passed ? Known::kPassed : Known::kFailed;
}

bool KnownSets::Add(const CounterSet& set, bool passed) {
  lines_[HashOf(set)] = {passed, std::string(set.name)};
  return Write();
}

bool KnownSets::Write() const {
  if (path_.empty() || !MakePrivateFolders(path_, 1)) return false;
  std::string text = std::string(kHead) + "\n";
  for (const auto& [hash, line] : lines_) {
    char digits[17];
    std::snprintf(digits, sizeof digits, "%016llx", static_cast<unsigned long long>(hash));
    text.append(line.passed ? kPassedWord : kFailedWord).append(" ").append(digits);
    text.append(" ").append(line.name).append("\n");
  }
  const std::string part = path_ + "." + std::to_string(getpid());
  unlink(part.c_str());
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
  if (file < 0) return false;
  const bool written = write(file, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  close(file);
  if (written && rename(part.c_str(), path_.c_str()) == 0) return true;
  unlink(part.c_str());
  return false;
}

}  // namespace traceinject
