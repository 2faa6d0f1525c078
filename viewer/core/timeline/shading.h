// SPDX-License-Identifier: Apache-2.0
// What would vanish from the timeline without one of the verdict's causes, looked for on a thread
// of its own.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/verdict/vanishing.h"
#include "analyzer/view/rows/row_owner.h"
#include "viewer/core/load/background_report.h"

namespace traceinject {

class Shading {
 public:
  Shading(std::string label, Vanishing vanishing, const RowOwner& owner = {});

  const std::string& label() const { return label_; }
  // Whose time it is, as the report calls it; empty: of none.
  const std::string& device() const { return vanishing_.device; }
  // The same as rows know it: the others are not shaded.
  const RowOwner& owner() const { return owner_; }
  const Intervals& times() const { return vanishing_.times; }
  TimeNs length_ns() const { return before_.back(); }
  // How much of it lies before a moment. O(log n).
  TimeNs Before(TimeNs time) const;

 private:
  std::string label_;
  Vanishing vanishing_;
  RowOwner owner_;
  std::vector<TimeNs> before_ = {0};  // total length of the first 0, 1, 2, ... intervals
};

// A cause of a report on a run; the empty label asks for nothing.
struct ShadingRequest {
  std::shared_ptr<const LoadedRun> loaded;
  std::shared_ptr<const RunReport> report;
  std::string label;
  bool operator==(const ShadingRequest&) const = default;
};

using ShadingTask = LatestTask<ShadingRequest, Shading>;

std::optional<Shading> ShadingOf(const ShadingRequest& request, const std::atomic<bool>& cancelled);

}  // namespace traceinject
