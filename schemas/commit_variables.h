// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <iterator>
#include <string_view>

namespace traceinject {

// Variables in which CI systems tell the commit that they test: GitHub, GitLab, Jenkins, Buildkite,
// CircleCI, Azure.
inline constexpr std::string_view kCommitVariables[] = {"GITHUB_SHA",  "CI_COMMIT_SHA",
                                                        "GIT_COMMIT",  "BUILDKITE_COMMIT",
                                                        "CIRCLE_SHA1", "BUILD_SOURCEVERSION"};

constexpr bool IsCommitVariable(std::string_view name) {
  return std::find(std::begin(kCommitVariables), std::end(kCommitVariables), name) !=
         std::end(kCommitVariables);
}

}  // namespace traceinject
