// SPDX-License-Identifier: Apache-2.0
// Where libcupti may be.
#pragma once

#include <string>
#include <vector>

namespace traceinject {

// What to try, in this order: `configured` (TRACEINJECT_CUPTI; may be empty), beside `cudart`, the
// path of the program's libcudart (toolkit and wheel layouts; may be empty), by name, the usual
// folders of the toolkit. The major version of libcudart comes first: a libcupti of another one
// would not see its calls.
std::vector<std::string> CuptiCandidates(const std::string& configured, const std::string& cudart);

}  // namespace traceinject
