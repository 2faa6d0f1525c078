// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <optional>

#include "analyzer/metrics/places/code_grouping.h"
#include "viewer/core/code/code_list.h"
#include "viewer/core/code/code_tables.h"
#include "viewer/core/load/latest_task.h"
#include "viewer/core/session/workspace.h"
#include "viewer/ui/widgets/widgets.h"

namespace traceinject {

// The program's code by line, function or thread, as `analyze code` has it. A click on a row marks
// it on the timeline and shows where the GPU waited for it longest; with Ctrl it opens the editor.
class CodePanel {
 public:
  // `run` must outlive this.
  explicit CodePanel(const Run& run);

  // The figures are asked for when this is drawn first. `whole`: all of the run was read.
  void Draw(Workspace& workspace, bool whole, Controls& controls);

  // The same run was read anew: the choice, filter and order stay.
  void ContinueFrom(const CodePanel& before);

  bool busy() const { return task_.busy(); }
  void Wait() const { task_.Wait(); }
  // As drawn; null before there is something to draw.
  const CodeList* list() const { return list_ ? &*list_ : nullptr; }

 private:
  void DrawChoice(Controls& controls);
  void DrawTable(Workspace& workspace, Controls& controls);
  void DrawRow(std::size_t row, Workspace& workspace, Controls& controls);
  void TakeOrder();
  void Choose(CodeGrouping grouping);

  const Run& run_;
  LatestTask<bool, CodeTables> task_;
  std::shared_ptr<const CodeTables> tables_;  // that `list_` is of
  CodeGrouping grouping_ = CodeGrouping::kLine;
  CodeOrder order_;
  std::array<char, 100> filter_ = {};
  std::optional<CodeList> list_;
  std::optional<std::size_t> chosen_;  // row, until another order
};

}  // namespace traceinject
