// SPDX-License-Identifier: Apache-2.0
// What the container that this process runs in withholds from a recording.
#pragma once

#include <string>
#include <vector>

#include "analyzer/doctor/checklist.h"
#include "analyzer/model/run.h"

namespace traceinject {

// "Docker", "Kubernetes", ...; empty: none that is known. By the files that each leaves below
// `root`, by variables (`facts` of kind "env"), and by the cgroup of the first process.
std::string ContainerKind(const std::string& root, const std::vector<SystemFact>& facts);

// Nothing outside of containers. Else what it is, its limits, and capabilities that it lacks;
// whether stacks can be read, and whether `output_folder` outlives it.
Checklist CheckContainer(const std::string& root, const std::vector<SystemFact>& facts,
                         const std::string& output_folder);

// Whether what LD_PRELOAD names is there; nothing where it is not set.
Checklist CheckPreloaded(const std::vector<SystemFact>& facts);

}  // namespace traceinject
