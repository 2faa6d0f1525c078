// SPDX-License-Identifier: Apache-2.0
// What else differs between two runs, beside how fast they are: hardware, software, environment,
// data loaders, the command line; as far as it was recorded.
#pragma once

#include <string>
#include <vector>

#include "analyzer/compare/compared_run.h"
#include "schemas/comparison.pb.h"

namespace traceinject {

struct Setting {
  std::string kind, name, value;  // as SettingChange has them
};

// In a fixed order. Of several ranks those of the compared GPU's process count. What differs
// between any two runs (ports, ids of jobs, where the recording was written) is left out.
std::vector<Setting> SettingsOf(const ComparedRun& side);

// Those that differ, in that order.
std::vector<proto::SettingChange> ChangedSettings(const std::vector<Setting>& before,
                                                  const std::vector<Setting>& after);

// Fills Comparison.settings.
void CompareSettings(const ComparedRun& before, const ComparedRun& after, proto::Comparison& to);

}  // namespace traceinject
