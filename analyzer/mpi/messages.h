// SPDX-License-Identifier: Apache-2.0
// Texts of any length between processes.
#pragma once

#include <mpi.h>

#include <string>
#include <string_view>

namespace traceinject {

// Sends one text, in pieces: MPI counts bytes in an int. Returns once the other process is taking
// it, so that no more than one text waits in a process.
void SendText(std::string_view text, int to, MPI_Comm processes);

// The next text of a process, or of any (MPI_ANY_SOURCE); `from` becomes whose it is.
std::string ReceiveText(int& from, MPI_Comm processes);

}  // namespace traceinject
