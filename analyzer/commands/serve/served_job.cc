// SPDX-License-Identifier: Apache-2.0
#include "analyzer/commands/serve/served_job.h"

namespace traceinject {

const char* PhaseName(JobPhase phase) {
  switch (phase) {
    case JobPhase::kNotRead:
      return "not read yet";
    case JobPhase::kUnreadable:
      return "unreadable";
    case JobPhase::kRunning:
      return "running";
    case JobPhase::kLost:
      return "lost";
    case JobPhase::kKilled:
      return "killed";
    case JobPhase::kEnded:
      return "ended";
  }
  return "";
}

}  // namespace traceinject
