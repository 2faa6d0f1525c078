// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace traceinject {

// What a command line runs, without folders and arguments: "train.py" of "python3 -u src/train.py
// --lr 1", "torch.distributed.run" of "python -m torch.distributed.run", else the executable.
// Empty: the line is.
std::string ProgramName(std::string_view command_line);

}  // namespace traceinject
