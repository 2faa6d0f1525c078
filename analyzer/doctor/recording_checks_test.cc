// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/recording_checks.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

std::vector<SystemFact> Variable(const std::string& name, const std::string& value) {
  return {{"env", name, value, ""}};
}

TEST(RecordingChecks, AFreeEntrance) {
  for (const char* value : {"", "none", "/lib/libtraceinject.so", "/old/place/libtraceinject.so",
                            "/gone/libother.so"}) {
    const Checklist lines =
        CheckEntrances(Variable("CUDA_INJECTION64_PATH", value), "/lib/libtraceinject.so");
    ASSERT_EQ(lines.size(), 1u) << value;
    EXPECT_EQ(lines[0].status, CheckStatus::kOk) << value;
  }
}

TEST(RecordingChecks, OtherToolsAtTheEntrances) {
  const struct {
    const char *name, *value;
    CheckStatus status;
  } cases[] = {{"CUDA_INJECTION64_PATH", "/proc/self/exe", CheckStatus::kFail},
               {"NVTX_INJECTION64_PATH", "libother.so", CheckStatus::kWarn},
               {"NCCL_PROFILER_PLUGIN", "inspector", CheckStatus::kWarn},
               {"NCCL_PROFILER_PLUGIN", "STATIC_PLUGIN", CheckStatus::kOk},
               {"TRACEINJECT", "0", CheckStatus::kFail},
               {"TRACEINJECT", "1", CheckStatus::kOk}};
  for (const auto& one : cases) {
    const Checklist lines = CheckEntrances(Variable(one.name, one.value), "/lib/libtraceinject.so");
    ASSERT_EQ(lines.size(), 1u) << one.name;
    EXPECT_EQ(lines[0].status, one.status) << one.name;
  }
}

TEST(RecordingChecks, MachinesWithoutAUsableGpu) {
  PresentMachine machine;
  machine.nvml_failure = "libnvidia-ml.so.1: cannot open shared object file";
  const Checklist none = CheckDriver(machine);
  ASSERT_EQ(none.size(), 1u) << "no card, no driver to look for";
  EXPECT_EQ(none[0].status, CheckStatus::kWarn);
  EXPECT_EQ(none[0].text.rfind("no NVIDIA GPU on this machine", 0), 0u);
  machine.cards = 2;
  const Checklist unusable = CheckDriver(machine);
  EXPECT_EQ(unusable[0].status, CheckStatus::kFail);
  EXPECT_EQ(unusable[0].text.rfind("2 NVIDIA GPUs on the PCI bus but not usable: NVML: ", 0), 0u);
}

}  // namespace
}  // namespace traceinject
