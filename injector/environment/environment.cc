// SPDX-License-Identifier: Apache-2.0
#include "injector/environment/environment.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include <atomic>

#include "injector/base/linker_symbol.h"
#include "injector/base/own_thread.h"
#include "injector/base/state.h"
#include "injector/environment/installed_library.h"
#include "injector/nccl/log_name.h"
#include "injector/options/options.h"
#include "machine/injection_slot.h"

extern "C" const char traceinject_version[];

namespace traceinject {

// Does not allocate: allocators read the environment when they are first used.
GetEnv* NextGetEnv() {
  static constinit std::atomic<GetEnv*> g_next{nullptr};
  GetEnv* next = g_next.load(std::memory_order_relaxed);
  if (next == nullptr) {
    next = reinterpret_cast<GetEnv*>(FindSymbol(RTLD_NEXT, "getenv"));
    g_next.store(next, std::memory_order_relaxed);
  }
  return next;
}

namespace {

constexpr char kCudaSlot[] = "CUDA_INJECTION64_PATH";
constexpr char kNvtxSlot[] = "NVTX_INJECTION64_PATH";
constexpr char kNcclSlot[] = "NCCL_PROFILER_PLUGIN";
// NCCL then looks for a plug-in among the symbols of the process itself.
constexpr char kNcclStatic[] = "STATIC_PLUGIN";
// What NCCL looks for where that variable is not set.
constexpr char kNcclDefault[] = "libnccl-profiler.so";

// Written by the constructor.
constinit char g_own_path[PATH_MAX] = "";  // empty: nothing is offered
constinit bool g_offers_nvtx = false, g_offers_nccl = false;

// What brings a network to NCCL, and may bring a profiler: NCCL takes that where it finds no
// plug-in that is one.
constexpr char kNetPlugin[] = "NCCL_NET_PLUGIN";

constinit char g_nccl_plugin[PATH_MAX] = "";
enum class Look { kNone, kWriting, kWritten };
constinit std::atomic<Look> g_nccl_plugin_look{Look::kNone};

// The absolute path of this library. LD_PRELOAD may have a relative one, and the program may change
// its folder.
bool FindOwnPath(char* buffer) {
  Dl_info info{};
  return dladdr(traceinject_version, &info) != 0 && info.dli_fname != nullptr &&
         realpath(info.dli_fname, buffer) != nullptr;
}

// Whether the program was started with us. Where CUDA or NVTX loaded us later, by what the
// environment of a parent names, our symbols are not among those that the program itself finds, and
// its calls do not come to our wrappers. Not RTLD_DEFAULT, which looks into the caller, too.
bool IsPartOfTheProgram() {
  void* program = dlopen(nullptr, RTLD_LAZY | RTLD_NOLOAD);
  const bool is_part =
      program != nullptr && dlsym(program, "traceinject_version") == traceinject_version;
  if (program != nullptr) dlclose(program);
  return is_part;
}

// False: this process shall not be recorded.
bool PublishEntryPoints() {
  if (IsSwitchedOff("TRACEINJECT")) return false;
  char path[PATH_MAX];
  if (!FindOwnPath(path)) return false;
  const char* cuda = getenv(kCudaSlot);
  if (!IsFreeSlot(cuda) && strcmp(cuda, path) != 0)
    return false;  // another tool's process: stay off
  setenv(kCudaSlot, path, 1);
  strcpy(g_own_path, path);
  g_offers_nvtx = !IsSwitchedOff("TRACEINJECT_NVTX");
  g_offers_nccl = !IsSwitchedOff("TRACEINJECT_NCCL");
  return true;
}

// NCCL has loaded its net plug-in by the time that it looks for a profiler; others may ask before.
bool FindNetProfiler(const void* caller, char* path) {
  if (FindLoadedNcclProfiler(traceinject_version, path)) return true;
  char name[NAME_MAX];
  const char* chosen = NextGetEnv()(kNetPlugin);
  const bool named = chosen != nullptr && *chosen != '\0';
  snprintf(name, sizeof name, "libnccl-net%s%s.so", named ? "-" : "", named ? chosen : "");
  if (FindInstalledLibrary(name, caller, path) && HasNcclProfiler(path)) return true;
  if (!named) return false;
  snprintf(path, PATH_MAX, "%s", chosen);
  if (strchr(chosen, '/') == nullptr && !FindInstalledLibrary(chosen, caller, path)) return false;
  return HasNcclProfiler(path);
}

// A plug-in that NCCL would load stays in force.
bool LeavesNcclSlot(const void* caller) {
  char path[PATH_MAX];
  if (!FindInstalledLibrary(kNcclDefault, caller, path) && !FindNetProfiler(caller, path))
    return false;
  Look none = Look::kNone;
  if (g_nccl_plugin_look.compare_exchange_strong(none, Look::kWriting)) {
    strcpy(g_nccl_plugin, path);
    g_nccl_plugin_look.store(Look::kWritten, std::memory_order_release);
  }
  return true;
}

}  // namespace

bool PublishLibrary() {
  // With rights that its user lacks (set-user-ID), it would write where that user's environment
  // says.
  const bool has_more_rights = getauxval(AT_SECURE) != 0;
  if (has_more_rights || !IsPartOfTheProgram()) {
    g_state.store(State::kOutside);
    return false;
  }
  RememberProcessors();
  if (!PublishEntryPoints()) return false;
  if (IsSwitchedOn("TRACEINJECT_NCCL_LOG")) OfferNcclLog();
  return true;
}

const char* OfferedVariable(const char* name, const char* set, const void* caller) {
  if (name[0] != 'N' || g_own_path[0] == '\0') return nullptr;
  if (strcmp(name, kNvtxSlot) == 0) return g_offers_nvtx && IsFreeSlot(set) ? g_own_path : nullptr;
  if (set != nullptr) return nullptr;  // any value is the user's will here, also "none"
  if (strcmp(name, kNcclSlot) == 0)
    return g_offers_nccl && !LeavesNcclSlot(caller) ? kNcclStatic : nullptr;
  return OfferedNcclLog(name);
}

std::string ForeignInjection() {
  const char* value = getenv(kCudaSlot);
  if (IsFreeSlot(value)) return {};
  char path[PATH_MAX];
  if (!FindOwnPath(path) || strcmp(value, path) == 0) return {};
  return value;
}

std::string ForeignNcclPlugin() {
  if (g_nccl_plugin_look.load(std::memory_order_acquire) != Look::kWritten) return {};
  return g_nccl_plugin;
}

}  // namespace traceinject
