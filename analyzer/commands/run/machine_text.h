// SPDX-License-Identifier: Apache-2.0
// The facts about the machine that matter for its speed, in a few lines.
#pragma once

#include <string>
#include <vector>

namespace traceinject {

// A row of system_fact.
struct Fact {
  std::string kind, key, value;
  std::string reason;  // why the value is unknown; empty: it is known
};

// A section for `analyze info`; empty without such facts. What is unknown stands in a line of its
// own for each reason.
std::string MachineText(const std::vector<Fact>& facts);

}  // namespace traceinject
