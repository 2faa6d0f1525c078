// SPDX-License-Identifier: Apache-2.0
#include "analyzer/doctor/machine_lines.h"

#include <gtest/gtest.h>

namespace traceinject {
namespace {

// "WARN persistence mode: GPU 0: ...", in the order of the list.
std::vector<std::string> Lines(const PresentMachine& machine) {
  std::vector<std::string> lines;
  for (const CheckLine& line : CheckPresentMachine(machine)) {
    const bool amiss = line.status == CheckStatus::kWarn || line.status == CheckStatus::kFail;
    EXPECT_EQ(line.change.empty(), !amiss) << line.text;
    lines.push_back(std::string(CheckStatusName(line.status)) + " " + line.check + ": " +
                    line.text);
  }
  return lines;
}

using Expected = std::vector<std::string>;

PresentGpu Gpu(int number, const char* name = "NVIDIA H100") {
  PresentGpu gpu;
  gpu.number = number;
  gpu.name = name;
  gpu.pci_bus_id = "0000:1" + std::to_string(number) + ":00.0";
  return gpu;
}

TEST(MachineLines, NothingIsKnown) { EXPECT_EQ(Lines({}), Expected{}); }

TEST(MachineLines, InOrderUnknownAndAmiss) {
  PresentMachine machine;
  machine.facts = {
      {"host", "cpu_governor", "performance", ""}, {"host", "shared_memory_kib", "65536", ""},
      {"gpu", "0.acs", "", "shown to root only"},  {"gpu", "0.persistence_mode", "off", ""},
      {"gpu", "1.persistence_mode", "off", ""},    {"env", "CUDA_LAUNCH_BLOCKING", "1", ""}};
  machine.gpus = {Gpu(0), Gpu(1)};
  EXPECT_EQ(Lines(machine),
            (Expected{"WARN CUDA_LAUNCH_BLOCKING: CUDA_LAUNCH_BLOCKING=1 is set",
                      "WARN size of /dev/shm: /dev/shm size is 67.11 MB",
                      "? PCIe Access Control Services (ACS): shown to root only",
                      "OK CPU frequency governor: performance",
                      "WARN persistence mode: GPU 0, GPU 1: persistence mode is off",
                      "OK GPU errors and PCIe lanes: no errors since the driver was loaded, and "
                      "all lanes in use"}));
}

TEST(MachineLines, SizesAreInGibibytes) {
  PresentMachine machine;
  machine.facts = {{"host", "shared_memory_kib", "24684096", ""}};
  EXPECT_EQ(Lines(machine), (Expected{"OK size of /dev/shm: 23.54 GiB"}));
}

TEST(MachineLines, ErrorsOfACard) {
  PresentMachine machine;
  machine.gpus = {Gpu(0), Gpu(1, "NVIDIA A100")};
  machine.gpus[1].telemetry.set_ecc_uncorrected(2);
  EXPECT_EQ(Lines(machine),
            (Expected{"FAIL uncorrected memory errors: GPU 1: 2 uncorrected memory errors since "
                      "the driver was loaded",
                      "WARN GPU models: mixed GPU models: 1 x NVIDIA A100, 1 x NVIDIA H100"}));
}

}  // namespace
}  // namespace traceinject
