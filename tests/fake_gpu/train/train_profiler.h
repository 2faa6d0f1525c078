// SPDX-License-Identifier: Apache-2.0
// The other client of CUPTI that fake_train lets record some of its steps.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace traceinject::fake {

class TrainProfiler {
 public:
  // `steps`: "1-2,4-4", first and last of each session; empty: there is no such client. It is a
  // library of its own, loaded from beside the program: `unseen`: one that finds CUPTI by dlsym.
  TrainProfiler(const std::string& steps, bool unseen, bool finalize);

  void BeginStep(int step);
  void EndStep(int step);

 private:
  std::vector<std::pair<int, int>> sessions_;
  bool finalize_;
  void (*start_)() = nullptr;
  void (*stop_)(const char* path, bool finalize) = nullptr;
};

}  // namespace traceinject::fake
