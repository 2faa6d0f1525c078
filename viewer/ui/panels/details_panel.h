// SPDX-License-Identifier: Apache-2.0
// What is known of the measured time or the selected event.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "analyzer/view/rows/event_text.h"
#include "schemas/report.pb.h"
#include "viewer/core/code/held_up.h"
#include "viewer/core/load/latest_task.h"
#include "viewer/core/session/workspace.h"
#include "viewer/core/timeline/timeline.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

class DetailsPanel {
 public:
  // Both must outlive this.
  DetailsPanel(const Run& run, const RowModel& model);

  // Asks who held up the selected idle time, and tells the workspace once that is known. To be
  // called every frame.
  void FindHeldUp(Workspace& workspace);
  bool busy() const { return held_up_.busy(); }
  void Wait() const { held_up_.Wait(); }

  // Without a selection: how to begin. `report` adds the step that an event lies in; may be null.
  void Draw(const Timeline& timeline, const proto::Report* report, Controls& controls);

 private:
  // What the lines are about.
  struct Subject {
    std::optional<EventRef> event;
    std::optional<Measure> measure;
    const proto::Report* report = nullptr;
    std::shared_ptr<const HeldUp> held_up = nullptr;
    bool operator==(const Subject&) const = default;
  };

  LatestTask<EventRef, HeldUp> held_up_;
  std::shared_ptr<const HeldUp> answer_;  // about the selection; null: none is known
  Subject shown_;
  // Made anew only for another subject: what a call launched takes a search through all operations.
  std::vector<Detail> lines_;
};

}  // namespace traceinject
