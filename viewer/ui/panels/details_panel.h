// SPDX-License-Identifier: Apache-2.0
// What is known of the measured time or the selected event.
#pragma once

#include <optional>
#include <vector>

#include "schemas/report.pb.h"
#include "viewer/core/rows/event_text.h"
#include "viewer/core/timeline/timeline.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

class DetailsPanel {
 public:
  // Without a selection: how to begin. `report` adds the step that an event lies in; may be null.
  void Draw(const Timeline& timeline, const proto::Report* report, Controls& controls);

 private:
  // What the lines are about.
  struct Subject {
    std::optional<EventRef> event;
    std::optional<Measure> measure;
    const proto::Report* report = nullptr;
    bool operator==(const Subject&) const = default;
  };

  Subject shown_;
  // Made anew only for another subject: what a call launched takes a search through all operations.
  std::vector<Detail> lines_;
};

}  // namespace traceinject
