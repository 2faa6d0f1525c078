// SPDX-License-Identifier: Apache-2.0
// How every subcommand of `analyze` ends.
#pragma once

namespace traceinject {

enum ExitCode : int {
  kReported = 0,
  kGateFailed = 1,
  kBadUsage = 2,
  kUnreadable = 3,
};

}  // namespace traceinject
