// SPDX-License-Identifier: Apache-2.0
// libcupti, found at run time and never linked. Functions that this version lacks are null.
#pragma once

#include <cupti.h>

#include <cstdint>
#include <string>

namespace traceinject {

struct CuptiLibrary {
  std::string path;
  std::uint32_t version = 0;  // cuptiGetVersion

  decltype(&cuptiGetVersion) GetVersion = nullptr;
  decltype(&cuptiActivityRegisterCallbacks) ActivityRegisterCallbacks = nullptr;
  decltype(&cuptiActivityEnable) ActivityEnable = nullptr;
  decltype(&cuptiActivityDisable) ActivityDisable = nullptr;
  decltype(&cuptiActivityFlushAll) ActivityFlushAll = nullptr;
  decltype(&cuptiActivityGetNextRecord) ActivityGetNextRecord = nullptr;
  decltype(&cuptiGetResultString) GetResultString = nullptr;
  // Optional.
  CUptiResult (*ActivityEnableRuntimeApi)(CUpti_CallbackId, std::uint8_t) = nullptr;  // 12.5+
  CUptiResult (*ActivityEnableDriverApi)(CUpti_CallbackId, std::uint8_t) = nullptr;   // 12.5+
  decltype(&cuptiActivityGetNumDroppedRecords) ActivityGetNumDroppedRecords = nullptr;
  decltype(&cuptiGetTimestamp) GetTimestamp = nullptr;
  decltype(&cuptiSetThreadIdType) SetThreadIdType = nullptr;
  decltype(&cuptiGetStreamIdEx) GetStreamIdEx = nullptr;
  decltype(&cuptiGetContextId) GetContextId = nullptr;
  decltype(&cuptiGetDeviceId) GetDeviceId = nullptr;
  decltype(&cuptiActivityGetAttribute) ActivityGetAttribute = nullptr;
  decltype(&cuptiSubscribe) Subscribe = nullptr;
  decltype(&cuptiUnsubscribe) Unsubscribe = nullptr;
  decltype(&cuptiEnableCallback) EnableCallback = nullptr;
  decltype(&cuptiFinalize) Finalize = nullptr;

  // CUPTI's own words for an error.
  // CUDA calls can be recorded one by one (12.5 and later); before, only whole kinds of them.
  bool SelectsCalls() const {
    return ActivityEnableRuntimeApi != nullptr && ActivityEnableDriverApi != nullptr;
  }

  std::string Describe(CUptiResult result) const;
};

// Looks where capture needs it to be found, in this order: loaded already (the copy that PyTorch
// uses), `configured` (TRACEINJECT_CUPTI), beside the loaded libcudart (toolkit and wheel layouts),
// by name, the usual toolkit folders. Null on failure, with a sentence in *why that says where it
// looked and what to do.
CuptiLibrary* BindCupti(const std::string& configured, std::string* why);

}  // namespace traceinject
