// SPDX-License-Identifier: Apache-2.0
// How long what takes, in the visible or the measured time, of any rows.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analyzer/view/rows/statistics.h"
#include "viewer/core/load/latest_task.h"
#include "viewer/core/timeline/timeline.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

class StatisticsPanel {
 public:
  // A name that was clicked: to be found in the rows it is from.
  struct Clicked {
    std::string name;
    std::vector<std::uint32_t> rows;
  };

  // Both must outlive this.
  StatisticsPanel(const Run& run, const RowModel& model);

  // Asks for what the timeline shows now and draws what is known: the last answer stays until the
  // next one is there.
  std::optional<Clicked> Draw(const Timeline& timeline, Controls& controls);

  // The same run was read anew: the choice of rows and the order stay.
  void ContinueFrom(const StatisticsPanel& before);

  bool busy() const { return task_.busy(); }
  void Wait() const { task_.Wait(); }
  // The rows as drawn: sorted. Empty before the first answer.
  const std::vector<NameStatistics>& names() const { return names_; }

 private:
  RowGroup ChosenRows(const Timeline& timeline) const;
  void DrawChoice(const Timeline& timeline, const RowGroup& rows, bool measured,
                  Controls& controls);
  std::optional<Clicked> DrawTable(Controls& controls);
  void Sort();

  const RowModel& model_;
  std::vector<RowGroup> groups_;
  int choice_ = 0;  // 0: of the measured or selected row, else the first group; else group + 1
  LatestTask<StatisticsQuery, Statistics> task_;
  std::shared_ptr<const Statistics> shown_;
  std::vector<NameStatistics> names_;
  StatisticsColumn column_ = StatisticsColumn::kTotal;
  bool descending_ = true;
};

}  // namespace traceinject
