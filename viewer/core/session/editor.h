// SPDX-License-Identifier: Apache-2.0
// Opens a line of code in the user's editor.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "analyzer/common/result.h"

namespace traceinject {

struct EditorPlace {
  std::string file;       // as the program named it
  std::int32_t line = 0;  // 0: unknown
  bool operator==(const EditorPlace&) const = default;
};

// What the environment says of editors; empty: it does not.
struct EditorEnvironment {
  std::string visual, editor, terminal, path;
};
EditorEnvironment ThisEnvironment();

// The program and its arguments that open the line, in a terminal where the editor needs one.
// $VISUAL and $EDITOR may have arguments; no shell reads them, nor the name of the file. Errors say
// what to do: there is no such file here, no editor is set, no terminal is found.
Result<std::vector<std::string>> EditorCommand(const EditorPlace& place,
                                               const EditorEnvironment& environment);

// Starts a program that lives on by itself. Error: it cannot be started.
Status StartProgram(const std::vector<std::string>& command);

}  // namespace traceinject
