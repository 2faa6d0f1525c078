// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/pm_library.h"

#include <dlfcn.h>

namespace traceinject {
namespace {

// The first version of CUPTI that has it, as cuptiGetVersion counts: CUDA 12.6.
constexpr std::uint32_t kFirstVersion = 24;

}  // namespace

std::optional<PmLibrary> BindPmSampling(void* library) {
  PmLibrary bound{};
  bool complete = library != nullptr;
  const auto bind = [&](const char* name, auto& function) {
    using Function = std::remove_reference_t<decltype(function)>;
    if (!complete) return;
    function = reinterpret_cast<Function>(dlsym(library, name));
    complete = function != nullptr;
  };
  bind("cuptiGetVersion", bound.GetVersion);
  bind("cuptiGetResultString", bound.GetResultString);
  bind("cuptiProfilerInitialize", bound.ProfilerInitialize);
  bind("cuptiDeviceGetChipName", bound.GetChipName);
  bind("cuptiProfilerHostInitialize", bound.HostInitialize);
  bind("cuptiProfilerHostDeinitialize", bound.HostDeinitialize);
  bind("cuptiProfilerHostConfigAddMetrics", bound.ConfigAddMetrics);
  bind("cuptiProfilerHostGetConfigImageSize", bound.GetConfigImageSize);
  bind("cuptiProfilerHostGetConfigImage", bound.GetConfigImage);
  bind("cuptiProfilerHostGetNumOfPasses", bound.GetNumOfPasses);
  bind("cuptiProfilerHostEvaluateToGpuValues", bound.EvaluateToGpuValues);
  bind("cuptiPmSamplingGetCounterAvailability", bound.GetCounterAvailability);
  bind("cuptiPmSamplingEnable", bound.Enable);
  bind("cuptiPmSamplingDisable", bound.Disable);
  bind("cuptiPmSamplingSetConfig", bound.SetConfig);
  bind("cuptiPmSamplingStart", bound.Start);
  bind("cuptiPmSamplingStop", bound.Stop);
  bind("cuptiPmSamplingGetCounterDataSize", bound.GetCounterDataSize);
  bind("cuptiPmSamplingCounterDataImageInitialize", bound.ImageInitialize);
  bind("cuptiPmSamplingDecodeData", bound.DecodeData);
  bind("cuptiPmSamplingGetCounterDataInfo", bound.GetCounterDataInfo);
  bind("cuptiPmSamplingCounterDataGetSampleInfo", bound.GetSampleInfo);
  std::uint32_t version = 0;
  if (!complete || bound.GetVersion(&version) != pm::kSuccess || version < kFirstVersion)
    return std::nullopt;
  return bound;
}

}  // namespace traceinject
