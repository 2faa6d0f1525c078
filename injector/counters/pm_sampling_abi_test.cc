// SPDX-License-Identifier: Apache-2.0
#include "injector/counters/pm_sampling_abi.h"

#include <gtest/gtest.h>

#if __has_include(<cupti_pmsampling.h>) && __has_include(<cupti_profiler_host.h>)
#include <cupti_pmsampling.h>
#include <cupti_profiler_host.h>
#include <cupti_profiler_target.h>
#include <cupti_target.h>

namespace traceinject::pm {
namespace {

#define EXPECT_PLACE(ours, member, theirs, their_member)             \
  EXPECT_EQ(offsetof(ours, member), offsetof(theirs, their_member)); \
  EXPECT_EQ(sizeof(ours::member), sizeof(theirs::their_member))

TEST(PmSamplingAbiTest, StructuresOfTheTarget) {
  EXPECT_EQ(ProfilerInitialize::Size(), CUpti_Profiler_Initialize_Params_STRUCT_SIZE);
  EXPECT_EQ(GetChipName::Size(), CUpti_Device_GetChipName_Params_STRUCT_SIZE);
  EXPECT_PLACE(GetChipName, device, CUpti_Device_GetChipName_Params, deviceIndex);
  EXPECT_PLACE(GetChipName, chip, CUpti_Device_GetChipName_Params, pChipName);
}

TEST(PmSamplingAbiTest, StructuresOfTheHost) {
  EXPECT_EQ(HostInitialize::Size(), CUpti_Profiler_Host_Initialize_Params_STRUCT_SIZE);
  EXPECT_PLACE(HostInitialize, type, CUpti_Profiler_Host_Initialize_Params, profilerType);
  EXPECT_PLACE(HostInitialize, chip, CUpti_Profiler_Host_Initialize_Params, pChipName);
  EXPECT_PLACE(HostInitialize, availability, CUpti_Profiler_Host_Initialize_Params,
               pCounterAvailabilityImage);
  EXPECT_PLACE(HostInitialize, host, CUpti_Profiler_Host_Initialize_Params, pHostObject);
  EXPECT_EQ(HostDeinitialize::Size(), CUpti_Profiler_Host_Deinitialize_Params_STRUCT_SIZE);
  EXPECT_EQ(ConfigAddMetrics::Size(), CUpti_Profiler_Host_ConfigAddMetrics_Params_STRUCT_SIZE);
  EXPECT_PLACE(ConfigAddMetrics, metrics, CUpti_Profiler_Host_ConfigAddMetrics_Params,
               ppMetricNames);
  EXPECT_EQ(GetConfigImageSize::Size(), CUpti_Profiler_Host_GetConfigImageSize_Params_STRUCT_SIZE);
  EXPECT_PLACE(GetConfigImageSize, bytes, CUpti_Profiler_Host_GetConfigImageSize_Params,
               configImageSize);
  EXPECT_EQ(GetConfigImage::Size(), CUpti_Profiler_Host_GetConfigImage_Params_STRUCT_SIZE);
  EXPECT_PLACE(GetConfigImage, image, CUpti_Profiler_Host_GetConfigImage_Params, pConfigImage);
  EXPECT_EQ(GetNumOfPasses::Size(), CUpti_Profiler_Host_GetNumOfPasses_Params_STRUCT_SIZE);
  EXPECT_PLACE(GetNumOfPasses, passes, CUpti_Profiler_Host_GetNumOfPasses_Params, numOfPasses);
  EXPECT_EQ(EvaluateToGpuValues::Size(),
            CUpti_Profiler_Host_EvaluateToGpuValues_Params_STRUCT_SIZE);
  EXPECT_PLACE(EvaluateToGpuValues, index, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
               rangeIndex);
  EXPECT_PLACE(EvaluateToGpuValues, values, CUpti_Profiler_Host_EvaluateToGpuValues_Params,
               pMetricValues);
  EXPECT_EQ(kTypePmSampling, CUPTI_PROFILER_TYPE_PM_SAMPLING);
}

TEST(PmSamplingAbiTest, StructuresOfSampling) {
  EXPECT_EQ(GetCounterAvailability::Size(),
            CUpti_PmSampling_GetCounterAvailability_Params_STRUCT_SIZE);
  EXPECT_PLACE(GetCounterAvailability, bytes, CUpti_PmSampling_GetCounterAvailability_Params,
               counterAvailabilityImageSize);
  EXPECT_EQ(Enable::Size(), CUpti_PmSampling_Enable_Params_STRUCT_SIZE);
  EXPECT_PLACE(Enable, device, CUpti_PmSampling_Enable_Params, deviceIndex);
  EXPECT_EQ(OfSampling::Size(), CUpti_PmSampling_Disable_Params_STRUCT_SIZE);
  EXPECT_EQ(OfSampling::Size(), CUpti_PmSampling_Start_Params_STRUCT_SIZE);
  EXPECT_EQ(OfSampling::Size(), CUpti_PmSampling_Stop_Params_STRUCT_SIZE);
  // That of 12.6, which ends with the trigger.
  EXPECT_EQ(SetConfig::Size(), offsetof(CUpti_PmSampling_SetConfig_Params, triggerMode) +
                                   sizeof(CUpti_PmSampling_SetConfig_Params::triggerMode));
  EXPECT_PLACE(SetConfig, config_bytes, CUpti_PmSampling_SetConfig_Params, configSize);
  EXPECT_PLACE(SetConfig, buffer_bytes, CUpti_PmSampling_SetConfig_Params, hardwareBufferSize);
  EXPECT_PLACE(SetConfig, interval, CUpti_PmSampling_SetConfig_Params, samplingInterval);
  EXPECT_EQ(kTriggerTime, CUPTI_PM_SAMPLING_TRIGGER_MODE_GPU_TIME_INTERVAL);
  EXPECT_EQ(GetCounterDataSize::Size(), CUpti_PmSampling_GetCounterDataSize_Params_STRUCT_SIZE);
  EXPECT_PLACE(GetCounterDataSize, most_samples, CUpti_PmSampling_GetCounterDataSize_Params,
               maxSamples);
  EXPECT_EQ(ImageInitialize::Size(),
            CUpti_PmSampling_CounterDataImage_Initialize_Params_STRUCT_SIZE);
  EXPECT_EQ(DecodeData::Size(), CUpti_PmSampling_DecodeData_Params_STRUCT_SIZE);
  EXPECT_PLACE(DecodeData, stopped, CUpti_PmSampling_DecodeData_Params, decodeStopReason);
  EXPECT_PLACE(DecodeData, overflow, CUpti_PmSampling_DecodeData_Params, overflow);
  EXPECT_EQ(kStoppedAtEnd, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_END_OF_RECORDS);
  EXPECT_EQ(kStoppedImageFull, CUPTI_PM_SAMPLING_DECODE_STOP_REASON_COUNTER_DATA_FULL);
  EXPECT_EQ(GetCounterDataInfo::Size(), CUpti_PmSampling_GetCounterDataInfo_Params_STRUCT_SIZE);
  EXPECT_PLACE(GetCounterDataInfo, completed, CUpti_PmSampling_GetCounterDataInfo_Params,
               numCompletedSamples);
  EXPECT_EQ(GetSampleInfo::Size(), CUpti_PmSampling_CounterData_GetSampleInfo_Params_STRUCT_SIZE);
  EXPECT_PLACE(GetSampleInfo, end, CUpti_PmSampling_CounterData_GetSampleInfo_Params, endTimestamp);
}

TEST(PmSamplingAbiTest, Results) {
  EXPECT_EQ(kHardwareBusy, CUPTI_ERROR_HARDWARE_BUSY);
  EXPECT_EQ(kNotSupported, CUPTI_ERROR_NOT_SUPPORTED);
  EXPECT_EQ(kInsufficientPrivileges, CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
  EXPECT_EQ(kVirtualizedNotSupported, CUPTI_ERROR_VIRTUALIZED_DEVICE_NOT_SUPPORTED);
  EXPECT_EQ(kConfidentialNotSupported, CUPTI_ERROR_CONFIDENTIAL_COMPUTING_NOT_SUPPORTED);
  EXPECT_EQ(kMigNotSupported, CUPTI_ERROR_MIG_DEVICE_NOT_SUPPORTED);
  EXPECT_EQ(kInvalidChipName, CUPTI_ERROR_INVALID_CHIP_NAME);
}

}  // namespace
}  // namespace traceinject::pm

#endif
