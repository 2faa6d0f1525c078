// SPDX-License-Identifier: Apache-2.0
#include "injector/cupti/library.h"

#include <dlfcn.h>
#include <link.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "injector/base/loaded_libraries.h"
#include "machine/cupti_candidates.h"

namespace traceinject {
namespace {

void* OpenFirst(const std::vector<std::string>& paths, std::string* opened) {
  for (const std::string& path : paths) {
    if (void* handle = dlopen(path.c_str(), RTLD_LAZY | RTLD_LOCAL)) {
      *opened = path;
      return handle;
    }
  }
  return nullptr;
}

template <typename Function>
bool Bind(void* handle, const char* name, Function* function) {
  *function = reinterpret_cast<Function>(dlsym(handle, name));
  return *function != nullptr;
}

// True if everything without which nothing can be recorded is there.
bool BindAll(void* handle, CuptiLibrary* cupti, const char** missing) {
  const struct {
    const char* name;
    bool found;
  } required[] = {
      {"cuptiGetVersion", Bind(handle, "cuptiGetVersion", &cupti->GetVersion)},
      {"cuptiActivityRegisterCallbacks",
       Bind(handle, "cuptiActivityRegisterCallbacks", &cupti->ActivityRegisterCallbacks)},
      {"cuptiActivityEnable", Bind(handle, "cuptiActivityEnable", &cupti->ActivityEnable)},
      {"cuptiActivityDisable", Bind(handle, "cuptiActivityDisable", &cupti->ActivityDisable)},
      {"cuptiActivityFlushAll", Bind(handle, "cuptiActivityFlushAll", &cupti->ActivityFlushAll)},
      {"cuptiActivityGetNextRecord",
       Bind(handle, "cuptiActivityGetNextRecord", &cupti->ActivityGetNextRecord)},
  };
  Bind(handle, "cuptiGetResultString", &cupti->GetResultString);
  Bind(handle, "cuptiActivityEnableRuntimeApi", &cupti->ActivityEnableRuntimeApi);
  Bind(handle, "cuptiActivityEnableDriverApi", &cupti->ActivityEnableDriverApi);
  Bind(handle, "cuptiActivityGetNumDroppedRecords", &cupti->ActivityGetNumDroppedRecords);
  Bind(handle, "cuptiGetTimestamp", &cupti->GetTimestamp);
  Bind(handle, "cuptiSetThreadIdType", &cupti->SetThreadIdType);
  Bind(handle, "cuptiGetStreamIdEx", &cupti->GetStreamIdEx);
  Bind(handle, "cuptiGetContextId", &cupti->GetContextId);
  Bind(handle, "cuptiGetDeviceId", &cupti->GetDeviceId);
  Bind(handle, "cuptiActivityGetAttribute", &cupti->ActivityGetAttribute);
  Bind(handle, "cuptiSubscribe", &cupti->Subscribe);
  Bind(handle, "cuptiUnsubscribe", &cupti->Unsubscribe);
  Bind(handle, "cuptiEnableCallback", &cupti->EnableCallback);
  Bind(handle, "cuptiFinalize", &cupti->Finalize);
  for (const auto& function : required) {
    if (!function.found) return *missing = function.name, false;
  }
  return true;
}

// The name that a library gives itself, "libcupti.so.12"; empty: none.
std::string NameOf(void* handle) {
  link_map* map = nullptr;
  if (dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0) return {};
  const char* strings = nullptr;
  const ElfW(Dyn)* name = nullptr;
  for (const ElfW(Dyn)* entry = map->l_ld; entry->d_tag != DT_NULL; ++entry) {
    if (entry->d_tag == DT_STRTAB) strings = reinterpret_cast<const char*>(entry->d_un.d_ptr);
    if (entry->d_tag == DT_SONAME) name = entry;
  }
  return strings == nullptr || name == nullptr ? "" : strings + name->d_un.d_val;
}

// Before CUDA 12.0 records are shorter than what we read them through (records.h). 11.8 calls
// itself version 18, as 12.0 does; the name of the file tells them apart: it is the version of CUDA
// there, libcupti.so.11.8.
bool IsTooOld(const CuptiLibrary& cupti, const std::string& name) {
  constexpr std::uint32_t kOldest = 18;
  constexpr int kOldestMajor = 12;
  const std::size_t suffix = name.find(".so.");
  const int major = suffix == std::string::npos ? 0 : std::atoi(name.c_str() + suffix + 4);
  return (cupti.version != 0 && cupti.version < kOldest) || (major != 0 && major < kOldestMajor);
}

}  // namespace

std::string CuptiLibrary::Describe(CUptiResult result) const {
  const char* text = nullptr;
  if (GetResultString == nullptr || GetResultString(result, &text) != CUPTI_SUCCESS ||
      text == nullptr)
    text = "error";
  return std::string(text) + " (" + std::to_string(static_cast<int>(result)) + ")";
}

CuptiLibrary* BindCupti(const std::string& configured, std::string* why) {
  // Never destroyed: the writer thread may still be in a call when the program ends.
  static CuptiLibrary& cupti = *new CuptiLibrary;
  void* handle = OpenLoaded("libcupti.so");
  if (handle != nullptr) {
    cupti.path = FindLoaded("libcupti.so");
  } else {
    const std::vector<std::string> paths = CuptiCandidates(configured, FindLoaded("libcudart.so"));
    handle = OpenFirst(paths, &cupti.path);
    if (handle == nullptr) {
      *why =
          "libcupti was not found; install it (pip install nvidia-cuda-cupti-cu12, or cuda-cupti "
          "from the CUDA toolkit) or set TRACEINJECT_CUPTI to its path; searched:";
      for (const std::string& path : paths) *why += " " + path;
      return nullptr;
    }
  }
  const char* missing = nullptr;
  if (!BindAll(handle, &cupti, &missing)) {
    *why = cupti.path + " has no function " + missing +
           ": unsupported CUPTI (12.0 or newer is needed)";
    return nullptr;
  }
  if (cupti.GetVersion(&cupti.version) != CUPTI_SUCCESS) cupti.version = 0;
  if (IsTooOld(cupti, NameOf(handle))) {
    *why =
        cupti.path + " is a CUPTI older than CUDA 12.0 (version " + std::to_string(cupti.version) +
        "): its records cannot be read; run the program with CUDA 12.0 or newer (a PyTorch built "
        "for cu12 or later), or, if it uses that already, set TRACEINJECT_CUPTI to its libcupti";
    return nullptr;
  }
  return &cupti;
}

}  // namespace traceinject
