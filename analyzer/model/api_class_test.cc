// SPDX-License-Identifier: Apache-2.0
#include "analyzer/model/api_class.h"

#include <gtest/gtest.h>

#include <string>

#include "injector/cupti/allow_list.h"

namespace traceinject {
namespace {

// A trace of another tool and a recording must mean the same by a call.
TEST(ApiClassTest, AgreesWithTheRecorder) {
  for (const AllowedCall& call : kAllowList) {
    EXPECT_EQ(static_cast<int>(ClassifyApi(call.name)), static_cast<int>(call.call_class))
        << call.name;
    EXPECT_EQ(static_cast<int>(DomainOfApi(call.name)), static_cast<int>(call.domain)) << call.name;
  }
}

TEST(ApiClassTest, VersionsOfAFunctionAreOfItsClass) {
  EXPECT_EQ(ClassifyApi("cuMemcpyDtoHAsync_v2_ptsz"), ApiClass::kCopy);
  EXPECT_EQ(ClassifyApi("cudaLaunchKernelExC_v11060"), ApiClass::kLaunch);
  EXPECT_EQ(ClassifyApi("cudaEventQuery"), ApiClass::kEvent);
  EXPECT_EQ(ClassifyApi("cudaStreamWaitEvent"), ApiClass::kEvent);
}

TEST(ApiClassTest, CallsOfHipMeanWhatThoseOfCudaDo) {
  for (const char* name : {"LaunchKernel", "LaunchCooperativeKernel", "GraphLaunch", "MemcpyAsync",
                           "MemsetAsync", "DeviceSynchronize", "EventRecord", "StreamWaitEvent",
                           "Malloc", "FreeAsync", "LaunchHostFunc", "StreamIsCapturing"})
    EXPECT_EQ(static_cast<int>(ClassifyApi(std::string("hip") + name)),
              static_cast<int>(ClassifyApi(std::string("cuda") + name)))
        << name;
  EXPECT_EQ(ClassifyApi("hipExtModuleLaunchKernel"), ApiClass::kLaunch);
  EXPECT_EQ(DomainOfApi("hipLaunchKernel"), ApiDomain::kRuntime);
}

TEST(ApiClassTest, UnknownNamesAreOtherCalls) {
  EXPECT_EQ(ClassifyApi(""), ApiClass::kOther);
  EXPECT_EQ(ClassifyApi("INVALID"), ApiClass::kOther);
  EXPECT_EQ(ClassifyApi("cudaStreamIsCapturing"), ApiClass::kOther);
}

}  // namespace
}  // namespace traceinject
