// SPDX-License-Identifier: Apache-2.0
#include "injector/nccl/log_name.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>
#include <string_view>

extern char** environ;

namespace traceinject {
namespace {

constexpr char kLevel[] = "NCCL_DEBUG";
constexpr char kSubsystems[] = "NCCL_DEBUG_SUBSYS";
constexpr char kFile[] = "NCCL_DEBUG_FILE";
constexpr const char* kVariables[] = {kLevel, kSubsystems, kFile};
constexpr char kOurLevel[] = "INFO";
constexpr char kOurSubsystems[] = "INIT,NET,P2P,SHM,GRAPH";

// <folder>/traceinject-nccl-<32 hexadecimal digits>-<what NCCL replaces by the process id>
constexpr std::string_view kPrefix = "traceinject-nccl-";
constexpr std::size_t kTokenBytes = 16;
constexpr std::string_view kSuffix = "-%p";

// As NCCL is to read it: empty until it is offered.
constinit char g_offered_file[PATH_MAX] = "";

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

// Not by getenv, which asks us. As NCCL's own, this is not safe beside a thread that changes it.
bool IsInEnvironment(const char* name) {
  const std::size_t length = strlen(name);
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    if (strncmp(*entry, name, length) == 0 && (*entry)[length] == '=') return true;
  }
  return false;
}

// One that the program sets makes all three the program's: its warnings are not for our file.
bool IsTheirs() {
  return std::any_of(std::begin(kVariables), std::end(kVariables), IsInEnvironment);
}

}  // namespace

void OfferNcclLog() {
  g_offered_file[0] = '\0';
  if (IsTheirs()) return;
  char name[PATH_MAX];
  if (MakeName(name, sizeof name)) strcpy(g_offered_file, name);
}

const char* OfferedNcclLog(const char* name) {
  if (g_offered_file[0] == '\0' || strncmp(name, kLevel, strlen(kLevel)) != 0 || IsTheirs())
    return nullptr;
  if (strcmp(name, kLevel) == 0) return kOurLevel;
  if (strcmp(name, kSubsystems) == 0) return kOurSubsystems;
  return strcmp(name, kFile) == 0 ? g_offered_file : nullptr;
}

std::string NcclLogPath(const EnvironmentCopy& environment) {
  if (g_offered_file[0] == '\0') return {};
  for (const char* name : kVariables) {
    if (!environment.Get(name).empty()) return {};
  }
  std::string_view name = g_offered_file;
  name.remove_suffix(kSuffix.size());
  std::string path;
  for (std::size_t i = 0; i < name.size(); ++i) {
    path += name[i];
    if (name[i] == '%') ++i;  // written twice
  }
  return path + '-' + std::to_string(getpid());
}

}  // namespace traceinject
