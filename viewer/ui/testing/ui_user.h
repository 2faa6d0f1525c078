// SPDX-License-Identifier: Apache-2.0
// For tests: somebody who works with the timeline by keys and mouse, wherever it is shown.
#pragma once

#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <vector>

#include "viewer/core/timeline/input_queue.h"
#include "viewer/ui/viewer_ui.h"

namespace traceinject {

// Writes a recording of several ranks beside the path, else at it.
using WriteRun = void (*)(const std::string& path);

class UiUser {
 public:
  virtual ~UiUser() = default;

  virtual ShownIn place() const = 0;
  virtual const ViewerUi& ui() const = 0;
  // Opens a recording of which nothing is kept, on a screen of the usual size.
  virtual void Open(WriteRun write) = 0;
  virtual void SetHeight(int height_px) = 0;
  virtual void Show(TimeNs start, TimeNs end) = 0;
  virtual void Press(const KeyPress& press) = 0;
  // Until others are held.
  virtual void Hold(Modifiers held) = 0;
  virtual void MoveTo(const MousePlace& at) = 0;
  // `twice`: it is the second press of a double click.
  virtual void SetButton(bool down, int button = 0, bool twice = false) = 0;
  virtual void Turn(float steps) = 0;
  // Until what is under way has ended, and the next click is not the second of a double click.
  virtual void Rest() = 0;
  virtual std::optional<CommandId> TakeForBrowser() = 0;
  // Of all that is drawn now.
  virtual std::size_t Vertices() const = 0;

  const Workspace& workspace() const { return *ui().workspace(); }
  const Timeline& timeline() const { return *ui().timeline(); }
  const std::vector<Mark>& marks() const { return workspace().annotations().marks(); }
  PanelTab tab() const { return ui().panels()->tab(); }
  // Of the selected event; empty: there is none.
  std::string SelectedRow() const;
  std::uint32_t RowOf(const std::string& label) const;
  // The timeline's top left on the screen.
  MousePlace Origin() const;
  // Where a moment of a lane is on the screen.
  MousePlace Place(const std::string& label, TimeNs time, std::size_t lane = 0) const;

  void Click(const MousePlace& at, int button = 0);
  void Drag(const MousePlace& from, const MousePlace& to, int button = 0);
};

}  // namespace traceinject
