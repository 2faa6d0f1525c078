// SPDX-License-Identifier: Apache-2.0
// Checks that the facts about a machine can prove alone: those of a recorded process, or of the
// present machine.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "analyzer/metrics/machine/hygiene_checks.h"
#include "analyzer/model/run.h"

namespace traceinject {

// What makes some facts matter.
struct MachineUse {
  // PCI addresses of the GPUs of this host that work together, as PciPlace() writes them.
  std::set<std::string> gpus;
  bool several_ranks = false;  // exchange data, on this host or another one
  bool data_workers = false;   // a data loader has worker processes
  bool trains = true;          // the process is the training, not another one on its machine
};

// One spelling of a PCI address, which is written with four or eight digits of its domain.
std::string PciPlace(std::string_view bus_id);

// What is unknown stays unsaid. O(facts log facts).
std::vector<HygieneProof> CheckMachine(const std::vector<SystemFact>& facts, const MachineUse& use);

}  // namespace traceinject
