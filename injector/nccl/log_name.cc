// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/log_name.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <string_view>

namespace traceinject {
namespace {

constexpr char kLevel[] = "NCCL_DEBUG";
constexpr char kSubsystems[] = "NCCL_DEBUG_SUBSYS";
constexpr char kFile[] = "NCCL_DEBUG_FILE";
constexpr char kOurLevel[] = "INFO";
constexpr char kOurSubsystems[] = "INIT,NET,P2P,SHM,GRAPH";

// <folder>/traceinject-nccl-<32 hexadecimal digits>-<what NCCL replaces by the process id>
constexpr std::string_view kPrefix = "traceinject-nccl-";
constexpr std::size_t kTokenBytes = 16;
constexpr std::string_view kSuffix = "-%p";

bool IsHexDigit(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

bool IsOurName(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  if (slash == std::string_view::npos) return false;
  std::string_view name = path.substr(slash + 1);
  if (name.size() != kPrefix.size() + 2 * kTokenBytes + kSuffix.size() ||
      name.substr(0, kPrefix.size()) != kPrefix || !name.ends_with(kSuffix))
    return false;
  name = name.substr(kPrefix.size(), 2 * kTokenBytes);
  return std::all_of(name.begin(), name.end(), IsHexDigit);
}

bool Is(const char* variable, const char* value) {
  const char* set = getenv(variable);
  return set != nullptr && strcmp(set, value) == 0;
}

bool Inherited() {
  const char* file = getenv(kFile);
  return file != nullptr && IsOurName(file);
}

// NCCL replaces what follows a %. False: it does not fit.
bool AppendEscaped(const char* text, char* buffer, std::size_t capacity, std::size_t* used) {
  for (; *text != '\0'; ++text) {
    if (*used + 2 >= capacity) return false;
    if (*text == '%') buffer[(*used)++] = '%';
    buffer[(*used)++] = *text;
  }
  return true;
}

// Where NCCL can make no file it writes to the program's standard output instead.
const char* Folder() {
  const char* folder = getenv("TMPDIR");
  // A program may change its folder, so that a relative one is of no use.
  if (folder != nullptr && folder[0] == '/' && access(folder, W_OK | X_OK) == 0) return folder;
  return access("/tmp", W_OK | X_OK) == 0 ? "/tmp" : nullptr;
}

// Without allocating. False: there is no name that would be both short enough and unguessable.
bool MakeName(char* buffer, std::size_t capacity) {
  unsigned char token[kTokenBytes];
  if (getrandom(token, sizeof token, GRND_NONBLOCK) != static_cast<ssize_t>(sizeof token))
    return false;
  const char* folder = Folder();
  std::size_t used = 0;
  if (folder == nullptr || !AppendEscaped(folder, buffer, capacity, &used)) return false;
  if (capacity - used < 1 + kPrefix.size() + 2 * kTokenBytes + kSuffix.size() + 1) return false;
  char* at = buffer + used;
  *at++ = '/';
  at = std::copy(kPrefix.begin(), kPrefix.end(), at);
  for (const unsigned char byte : token) {
    snprintf(at, 3, "%02x", byte);
    at += 2;
  }
  *std::copy(kSuffix.begin(), kSuffix.end(), at) = '\0';
  return true;
}

}  // namespace

void WithdrawNcclLog() {
  if (!Inherited()) return;
  unsetenv(kFile);
  if (Is(kSubsystems, kOurSubsystems)) unsetenv(kSubsystems);
  if (Is(kLevel, kOurLevel)) unsetenv(kLevel);
}

void PublishNcclLog() {
  if (Inherited()) {
    // A parent that set another level meant its children, whose output would go to our file.
    if (!Is(kLevel, kOurLevel) || !Is(kSubsystems, kOurSubsystems)) return WithdrawNcclLog();
  } else if (getenv(kLevel) != nullptr || getenv(kSubsystems) != nullptr ||
             getenv(kFile) != nullptr) {
    return;
  }
  char name[PATH_MAX];
  if (!MakeName(name, sizeof name)) return WithdrawNcclLog();
  setenv(kFile, name, 1);
  setenv(kSubsystems, kOurSubsystems, 1);
  setenv(kLevel, kOurLevel, 1);
}

bool IsNcclLogVariable(std::string_view name) {
  return name == kLevel || name == kSubsystems || name == kFile;
}

std::string NcclLogPath(const EnvironmentCopy& environment) {
  std::string_view name = environment.Get(kFile);
  if (!IsOurName(name)) return {};
  name.remove_suffix(kSuffix.size());
  std::string path;
  for (std::size_t i = 0; i < name.size(); ++i) {
    path += name[i];
    if (name[i] == '%') ++i;  // written twice
  }
  return path + '-' + std::to_string(getpid());
}

}  // namespace traceinject
