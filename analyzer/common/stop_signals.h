// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "analyzer/common/stop_flag.h"

namespace traceinject {

// What Ctrl-C and SIGTERM set. A second one ends the program at once. One in a program.
class StopSignals {
 public:
  // False: they cannot be caught.
  static bool Catch();
  static StopFlag flag();
  // Can be read once the flag is set.
  static int fd();
};

}  // namespace traceinject
