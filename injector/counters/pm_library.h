// SPDX-License-Identifier: Apache-2.0
// The functions of PM sampling in a loaded libcupti, of CUDA 12.6 or later.
#pragma once

#include <optional>

#include "injector/counters/pm_sampling_abi.h"

namespace traceinject {

struct PmLibrary {
  pm::Result (*GetVersion)(std::uint32_t*);
  pm::Result (*GetResultString)(pm::Result, const char**);
  pm::Result (*ProfilerInitialize)(pm::ProfilerInitialize*);
  pm::Result (*GetChipName)(pm::GetChipName*);
  pm::Result (*HostInitialize)(pm::HostInitialize*);
  pm::Result (*HostDeinitialize)(pm::HostDeinitialize*);
  pm::Result (*ConfigAddMetrics)(pm::ConfigAddMetrics*);
  pm::Result (*GetConfigImageSize)(pm::GetConfigImageSize*);
  pm::Result (*GetConfigImage)(pm::GetConfigImage*);
  pm::Result (*GetNumOfPasses)(pm::GetNumOfPasses*);
  pm::Result (*EvaluateToGpuValues)(pm::EvaluateToGpuValues*);
  pm::Result (*GetCounterAvailability)(pm::GetCounterAvailability*);
  pm::Result (*Enable)(pm::Enable*);
  pm::Result (*Disable)(pm::OfSampling*);
  pm::Result (*SetConfig)(pm::SetConfig*);
  pm::Result (*Start)(pm::OfSampling*);
  pm::Result (*Stop)(pm::OfSampling*);
  pm::Result (*GetCounterDataSize)(pm::GetCounterDataSize*);
  pm::Result (*ImageInitialize)(pm::ImageInitialize*);
  pm::Result (*DecodeData)(pm::DecodeData*);
  pm::Result (*GetCounterDataInfo)(pm::GetCounterDataInfo*);
  pm::Result (*GetSampleInfo)(pm::GetSampleInfo*);
};

// Of the library that dlopen gave. Nothing: it is older, and has not all of them.
std::optional<PmLibrary> BindPmSampling(void* library);

}  // namespace traceinject
