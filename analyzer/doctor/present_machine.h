// SPDX-License-Identifier: Apache-2.0
// The machine that this program runs on, seen as the recording library sees its own.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "analyzer/model/run.h"
#include "schemas/report.pb.h"

namespace traceinject {

struct PresentGpu {
  int number = 0;  // as NVML counts
  std::string name, pci_bus_id;
  proto::Telemetry telemetry;  // counters since the driver was loaded; the card may idle
};

struct PresentMachine {
  std::vector<SystemFact> facts;  // as in a recording
  std::vector<PresentGpu> gpus;   // that NVML shows
  int cards = 0;                  // NVIDIA's GPUs among the PCI devices
  std::string nvml_failure;       // empty: NVML works
};

// `root` stands before /proc and /sys: empty, or a folder of a test. Creates no CUDA context.
PresentMachine LookAtMachine(const std::string& root, const char* const* environment);

// Of the process, as LookAtMachine noted it; empty: it is not set.
std::string EnvironmentOf(const std::vector<SystemFact>& facts, std::string_view name);

}  // namespace traceinject
