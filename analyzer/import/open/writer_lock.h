// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace traceinject {

// Whether the process that records to the file lives and has not ended the recording: it holds a
// lock of its own (injector/store/claim.h), which readers do not. Not for a file that this process
// has open in SQLite: closing any descriptor of a file drops a process's locks on it.
bool HasWriter(const std::string& path);

}  // namespace traceinject
