// SPDX-License-Identifier: Apache-2.0
// Scripts: what a user would do, one step a line, for tests and for pictures.
//
//   show 1.2s 1.25s                   # comments and empty lines are skipped
//   click "stream 7@1.21s"            # a place: row@time, row#lane@time, or x,y in pixels
//   click "tab: Statistics"           # or what can be clicked, by its name
//   drag "stream 7@1.21s" "stream 7@1.22s" alt
//   key Ctrl+Shift+P
//   follow                            # every command of the table, by its name
//   screenshot linked.png
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"
#include "viewer/core/timeline/timeline.h"

namespace traceinject {

enum class ScriptVerb : std::uint8_t {
  kCommand,
  kShow,
  kZoom,
  kKey,
  kText,
  kMove,
  kClick,
  kDoubleClick,
  kDrag,
  kWheel,
  kSelect,
  kDrop,
  kDumpState,
  kScreenshot,
};

struct ScriptStep {
  std::size_t line = 0;  // from 1; 0: of no script
  ScriptVerb verb = ScriptVerb::kCommand;
  CommandId command = CommandId::kHelp;  // of kCommand
  std::vector<std::string> arguments;
};

// What may stand on a line beside the names of commands, for the help.
struct ScriptUsage {
  ScriptVerb verb;
  std::string_view name, arguments, help;
  std::size_t least, most;  // arguments
};
std::span<const ScriptUsage> ScriptUsages();

// Arguments are split at spaces; "..." keeps spaces together. Errors name the line: an unknown
// word, or a wrong number of arguments.
Result<std::vector<ScriptStep>> ParseScript(std::string_view text);

// A pixel of the timeline. The row may have its rank before it ("rank 1/stream 7@1ms"), and lane 0
// is the first; "ruler@time" is on the ruler. Errors: there is no such row, or the time cannot be
// read.
struct ScriptPlace {
  float x = 0, y = 0;
};
Result<ScriptPlace> FindPlace(const Timeline& timeline, std::string_view place);

// The event at a place, wherever it is on the screen; it need not be visible. Errors: as FindPlace,
// or there is no event there.
Result<EventRef> FindEventAt(const Timeline& timeline, std::string_view place);

}  // namespace traceinject
