// SPDX-License-Identifier: Apache-2.0
#include "tests/fake_gpu/simulator/activity_history.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>

#include "tests/fake_gpu/simulator/simulator.h"

namespace traceinject::fake {
namespace {

// More than counters look back.
constexpr std::size_t kMost = 100'000;

struct Past {
  std::int64_t start_ns, end_ns;
  Use use;
};

struct History {
  std::mutex mutex;
  std::map<int, std::deque<Past>> devices;
};

// Leaked on purpose, as the simulator is.
History& All() {
  static auto* history = new History;
  return *history;
}

Use UseOfKernel(std::string_view name) {
  const auto* found = std::find_if(
      std::begin(kKernelUses), std::end(kKernelUses),
      [&](const KernelUse& one) { return name.find(one.part) != std::string_view::npos; });
  return found->use;
}

}  // namespace

void NoteActivity(const Operation& operation) {
  if (operation.kind != OperationKind::kKernel || operation.name == nullptr) return;
  std::lock_guard lock(All().mutex);
  std::deque<Past>& past = All().devices[static_cast<int>(operation.device)];
  past.push_back({operation.start_ns, operation.end_ns, UseOfKernel(operation.name)});
  if (past.size() > kMost) past.pop_front();
}

// What runs at the same time adds up, to no more than all there is.
Use UseOf(int device, std::int64_t from_ns, std::int64_t to_ns) {
  std::lock_guard lock(All().mutex);
  Use mean;
  if (to_ns <= from_ns) return mean;
  const std::deque<Past>& past = All().devices[device];
  for (auto one = past.rbegin(); one != past.rend(); ++one) {
    // Submitted in about the order in which it runs.
    if (one->end_ns + 1'000'000'000 < from_ns) break;
    const std::int64_t inside = std::min(one->end_ns, to_ns) - std::max(one->start_ns, from_ns);
    if (inside <= 0) continue;
    const double share = static_cast<double>(inside) / static_cast<double>(to_ns - from_ns);
    mean.sm += one->use.sm * share;
    mean.tensor += one->use.tensor * share;
    mean.memory += one->use.memory * share;
  }
  for (double* value : {&mean.sm, &mean.tensor, &mean.memory}) *value = std::min(*value, 100.0);
  return mean;
}

}  // namespace traceinject::fake
